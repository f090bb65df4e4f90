"""Lines of Kafka's source, and which of JaCoCo's probes show that each was executed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress, entry
from pytest_kmigrate.distributions.class_names import classes_in
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.building import JACOCO_CORE, run, source_digest

_PROGRAM, _OF_INSTRUCTIONS = "LinesOfProbes", "ProbesOfInstructions"
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


@dataclass(frozen=True)
class InstructionProbes:
    """One instruction of a class file; it was executed if any of its probes was."""

    class_id: str
    """JaCoCo's sum of the class file."""
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


def probes_of_instructions(
    distribution: Distribution, places: Sequence[tuple[str, str, int]], progress: Progress
) -> list[InstructionProbes]:
    """Which probes show that an instruction was executed: of each class, method with descriptor and place in it.

    A line may hold code that runs only after an exception, so that its line's probes would show too much.
    """
    jar_of = {name: jar for jar, name in classes_in(distribution.jars, {name for name, _, _ in places})}
    asked = [f"{jar_of[name]}\t{name}\t{method}\t{place}" for name, method, place in places]
    answers = run(_OF_INSTRUCTIONS, JACOCO_CORE, (), asked, progress).splitlines()
    rows = (answer.split("\t") for answer in answers)
    return [InstructionProbes(class_id, int(line), _numbers(probes)) for class_id, line, probes in rows]


def _parsed(lines: Iterable[str]) -> Iterator[CodeLine]:
    for line in lines:
        name, class_id, _, source, method, number, probes = line.split("\t")
        yield CodeLine(name, class_id, source, method, int(number), _numbers(probes))


def _numbers(probes: str) -> tuple[int, ...]:
    return tuple(int(each) for each in probes.split(",") if each)
