"""Whether rules fit the code of a release, by Byteman's own checker: known in a second, without a cluster."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest_kmigrate.distributions.agents import byteman_jar
from pytest_kmigrate.distributions.java import find_java
from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.planted import Mutant

_CHECKER, _FINE = "org.jboss.byteman.check.TestScript", "TestScript: no errors"
_COMPLAINTS = ("ERROR", "WARNING")


def check_fit(mutants: Sequence[Mutant], command: Callable[[Sequence[Path]], Sequence[str]]) -> None:
    """WrongUseError when rules are wrong or fit nothing; ``command`` has Byteman check one file a mutant."""
    if not mutants:
        return
    with TemporaryDirectory() as folder:
        files = [Path(folder) / f"{each.id}.btm" for each in mutants]
        for file, mutant in zip(files, mutants, strict=True):
            file.write_text(mutant.rules.lstrip("\n"), encoding="utf-8")
        ended = subprocess.run(command(files), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        answer = ended.stdout.replace(f"{folder}/", "")
    complaints = [line for line in answer.splitlines() if line.startswith(_COMPLAINTS)]
    if complaints or _FINE not in answer:
        got = "\n".join(complaints) or answer.strip()
        raise WrongUseError(f"mutants: expected rules that fit the code of this Kafka, got:\n{got}\ncorrect them")


def byteman_checker(kafka: str, progress: Callable[[str], None]) -> Callable[[Sequence[Path]], Sequence[str]]:
    """The command that checks files of rules against a release, or an unpacked distribution."""
    jars = [byteman_jar(progress), *resolve(kafka, progress=progress, archive=False).jars]
    java = [str(find_java().path), "-cp", ":".join(map(str, jars)), _CHECKER]
    return lambda files: [*java, *map(str, files)]
