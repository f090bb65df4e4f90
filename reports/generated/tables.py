"""Tables of an analysis, as its folder has them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import WrongUseError


def rows_of(tables: Path, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Columns of a table; WrongUseError if the folder has no such table."""
    try:
        return list(pq.read_table(tables / name, columns=list(columns)).to_pylist())
    except (OSError, ValueError, KeyError) as error:
        raise WrongUseError(
            f"{tables}: expected the tables of `kmigrate analyze`, got no {name}: {error}; name the folder tables/ "
            "below its --out"
        ) from error
