"""What earlier nights showed of each cell, from the tables of a report."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.campaigns.steering import Known
from pytest_kmigrate.faults.schedules.space import Cell
from pytest_kmigrate.model.errors import WrongUseError

TABLE = "chaos_cells"
_CELL = ("profile", "effect", "state", "aim")
_COUNTS = ("begun", "witnessed", "violating", "answered")
_COLUMNS = (*_CELL, *_COUNTS, "median_s")


def known_from(tables: Path, document: str) -> tuple[Mapping[Cell, Known], str]:
    """What is known of each cell of a document, over all releases, and the digest of it.

    WrongUseError for a folder without the table, a table that is none, and tables of another document.
    """
    rows = list(_rows(tables / TABLE))
    profiles = sorted({row["profile"] for row in rows})
    if rows and document not in profiles:
        raise WrongUseError(f"--tables {tables}: expected runs of {document}; got those of {', '.join(profiles)}")
    of_document = sorted((row for row in rows if row["profile"] == document), key=json.dumps)
    known: dict[Cell, Known] = {}
    for row in of_document:
        cell = Cell(row["effect"], row["state"], row["aim"])
        known[cell] = _together(known.get(cell, Known()), row)
    digest = hashlib.sha256(json.dumps(of_document, sort_keys=True).encode()).hexdigest()
    return known, digest


def _together(known: Known, row: Mapping[str, Any]) -> Known:
    """With another release's row; the longer median counts."""
    counts = {name: getattr(known, name) + (row[name] or 0) for name in _COUNTS}
    medians = [each for each in (known.median_s, row["median_s"]) if isinstance(each, float)]
    return Known(**counts, median_s=max(medians, default=None))


def _rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of the table, with the columns that are needed."""
    if not folder.is_dir():
        raise WrongUseError(
            f"--tables {folder.parent}: expected the tables of a report by kmigrate analyze, with {TABLE}; got none"
        )
    try:
        table = pq.read_table(folder)
    except (OSError, pa.ArrowInvalid) as error:
        raise WrongUseError(f"{folder}: expected a table in Parquet; {str(error).partition(chr(10))[0]}") from error
    if lacking := [each for each in _COLUMNS if each not in table.column_names]:
        raise WrongUseError(f"{folder}: expected the columns {', '.join(_COLUMNS)}; got none of {', '.join(lacking)}")
    found: list[dict[str, Any]] = table.select(list(_COLUMNS)).to_pylist()
    return found
