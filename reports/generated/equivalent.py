"""Generated mutants that change nothing that anybody could see, by hand, each with the reason."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_kmigrate.catalogue import place_of
from pytest_kmigrate.catalogue.rows import records

EQUIVALENT = "equivalent.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Equivalent:
    """Mutants by their ids, and why they are no defects."""

    id: str
    kafka: str
    """The release whose lines the mutants have."""
    mutants: tuple[str, ...]
    """Each may have ``*`` for any text, and ``[0-7]`` for one of these."""
    reason: str


def equivalents(profile: str, kafka: str, mutants: Iterable[str]) -> Mapping[str, str]:
    """The reasons by id of those mutants that the document names; nothing if it names none of this release."""
    place = place_of(profile)
    rows = records(Equivalent, place, EQUIVALENT, "equivalent") if place.has(EQUIVALENT) else ()
    mine = [each for each in rows if each.kafka == kafka]
    reasons = ((mutant, [each.reason for each in mine if _is_among(mutant, each.mutants)]) for mutant in mutants)
    return {mutant: found[0] for mutant, found in reasons if found}


def _is_among(mutant: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(mutant, each) for each in patterns)
