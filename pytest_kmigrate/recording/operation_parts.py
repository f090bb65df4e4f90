"""Client operations on disk: Parquet parts, one closed every few seconds, so that a killed run keeps them."""

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.operations import COLUMNS, Operations, no_operations

Row = tuple[int, int, int, str, int, int, int, int, int, int, str, bool, str]
"""One operation, its values in the order of COLUMNS."""

ARROW_SCHEMA = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
"""The schema of every part."""

TEXTS = [name for name, kind in COLUMNS.items() if kind == "string"]
"""Few different values, many rows: these columns are dictionary-encoded."""


class PartWriter:
    """Writes one client's rows as ``<client>-000001.parquet``, ``-000002`` and so on; for use by one thread.

    A part appears under its name only when it is complete. With ``whole``, no part appears before ``close``: rows
    that mean something only together (a final read) are then either all there or not at all.
    """

    def __init__(self, folder: Path, client_name: str, every_s: float = 2.0, *, whole: bool = False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._client_name = client_name
        self._every_s = every_s
        self._whole = whole
        self._rows: list[Row] = []
        self._held: list[tuple[Path, Path]] = []
        self._next_part = 1 + max((_sequence(part) for part in _parts_of(folder, client_name)), default=0)
        self._due = time.monotonic() + every_s

    def append(self, row: Row) -> None:
        """Take one row; now and then this closes a part."""
        self._rows.append(row)
        self.close_part_if_due()

    def extend(self, rows: Iterable[Row]) -> None:
        """Take several rows."""
        self._rows.extend(rows)
        self.close_part_if_due()

    def close_part_if_due(self) -> None:
        """Close a part when its time has come; to be called also while nothing happens."""
        if time.monotonic() >= self._due:
            self._close_part()

    def close(self) -> None:
        """Write what is left; everything is then under its final name."""
        self._close_part()
        for partial, final in self._held:
            partial.replace(final)
        self._held.clear()

    def abandon(self) -> None:
        """Forget every row that is not yet in a part under its final name."""
        self._rows.clear()
        for partial, _ in self._held:
            partial.unlink(missing_ok=True)
        self._held.clear()

    def _close_part(self) -> None:
        self._due = time.monotonic() + self._every_s
        if not self._rows:
            return
        final = self._folder / f"{self._client_name}-{self._next_part:06d}.parquet"
        partial = final.with_name(f".{final.name}.partial")
        columns = zip(*self._rows, strict=True)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, ARROW_SCHEMA, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=ARROW_SCHEMA)
        pq.write_table(table, partial, compression="zstd", use_dictionary=TEXTS)
        self._rows.clear()
        self._next_part += 1
        if self._whole:
            self._held.append((partial, final))
        else:
            partial.replace(final)


def read_operations(folder: Path) -> Operations:
    """All rows of all clients: clients by name, a client's parts by number; RunFolderError names a damaged part."""
    parts = sorted(folder.glob("[!.]*-*.parquet"), key=lambda part: (_client(part), _sequence(part)))
    if not parts:
        return no_operations()
    table = pa.concat_tables([_read_part(part) for part in parts]).combine_chunks()
    return Operations(**{name: _as_numpy(table.column(name), kind) for name, kind in COLUMNS.items()})


def _read_part(part: Path) -> pa.Table:
    try:
        table = pq.ParquetFile(part, read_dictionary=TEXTS).read()
    except (pa.ArrowException, OSError) as error:
        raise RunFolderError(
            f"{part}: expected a complete Parquet part; got {error}; restore the file, or judge without the folder"
        ) from error
    found = {field.name: _plain(field.type) for field in table.schema}
    wanted = {field.name: str(field.type) for field in ARROW_SCHEMA}
    if found != wanted:
        raise RunFolderError(f"{part}: expected columns {wanted}; got {found}; was it written by another version?")
    return table


def _plain(arrow_type: pa.DataType) -> str:
    return str(arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type)


def _as_numpy(column: pa.ChunkedArray, kind: str) -> npt.NDArray[Any]:
    if kind != "string":
        return np.asarray(column.to_numpy())
    # One Python string per different value instead of one per row: a run has millions of rows and few topics.
    array = column.combine_chunks()
    values = np.array(array.dictionary.to_pylist(), dtype=object)
    return np.asarray(values[array.indices.to_numpy()])


def _parts_of(folder: Path, client_name: str) -> list[Path]:
    return [part for part in folder.glob("[!.]*-*.parquet") if _client(part) == client_name]


def _client(part: Path) -> str:
    return part.stem.rpartition("-")[0]


def _sequence(part: Path) -> int:
    number = part.stem.rpartition("-")[2]
    if not number.isdecimal():
        raise RunFolderError(f"{part}: expected a name like client-000001.parquet; remove what does not belong here")
    return int(number)
