"""Client operations on disk: Parquet parts, one closed every few seconds, so that a killed run keeps them."""

import time
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.model.operations import COLUMNS, OPTIONAL_COLUMNS, Operations, no_operations
from pytest_kmigrate.redaction import redacted

Row = tuple[int, int, int, str, int, int, int, int, int, int, str, bool, str]
"""One operation, its values in the order of COLUMNS."""

TransactionalRow = tuple[int, int, int, str, int, int, int, int, int, int, str, bool, str, int, int]
"""One operation of a transactional client: the values of OPTIONAL_COLUMNS follow."""

ARROW_SCHEMA = pa.schema([(name, pa.type_for_alias(kind)) for name, kind in COLUMNS.items()])
"""The schema of every part, but for the columns of transactional clients."""

_OPTIONAL_FIELDS = [pa.field(name, pa.type_for_alias(kind)) for name, (kind, _) in OPTIONAL_COLUMNS.items()]
TRANSACTIONAL_SCHEMA = pa.schema([*ARROW_SCHEMA, *_OPTIONAL_FIELDS])
"""The schema of the parts of transactional clients, and what every part is read as."""

PARTS_PATTERN = "[!.]*-*.parquet"
"""Names of parts; one that is not complete yet begins with a dot."""

TEXTS = [name for name, kind in COLUMNS.items() if kind == "string"]
"""Few different values, many rows: these columns are dictionary-encoded."""


def _as_read(schema: pa.Schema) -> pa.Schema:
    texts = pa.dictionary(pa.int32(), pa.string())
    return pa.schema([each.with_type(texts) if each.name in TEXTS else each for each in schema])


_AS_READ, _TRANSACTIONAL_AS_READ = _as_read(ARROW_SCHEMA), _as_read(TRANSACTIONAL_SCHEMA)
"""What parts of this release are read as; others are compared column by column."""

_MANY_BYTES = 2**20
"""Several threads decode a part of so many bytes; for a smaller one they take more time than they save."""


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
        self._rows: list[Row | TransactionalRow] = []
        self._held: list[tuple[Path, Path]] = []
        self._next_part = 1 + max((_sequence(part) for part in _parts_of(folder, client_name)), default=0)
        self._due = time.monotonic() + every_s

    def append(self, row: Row | TransactionalRow) -> None:
        """Take one row; now and then this closes a part."""
        self._rows.append(row)
        self.close_part_if_due()

    def extend(self, rows: Iterable[Row | TransactionalRow]) -> None:
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
        columns = list(zip(*self._rows, strict=True))
        schema = ARROW_SCHEMA if len(columns) == len(ARROW_SCHEMA) else TRANSACTIONAL_SCHEMA
        columns = [
            _without_secrets(column) if field.name in TEXTS else column
            for column, field in zip(columns, schema, strict=True)
        ]
        arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=schema)
        pq.write_table(table, partial, compression="zstd", use_dictionary=TEXTS)
        self._rows.clear()
        self._next_part += 1
        if self._whole:
            self._held.append((partial, final))
        else:
            partial.replace(final)


def _without_secrets(column: tuple[str, ...]) -> tuple[str, ...]:
    """Few texts are different, so each is looked at once."""
    texts = {text: redacted(text) for text in set(column)}
    return column if all(text == kept for text, kept in texts.items()) else tuple(map(texts.__getitem__, column))


def read_operations(folder: Path) -> Operations:
    """All rows of all clients: clients by name, a client's parts by number; RunFolderError names a damaged part."""
    parts = sorted(folder.glob(PARTS_PATTERN), key=place_of_part)
    if not parts:
        return no_operations()
    found = [_read(str(part), part) for part in parts]
    schema = TRANSACTIONAL_SCHEMA if any(_absent_in(table) != _OPTIONAL_FIELDS for table in found) else ARROW_SCHEMA
    table = pa.concat_tables([_with_columns(each, schema) for each in found]).combine_chunks()
    return Operations(**{each.name: _as_numpy(table.column(each.name), each.type) for each in schema})


def place_of_part(part: PurePath) -> tuple[str, int]:
    """Where a part comes among all parts of a run: its client's name and its number; RunFolderError if it has none."""
    return _client(part), _sequence(part)


