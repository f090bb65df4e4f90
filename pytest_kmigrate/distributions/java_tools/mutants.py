"""The mutants that PIT makes of classes: all of them listed, and the class files of some written."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.distributions.cache import Progress
from pytest_kmigrate.distributions.class_names import classes_in
from pytest_kmigrate.distributions.distribution import Distribution
from pytest_kmigrate.distributions.java_tools.building import PITEST, run

_PROGRAM = "Mutants"
TAKEN = "taken"


@dataclass(frozen=True)
class GeneratedMutant:
    """One change of one class, as PIT makes it."""

    class_name: str
    place: int
    """Its place among all mutants of the class, from 0."""
    method: str
    """The name of the method and its descriptor."""
    line: int
    mutator: str
    """Which kind of change, by PIT's name: ``NegateConditionalsMutator``."""
    change: str
    """What was changed, in PIT's words."""
    instruction: int
    """Where the change is: the place of the first changed instruction in the method, as ASM's tree lists it, from 0."""

    @property
    def id(self) -> str:
        """A name of letters that every file system takes: class, line, kind of change and place."""
        kind = self.mutator.removesuffix("Mutator")
        return f"{self.class_name.rpartition('.')[2].replace('$', '-')}.{self.line}.{kind}.{self.place}"


def generated_mutants(distribution: Distribution, patterns: Sequence[str], progress: Progress) -> list[GeneratedMutant]:
    """All mutants of the classes of these patterns, in the order of the classes' names."""
    classes = sorted({name for _, name in classes_in(distribution.jars, patterns)})
    return list(_parsed(run(_PROGRAM, PITEST, ("list", _places(distribution)), classes, progress).splitlines()))


def write_class_file(distribution: Distribution, mutant: GeneratedMutant, file: Path, progress: Progress) -> str:
    """Write a mutant's class file; ``taken``, or what a JVM that refuses it says."""
    asked = f"{mutant.class_name}\t{mutant.place}\t{file.name}"
    answer = run(_PROGRAM, PITEST, ("write", _places(distribution), str(file.parent)), [asked], progress)
    return answer.strip().partition("\t")[2]


def _places(distribution: Distribution) -> str:
    return os.pathsep.join(map(str, distribution.jars))


def _parsed(lines: Iterable[str]) -> Iterator[GeneratedMutant]:
    for line in lines:
        name, place, method, descriptor, number, instruction, mutator, change = line.split("\t")
        yield GeneratedMutant(name, int(place), method + descriptor, int(number), mutator, change, int(instruction))
