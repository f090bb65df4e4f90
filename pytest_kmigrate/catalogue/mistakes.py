"""Well-known mistakes of operators, as data of a document: what shows them in a message, and what to do."""

import re
from dataclasses import dataclass, fields
from functools import lru_cache

from pytest_kmigrate.catalogue.places import place_of
from pytest_kmigrate.model.errors import WrongUseError

MISTAKES = "mistakes.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Mistake:
    """One mistake that many operators have made."""

    id: str
    shows: str
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
    if not (place.folder / MISTAKES).is_file():
        return ()
    return tuple(_mistake(f"{place.folder / MISTAKES}", row) for row in place.rows(MISTAKES, "mistake"))


def _mistake(file: str, row: dict[str, object]) -> Mistake:
    keys = {each.name for each in fields(Mistake)}
    texts = {key: value for key, value in row.items() if isinstance(value, str)}
    if texts.keys() != keys or row.keys() != keys:
        raise WrongUseError(f"{file}: {row.get('id')}: expected the texts {', '.join(sorted(keys))}; got {sorted(row)}")
    try:
        re.compile(texts["shows"])
    except re.error as error:
        raise WrongUseError(f"{file}: {row['id']}: shows: expected a regular expression; {error}") from error
    return Mistake(**texts)
