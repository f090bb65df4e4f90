"""Where nights reach code of Kafka that hardly any other run does: the next night is turned to the cells of such runs.

Rare is what few runs of schedules have executed, as fuzzers that look for rare branches have it. Code that one run met
by chance stays rare; a cell that is visited again without meeting more of it loses its advantage with every visit.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.faults.schedules.space import Cell
from pytest_kmigrate.reports.written_tables import Held, has_rows, require, rows_of

Place = tuple[str, str, int]
"""A place in Kafka's code: class, sum of its class file, probe."""

EXECUTIONS, HAPPENINGS, SCHEDULES = "executions", "happenings", "schedules"
_COLUMNS: Mapping[str, Mapping[str, Held | None]] = {
    EXECUTIONS: {
        "folder": Held.TEXT,
        "class_name": Held.TEXT,
        "class_id": Held.TEXT_OR_NONE,
        "executed": Held.NUMBERS,
    },
    HAPPENINGS: {
        "folder": Held.TEXT,
        "effect": Held.TEXT,
        "state": Held.TEXT_OR_NONE,
        "aim": Held.TEXT_OR_NONE,
        "is_begun": None,
    },
    SCHEDULES: {"folder": Held.TEXT, "document": Held.TEXT_OR_NONE},
}
"""By table and column what each row holds; None: anything."""
_RARE = 2
"""So many runs at most have executed what is rare."""
_STRONGEST = 8.0
"""A cell is drawn so many times as often as by its gain alone, at most."""


@dataclass(frozen=True)
class Reached:
    """A run of a schedule: the cells that it visited, and the code that its nodes executed."""

    cells: frozenset[Cell]
    places: frozenset[Place]


def new_to(runs: Iterable[Reached]) -> Mapping[Cell, float]:
    """A factor of at least 1 on the gain of each visited cell: how much rare code a visit of it meets.

    Rare code of a run counts for each of its cells in equal parts, as nothing shows which of them led there.
    """
    listed = list(runs)
    executed = Counter(place for run in listed for place in run.places)
    visits, rare = Counter[Cell](), dict[Cell, float]()
    for run in listed:
        found = sum(executed[place] <= _RARE for place in run.places)
        for cell in run.cells:
            visits[cell] += 1
            rare[cell] = rare.get(cell, 0) + found / len(run.cells)
    return {cell: min(1 + math.log2(1 + rare[cell] / visits[cell]), _STRONGEST) for cell in visits}


def reached_from(tables: Path, document: str) -> list[Reached]:
    """The runs of schedules of a document that recorded what was executed; none where nothing was recorded.

    WrongUseError for a table that is none of ours, or holds what no analysis writes.
    """
    if not has_rows(tables, EXECUTIONS):
        return []
    rows = {name: rows_of(tables, name, tuple(columns)) for name, columns in _COLUMNS.items()}
    for name, columns in _COLUMNS.items():
        require(tables, name, rows[name], {column: held for column, held in columns.items() if held})
    of_document = {row["folder"] for row in rows[SCHEDULES] if row["document"] == document}
    cells: dict[str, set[Cell]] = {}
    for row in rows[HAPPENINGS]:
        if row["is_begun"] and row["folder"] in of_document:
            cells.setdefault(row["folder"], set()).add(Cell(row["effect"], row["state"] or "", row["aim"] or ""))
    places: dict[str, set[Place]] = {}
    for row in rows[EXECUTIONS]:
        of = (row["class_name"], row["class_id"])
        places.setdefault(row["folder"], set()).update((*of, probe) for probe in row["executed"])
    return [Reached(frozenset(mine), frozenset(places[folder])) for folder, mine in cells.items() if folder in places]
