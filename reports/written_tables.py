"""Tables that an analysis wrote, as nights and mutants read them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import WrongUseError


class Held(Enum):
    """What a column holds in each row."""

    TEXT = "text"
    TEXT_OR_NONE = "text or none"
    COUNT = "a whole number from 0 on, or none"
    SECONDS = "a number of at least 0, or none"
    NUMBERS = "a list of whole numbers"


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


_IS: Mapping[Held, Callable[[object], bool]] = {
    Held.TEXT: lambda value: isinstance(value, str),
    Held.TEXT_OR_NONE: lambda value: value is None or isinstance(value, str),
    Held.COUNT: lambda value: value is None or _is_count(value),
    Held.SECONDS: lambda value: value is None or (isinstance(value, int | float) and 0 <= value < math.inf),
    Held.NUMBERS: lambda value: isinstance(value, list) and all(map(_is_count, value)),
}


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


def require(tables: Path, name: str, rows: Iterable[Mapping[str, object]], columns: Mapping[str, Held]) -> None:
    """WrongUseError for the first row with a value of another kind, as another tool, or a damaged disk, leaves it."""
    for row in rows:
        for column, held in columns.items():
            if not _IS[held](row[column]):
                raise unlike(tables, name, column, held.value, row[column])


def unlike(tables: Path, name: str, column: str, expected: str, got: object) -> WrongUseError:
    """The error of a value that no analysis writes."""
    return WrongUseError(
        f"{tables}: {name}: {column}: expected {expected}, got {got!r}: run kmigrate analyze again, and name its tables"
    )
