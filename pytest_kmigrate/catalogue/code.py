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
    requirements: tuple[str, ...]
    """Those of the document that are about it."""
    releases: Ranges
    """The releases that have such classes, as ranges such as ``>=3.4.0,<4.0.0``."""
    only: tuple[str, ...] = ()
    """Patterns of those of their methods that do it, each with its class and a dot before its name; all, if none."""
    without: tuple[str, ...] = ()
    """Patterns of classes among them, or of their methods, that carry out another document."""

    def is_in(self, version: str) -> bool:
        """Whether a release, or a build of one, is said to have such classes."""
        return is_in(version, self.releases)


def is_listed(class_name: str, method: str, code: Iterable[Code]) -> bool:
    """Whether a method carries out a part of the document whose code this is."""
    names = (class_name, f"{class_name}.{method}")
    return any(
        fnmatchcase(class_name, each.id)
        and (not each.only or _is_any(names, each.only))
        and not _is_any(names, each.without)
        for each in code
    )


def _is_any(names: Iterable[str], patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in names)


@lru_cache
def code_of(profile: str) -> tuple[Code, ...]:
    """The code of a profile's document, in the order of its file; nothing if it names none."""
    place = place_of(profile)
    return records(Code, place, CODE, "code") if place.has(CODE) else ()
