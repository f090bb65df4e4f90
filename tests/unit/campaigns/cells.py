"""Which cells the lines of a night visit."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pytest_kmigrate.faults.schedules.space import Cell, aim_of


def cells_of(happenings: Collection[Mapping[str, Any]]) -> Iterator[Cell]:
    """The cell of each happening, as data."""
    for each in (one for one in happenings if "fault" in one):
        yield Cell(each["fault"]["kind"], each.get("begin", {}).get("state") or "", aim_of(each["fault"]))
