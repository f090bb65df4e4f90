"""What every engine is asked, and whether two of them answered alike."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Answer = Callable[[str], pa.Table]
"""A mart by its name."""

MARTS = ("plain", "cells", "durations")
"""Counts and a mean by two keys; the counts of the mart ``cells``; the mart of durations, with exact percentiles."""

SECONDS = "seconds.json"
"""Beside the answers of an engine: how long its start and each mart took."""

_ALIKE = 1e-9


class Start(Protocol):
    """Starts an engine on the facts in a folder, with so many threads and a limit of memory."""

    def __call__(  # noqa: D102  # the class says it
        self, data: Path, *, cores: int, memory_gib: float | None
    ) -> AbstractContextManager[Answer]: ...


def differing_rows(one: pa.Table, other: pa.Table) -> int:
    """In how many rows two answers differ, in whatever order they came; numbers may differ by their rounding."""
    if len(one) != len(other) or set(one.column_names) != set(other.column_names):
        return max(len(one), len(other), 1)
    texts = sorted(
        each.name for each in one.schema if pa.types.is_string(each.type) or pa.types.is_large_string(each.type)
    )
    order = [(name, "ascending") for name in texts]
    mine, theirs = one.sort_by(order), other.select(one.column_names).sort_by(order)
    differs = np.zeros(len(one), np.bool_)
    for name in one.column_names:
        differs |= ~_alike(mine[name], theirs[name])
    return int(differs.sum())


def _alike(one: pa.ChunkedArray, other: pa.ChunkedArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    both_missing = pc.and_(pc.is_null(one), pc.is_null(other)).to_numpy()
    if pa.types.is_floating(one.type):
        near = np.isclose(one.to_numpy(), other.cast(one.type).to_numpy(), rtol=_ALIKE, atol=_ALIKE)
    else:
        near = pc.fill_null(pc.equal(one, other.cast(one.type)), fill_value=False).to_numpy()
    return both_missing | near
