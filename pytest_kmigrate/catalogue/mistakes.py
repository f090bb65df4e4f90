"""Well-known mistakes of operators, as data of a document: what shows them in a message, and what to do."""

import re
from dataclasses import dataclass
from functools import lru_cache

from pytest_kmigrate.catalogue.places import place_of
from pytest_kmigrate.catalogue.rows import Pattern, records

MISTAKES = "mistakes.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Mistake:
    """One mistake that many operators have made."""

    id: str
    shows: Pattern
    """A regular expression that is found in what a node logs, or in a message of ours, after this mistake only."""
    advice: str
    """One sentence: the cause, the property, and the value to use."""


def advice(profile: str, text: str) -> list[str]:
    """The advice for each mistake that shows in a text."""
    return [each.advice for each in mistakes(profile) if re.search(each.shows, text)]


@lru_cache
def mistakes(profile: str) -> tuple[Mistake, ...]:
    """The mistakes that a document names; WrongUseError for a row that is none."""
    place = place_of(profile)
    return records(Mistake, place, MISTAKES, "mistake") if place.has(MISTAKES) else ()
