"""Well-known mistakes of operators, as data: what shows them in a message, and what to do.

Some are of any cluster, others of a document, whose own row of an id is used in place of the general one.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pytest_kmigrate.catalogue.places import Place, place_of
from pytest_kmigrate.catalogue.rows import Pattern, records

MISTAKES = "mistakes.toml"
"""A file that a document's folder may have, and this one."""


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
    """The mistakes that a document names, then those of any cluster; WrongUseError for a row that is none."""
    place = place_of(profile)
    own = records(Mistake, place, MISTAKES, "mistake") if place.has(MISTAKES) else ()
    return (*own, *(each for each in general_mistakes() if each.id not in {mine.id for mine in own}))


@lru_cache
def general_mistakes() -> tuple[Mistake, ...]:
    """The mistakes that no document is about."""
    here = Path(__file__).parent
    return records(Mistake, Place("any", __package__ or "", here, str(here)), MISTAKES, "mistake")
