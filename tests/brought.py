"""Documents that another package brings, for tests: as if that package were installed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from pytest_kmigrate import catalogue, documents
from pytest_kmigrate.catalogue import mistakes, places
from pytest_kmigrate.catalogue.places import Place
from pytest_kmigrate.catalogue.rows import Row, records
from pytest_kmigrate.judging.planning import plan

ROW = """[[requirement]]
id = "TOY-one"
area = "toys"
level = "MUST"
statement = "It MUST be one."
section = "Toys"
observe = "The toy."
testability = "blackbox"
real_kafka = "conforms"
"""
"""A requirement that Kafka conforms to, as a document's file has it."""

_READ_ONCE = (
    *(
        places._entry_points,
        places.profiles,
        places.place_of,
        catalogue.requirements,
        catalogue.all_known_bugs,
        catalogue.deviations,
        catalogue.all_departures,
        catalogue._departures_by_id,
        catalogue._by_id,
        catalogue._known_bugs,
        mistakes.mistakes,
    ),
    documents.document,
    plan.plan,
    plan.with_suites,
)


@contextmanager
def installed(site: Path, *points: str) -> Iterator[None]:
    """A distribution in ``site`` with these entry points (``toy = package``) is there while the block lasts."""
    info = site / "toys-1.2.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("\n".join(["[kmigrate.documents]", *points, ""]))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(site)
        for module in (catalogue, mistakes):
            patch.setattr(module, "records", _records)
        _forget()
        try:
            yield
        finally:
            for name in [name for name in sys.modules if name.partition(".")[0].startswith("toy")]:
                del sys.modules[name]
            _forget()


def _records(kind: type[Row], place: Place, file: str, table: str, **known: str) -> tuple[Row, ...]:
    """As of the catalogue; files of this package, which no test changes, are read once."""
    is_ours = place.package.startswith(f"{documents.__name__}.")
    return (_of_ours if is_ours else _read)(kind, place, file, table, tuple(known.items()))


def _read(kind: type[Row], place: Place, file: str, table: str, known: tuple[tuple[str, str], ...]) -> tuple[Row, ...]:
    return records(kind, place, file, table, **dict(known))


_of_ours = cache(_read)


def _forget() -> None:
    for each in _READ_ONCE:
        each.cache_clear()
