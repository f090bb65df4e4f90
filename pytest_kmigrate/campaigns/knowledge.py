"""What earlier nights showed of each cell, from the tables of a report."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_kmigrate.campaigns.steering import Known
from pytest_kmigrate.faults.schedules.space import Cell
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.written_tables import Held, require, rows_of, unlike

TABLE = "chaos_cells"
_CELL = ("profile", "effect", "state", "aim")
_COUNTS = ("begun", "witnessed", "violating", "answered")
_COLUMNS = {
    **dict.fromkeys(_CELL, Held.TEXT_OR_NONE),
    "profile": Held.TEXT,
    **dict.fromkeys(_COUNTS, Held.COUNT),
    "median_s": Held.SECONDS,
}


def known_from(tables: Path, document: str) -> tuple[Mapping[Cell, Known], str]:
    """What is known of each cell of a document, over all releases, and the digest of it.

    WrongUseError for a folder without the table, a table that is none or holds what no analysis writes, and tables of
    another document.
    """
    rows = rows_of(tables, TABLE, tuple(_COLUMNS))
    require(tables, TABLE, rows, _COLUMNS)
    for row in rows:
        if (row["violating"] or 0) > (row["answered"] or 0):
            raise unlike(
                tables, TABLE, "violating", f"at most as many as answered ({row['answered']})", row["violating"]
            )
    profiles = sorted({row["profile"] for row in rows})
    if rows and document not in profiles:
        raise WrongUseError(f"--tables {tables}: expected runs of {document}; got those of {', '.join(profiles)}")
    of_document = sorted((row for row in rows if row["profile"] == document), key=json.dumps)
    known: dict[Cell, Known] = {}
    for row in of_document:
        cell = Cell(*(row[key] or "" for key in ("effect", "state", "aim")))
        known[cell] = _together(known.get(cell, Known()), row)
    digest = hashlib.sha256(json.dumps(of_document, sort_keys=True).encode()).hexdigest()
    return known, digest


def _together(known: Known, row: Mapping[str, Any]) -> Known:
    """With another release's row; the longer median counts."""
    counts = {name: getattr(known, name) + (row[name] or 0) for name in _COUNTS}
    medians = [each for each in (known.median_s, row["median_s"]) if each is not None]
    return Known(**counts, median_s=max(medians, default=None))