def read_part(part: str, content: Path | pa.Buffer) -> pa.Table:
    """The rows of one part with all columns, texts as dictionaries; RunFolderError names ``part`` if it is damaged."""
    return _with_columns(_read(part, content), TRANSACTIONAL_SCHEMA)


def _read(part: str, content: Path | pa.Buffer) -> pa.Table:
    """The rows of one part with the columns that it has; RunFolderError if it is damaged."""
    if isinstance(content, Path) and not content.is_file():  # a pipe would be waited for
        raise RunFolderError(f"{part}: expected a complete Parquet part; got no plain file; take it away")
    try:
        size = content.stat().st_size if isinstance(content, Path) else content.size
        table = pq.ParquetFile(content, read_dictionary=TEXTS).read(use_threads=size >= _MANY_BYTES)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise RunFolderError(
            f"{part}: expected a complete Parquet part, got one that is cut, damaged or of other columns; restore the "
            "file, or judge without the folder"
        ) from error
    if lacking := [name for name, column in zip(table.schema.names, table.columns, strict=True) if column.null_count]:
        raise RunFolderError(
            f"{part}: expected a value in every row, got rows without {', '.join(lacking)}; restore it"
        )
    if table.schema.equals(_AS_READ) or table.schema.equals(_TRANSACTIONAL_AS_READ):
        return table
    found = {field.name: _plain(field.type) for field in table.schema}
    wanted = {field.name: str(field.type) for field in TRANSACTIONAL_SCHEMA}
    if found | {each.name: str(each.type) for each in _absent_in(table)} != wanted:
        raise RunFolderError(f"{part}: expected columns {wanted}; got {found}; was it written by another version?")
    return table


def _absent_in(table: pa.Table) -> list[pa.Field]:
    """The columns of transactional clients that a part does not have."""
    return [each for each in _OPTIONAL_FIELDS if each.name not in table.schema.names]


def _with_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A part with the columns of a schema, in its order."""
    for each in _absent_in(table) if schema is TRANSACTIONAL_SCHEMA else ():
        table = table.append_column(each, _constant(OPTIONAL_COLUMNS[each.name][1], each.type, len(table)))
    return table if table.schema.names == schema.names else table.select(schema.names)


def _constant(value: int, arrow_type: pa.DataType, rows: int) -> pa.Array:
    """Return a column of one value; made of a buffer, because Arrow imports pandas for each Python value."""
    values = np.full(rows, value, arrow_type.to_pandas_dtype())
    return pa.Array.from_buffers(arrow_type, rows, [None, pa.py_buffer(values)])


def _plain(arrow_type: pa.DataType) -> str:
    return str(arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type)


def _as_numpy(column: pa.ChunkedArray, arrow_type: pa.DataType) -> npt.NDArray[Any]:
    array = column.combine_chunks()
    if pa.types.is_boolean(arrow_type):
        return _bits(array)
    if not pa.types.is_string(arrow_type):
        return _shared(array)
    # One Python string per different value instead of one per row: a run has millions of rows and few topics.
    values = np.array(array.dictionary.to_pylist(), dtype=object)
    return np.asarray(values[_shared(array.indices)])


def _bits(array: pa.BooleanArray) -> npt.NDArray[Any]:
    """Return truth values; ``cast`` would, but imports all that Arrow can compute."""
    packed = np.frombuffer(array.buffers()[1], np.uint8) if len(array) else np.empty(0, np.uint8)
    return np.unpackbits(packed, bitorder="little")[array.offset : array.offset + len(array)].astype(bool)


def _shared(array: pa.Array) -> npt.NDArray[Any]:
    """Return numbers without copying them; ``to_numpy`` would, but imports pandas."""
    return np.asarray(np.from_dlpack(array))


def _parts_of(folder: Path, client_name: str) -> list[Path]:
    return [part for part in folder.glob(PARTS_PATTERN) if _client(part) == client_name]


def _client(part: PurePath) -> str:
    return part.stem.rpartition("-")[0]


def _sequence(part: PurePath) -> int:
    number = part.stem.rpartition("-")[2]
    if not number.isdecimal():
        raise RunFolderError(f"{part}: expected a name like client-000001.parquet; remove what does not belong here")
    return int(number)
