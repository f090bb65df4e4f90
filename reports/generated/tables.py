"""Tables of an analysis, as its folder has them, and what they call a Kafka."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pytest_kmigrate.distributions.kafka import resolve
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.provider import Artifact


def rows_of(tables: Path, name: str, columns: Sequence[str]) -> list[dict[str, Any]]:
    """Columns of a table; WrongUseError if the folder has no such table."""
    try:
        return list(pq.read_table(tables / name, columns=list(columns)).to_pylist())
    except (OSError, ValueError, KeyError) as error:
        raise WrongUseError(
            f"{tables}: expected the tables of `kmigrate analyze`, got no {name}: {error}; name the folder tables/ "
            "below its --out"
        ) from error


def name_of(kafka: str) -> str:
    """A release by its number, a build by that and what distinguishes it; ``kafka`` is a release or a path."""
    made = resolve(kafka, progress=lambda _: None, archive=False)
    return Artifact(made.version, made.digest, made.build).name
