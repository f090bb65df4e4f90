"""Lines of Kafka's source, and which of JaCoCo's probes show that each was executed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress, entry
from pytest_kmigrate.distributions.class_names import classes_in
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.building import JACOCO_CORE, run, source_digest

_PROGRAM = "LinesOfProbes"
_FILE = "lines.tsv"


@dataclass(frozen=True)
class CodeLine:
    """A line of source in one method; it was executed if any of its probes was."""

    class_name: str
    class_id: str
    """JaCoCo's sum of the class file: execution data of another class file says nothing of it."""
    source: str
    """The name of its source file; empty: the class file does not name it."""
    method: str
    """Its name and descriptor, such as ``poll()V``."""
    line: int
    probes: tuple[int, ...]


def code_lines(distribution: Distribution, patterns: Sequence[str], progress: Progress) -> Iterator[CodeLine]:
    """The lines of the classes of these patterns; found out once for a distribution.

    Nothing if it has no such class.
    """
    asked = sorted(f"{jar}\t{name}" for jar, name in classes_in(distribution.jars, patterns))
    key = sha256("\n".join([distribution.digest, source_digest(_PROGRAM), *sorted(patterns)]).encode()).hexdigest()[:16]

    def build(folder: Path) -> None:
        progress(f"kafka {distribution.version}: looking for the lines of {len(asked)} classes (once)")
        (folder / _FILE).write_text(run(_PROGRAM, JACOCO_CORE, (), asked, progress), encoding="utf-8")

    file = entry(f"code/{distribution.version}-{key}", build, progress) / _FILE
    return _parsed(file.read_text(encoding="utf-8").splitlines())


def _parsed(lines: Iterable[str]) -> Iterator[CodeLine]:
    for line in lines:
        name, class_id, _, source, method, number, probes = line.split("\t")
        executed = tuple(int(each) for each in probes.split(",") if each)
        yield CodeLine(name, class_id, source, method, int(number), executed)
