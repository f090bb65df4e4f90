"""The code of Kafka that a document is about: patterns of classes, each with the releases that have it."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from pytest_kmigrate.catalogue import is_in
from pytest_kmigrate.catalogue.places import place_of
from pytest_kmigrate.catalogue.rows import Ranges, records

CODE = "code.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Code:
    """Classes that carry out a part of the document."""

    id: str
    """Their pattern: ``*`` stands for any text."""
    does: str
    """What they do, in a few words."""
    releases: Ranges
    """The releases that have such classes, as ranges such as ``>=3.4.0,<4.0.0``."""
    without: tuple[str, ...] = ()
    """Patterns of those among them that carry out another document, and run in no cluster of this one."""

    def is_in(self, version: str) -> bool:
        """Whether a release, or a build of one, is said to have such classes."""
        return is_in(version, self.releases)


def is_of_another(class_name: str, code: Iterable[Code]) -> bool:
    """Whether a class carries out another document than the one whose code this is."""
    return any(fnmatchcase(class_name, pattern) for each in code for pattern in each.without)


@lru_cache
def code_of(profile: str) -> tuple[Code, ...]:
    """The code of a profile's document, in the order of its file; nothing if it names none."""
    place = place_of(profile)
    return records(Code, place, CODE, "code") if place.has(CODE) else ()
