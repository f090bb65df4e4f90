"""Tables that an analysis wrote, as nights and mutants read them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import WrongUseError


def has_rows(tables: Path, name: str) -> bool:
    """Whether an analysis wrote the table: it leaves out those for which its runs have nothing."""
    return any((tables / name).rglob("*.parquet"))


def rows_of(tables: Path, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Columns of a table; WrongUseError for a folder without it, a file that is none, and one that lacks a column."""
    try:
        rows: list[dict[str, Any]] = pq.read_table(tables / name, columns=list(columns)).to_pylist()
    except (OSError, ValueError, KeyError, pa.ArrowInvalid) as error:
        got = str(error).partition("\n")[0] if (tables / name).exists() else "none there"
        raise WrongUseError(
            f"{tables}: expected the tables of kmigrate analyze, with {name} and its columns {', '.join(columns)}; "
            f"got {got}: name the folder tables/ below its --out, or run it again"
        ) from error
    return rows
