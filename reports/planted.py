"""The mutants of a document: defects to plant in Kafka, each with the one test that can meet it and the row it breaks.

They are data of the document, in ``mutants.toml``: the rules are Byteman's, and the row is one of its requirements.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.catalogue import deviations, known_bug, place_of, requirements
from pytest_kmigrate.catalogue.rows import Pattern, records, wrong
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.recording.identity import SUITES

MUTANTS, RED_ANYWAY = "mutants.toml", "red-anyway.toml"
"""Files that a document's folder may have; the second counts for the mutants of the first."""


@dataclass(frozen=True)
class Mutant:
    """One defect, planted in every node of Kafka."""

    id: str
    planted: str
    """What Kafka does wrong then, as a sentence."""
    test: str
    """The test that can meet it: ``module::name``, in the suite of the document."""
    requirement: str
    """The requirement that must turn red."""
    rules: str
    """Byteman rules; all must be carried out."""
    observed: Pattern = ""
    """A regular expression that finds the defect in what a violation observed; by default in anything."""

    def is_shown_by(self, observed: str) -> bool:
        """Whether this defect is what a violation observed."""
        return re.search(self.observed, observed) is not None

    def node_id(self, profile: str) -> str:
        """The test as pytest is given it: the path of its file and its name."""
        module, _, name = self.test.partition("::")
        return f"{_suite(profile) / module}.py::{name}"


@dataclass(frozen=True)
class RedAnyway:
    """A requirement that released Kafka violates in every run, by a known bug: its red is no mutant's."""

    id: str
    """The requirement."""
    bug: str


def red_anyway(profile: str) -> frozenset[str]:
    """Requirements whose red alone says nothing of a mutant: known bugs violate them, or released Kafka deviates.

    WrongUseError for a requirement or a bug that does not exist.
    """
    place, known = place_of(profile), {each.id for each in requirements(profile)}
    listed = records(RedAnyway, place, RED_ANYWAY, "red_anyway") if place.has(RED_ANYWAY) else ()
    for each in listed:
        if each.id not in known:
            raise wrong(place.folder / RED_ANYWAY, each.id, "id: expected a requirement of the document")
        known_bug(each.bug)
    return frozenset(each.id for each in listed) | {each.requirement for each in deviations(profile)}


def mutants_of(profile: str) -> tuple[Mutant, ...]:
    """The mutants of a profile's document; WrongUseError when there are none, or one is wrong."""
    place = place_of(profile)
    found = records(Mutant, place, MUTANTS, "mutant")
    known = {each.id for each in requirements(profile)}
    deviating = {each.requirement for each in deviations(profile)}
    for each in found:
        problems = [*_problems_of_row(each, known, deviating), *_problems_of_test(each, _suite(profile))]
        if problems:
            raise wrong(place.folder / MUTANTS, each.id, *problems)
    return found


def chosen(mutants: Sequence[Mutant], ids: Collection[str]) -> list[Mutant]:
    """Those of these ids, all when none is named; WrongUseError for an id that no mutant has."""
    known = [each.id for each in mutants]
    unknown = [each for each in ids if each not in known]
    if unknown:
        raise WrongUseError(f"ONLY: expected ids of {', '.join(known)}; got {', '.join(unknown)}: correct the name")
    return [each for each in mutants if each.id in ids or not ids]


def _suite(profile: str) -> Path:
    return SUITES / profile.replace("-", "_")


def _problems_of_row(mutant: Mutant, known: Collection[str], deviating: Collection[str]) -> Iterator[str]:
    if mutant.requirement not in known:
        yield f'requirement: expected one of the document, got "{mutant.requirement}"'
    if mutant.requirement in deviating and not mutant.observed:
        yield (
            f"observed: expected a regular expression, since released Kafka deviates from {mutant.requirement}; got "
            "nothing"
        )


def _problems_of_test(mutant: Mutant, suite: Path) -> Iterator[str]:
    module, _, name = mutant.test.partition("::")
    file = suite / f"{module}.py"
    if not file.is_file():
        files = ", ".join(sorted(each.stem for each in suite.glob("test_*.py")))
        yield f'test: expected module::name with a module of {files}; got "{mutant.test}"'
    elif name.partition("[")[0] not in (known := sorted(_tests(ast.parse(file.read_text(encoding="utf-8"))))):
        yield f'test: expected a test of {module}, one of {", ".join(known)}; got "{name}"'


def _tests(tree: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.name
        elif isinstance(node, ast.ClassDef):
            yield from (f"{node.name}::{each}" for each in _tests(node))
