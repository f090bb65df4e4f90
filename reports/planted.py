"""The mutants of a document: defects to plant in Kafka, each with the one test that can meet it and the row it breaks.

They are data of the document, in ``mutants.toml``: the rules are Byteman's, and the row is one of its requirements.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial

from pytest_kmigrate.catalogue import deviations, known_bug, place_of, requirements
from pytest_kmigrate.catalogue.rows import Pattern, records, wrong
from pytest_kmigrate.reports.suite_tests import problems_of_requirement, tested

MUTANTS, RED_ANYWAY = "mutants.toml", "red-anyway.toml"
"""Files that a document's folder may have; the second counts for the mutants of the first."""
_PLANTED_IN = "3.9.1"
"""The release whose code the rules are written for."""


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
    return frozenset(each.id for each in listed) | _deviating(profile)


def mutants_of(profile: str) -> tuple[Mutant, ...]:
    """The mutants of a profile's document; WrongUseError when there are none, or one is wrong."""
    deviating = _deviating(profile)
    problems = partial(_problems_of_row, profile, deviating)
    return tested(Mutant, place_of(profile), MUTANTS, "mutant", profile, problems)


def _deviating(profile: str) -> frozenset[str]:
    """Requirements that the release deviates from in which the defects are planted."""
    return frozenset(each.requirement for each in deviations(profile) if known_bug(each.id).breaks(_PLANTED_IN))


def _problems_of_row(profile: str, deviating: Collection[str], mutant: Mutant) -> Iterator[str]:
    yield from problems_of_requirement(mutant.requirement, profile)
    if mutant.requirement in deviating and not mutant.observed:
        yield (
            f"observed: expected a regular expression, since released Kafka deviates from {mutant.requirement}; got "
            "nothing"
        )
