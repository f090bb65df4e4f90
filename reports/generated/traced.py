"""Which requirements the code of a document carries out, by hand: a test that judges them notices most."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pytest_kmigrate.catalogue import find_bug, place_of, requirements
from pytest_kmigrate.catalogue.rows import records, wrong
from pytest_kmigrate.model.spelling import did_you_mean

TRACED = "traced.toml"
"""A file that a document's folder may have."""


@dataclass(frozen=True)
class Traced:
    """Methods, and the requirements that they carry out."""

    id: str
    """Pattern of a class and its method with a dot between: ``kafka.zk.migration.ZkAcl*.write*``."""
    requirements: tuple[str, ...]
    mends: tuple[str, ...] = ()
    """Known bugs that older releases have without this code: the tests that they are marked at look at what it does."""


def traced(profile: str) -> tuple[Traced, ...]:
    """The rows of a document; nothing if it has none. WrongUseError for a requirement that is none of its own."""
    place = place_of(profile)
    rows = records(Traced, place, TRACED, "traced") if place.has(TRACED) else ()
    known = [each.id for each in requirements(profile)]
    for row in rows:
        if unknown := [each for each in row.requirements if each not in known]:
            got = ", ".join(f"{each}{did_you_mean(each, known)}" for each in unknown)
            raise wrong(place.folder / TRACED, row.id, f"requirements: expected some of {profile}; got {got}")
        if unknown := [each for each in row.mends if find_bug(each) is None]:
            got = ", ".join(unknown)
            raise wrong(place.folder / TRACED, row.id, f"mends: expected known bugs; got {got}")
    return rows


def carried_out(rows: Iterable[Traced], class_name: str, method: str) -> frozenset[str]:
    """The requirements of all rows that name a method."""
    return frozenset(each for row in _named(rows, class_name, method) for each in row.requirements)


def mended(rows: Iterable[Traced], class_name: str, method: str) -> frozenset[str]:
    """The known bugs that a method mends."""
    return frozenset(each for row in _named(rows, class_name, method) for each in row.mends)


def _named(rows: Iterable[Traced], class_name: str, method: str) -> list[Traced]:
    return [each for each in rows if fnmatchcase(f"{class_name}.{method}", each.id)]
