"""Columns: decoded operations as NumPy arrays, one group per topic-partition."""

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pytest_kmigrate.model.operations import Operations
from pytest_kmigrate.recording.operation_parts import TEXTS, TRANSACTIONAL_SCHEMA

Column = npt.NDArray[Any]

_ABSENT = {"transaction": -1, "producer": -1, "sequence": -1, "offset": -1}
"""What stands in a column that was left out because no check of this group looks at it; elsewhere zero."""


class Columns:
    """The operations of a group in columns, texts as numbers into a short list of different ones."""

    def __init__(self, table: pa.Table) -> None:
        self._length = len(table)
        table = table.unify_dictionaries().combine_chunks()
        self._values: dict[str, Column] = {}
        self._columns: dict[str, Column] = {}
        for field in TRANSACTIONAL_SCHEMA:
            if field.name not in table.column_names:
                self._columns[field.name] = self._absent(field)
            elif field.name in TEXTS:
                self._columns[field.name] = self._codes(field.name, table.column(field.name))
            else:
                self._columns[field.name] = table.column(field.name).to_numpy()

    def __getitem__(self, name: str) -> Column:
        """A column; of texts, the numbers."""
        return self._columns[name]

    def text(self, name: str, number: int) -> str:
        """The text that a number in a column of texts stands for."""
        return str(self._values[name][number])

    def says(self, name: str, text: str) -> npt.NDArray[np.bool_]:
        """Whether a column of texts has this one, row by row."""
        said: npt.NDArray[np.bool_] = np.array([value == text for value in self._values[name]])[self[name]]
        return said

    def is_told(self, name: str) -> npt.NDArray[np.bool_]:
        """Whether there is a text, row by row."""
        reported: npt.NDArray[np.bool_] = np.array([bool(value) for value in self._values[name]])[self[name]]
        return reported

    def hashes(self, name: str) -> Column:
        """A number per row of a column of texts, the same in every file."""
        values = [zlib.crc32(str(value).encode()) for value in self._values[name]]
        hashes: Column = np.array(values, np.int64)[self[name]]
        return hashes

    def rows(self, chosen: npt.NDArray[np.bool_]) -> Operations:
        """The operations at some rows."""
        return self._operations({name: column[chosen] for name, column in self._columns.items()})

    def by_partition(self) -> Iterator[Operations]:
        """One group per topic-partition, rows in their order; those without a partition are left out."""
        partition = self["partition"]
        width = int(partition.max(initial=0)) + 2
        # Rows without a partition come first, and small numbers sort in linear time.
        key = np.where(partition < 0, 0, self["topic"].astype(np.int64) * width + partition + 1)
        key = key.astype(np.uint16 if key.max(initial=0) < 2**16 else np.int64)
        order = np.argsort(key, kind="stable")
        in_order = {name: _taken(column, order) for name, column in self._columns.items()}
        ends = _ends(key[order])
        begin = int((key == 0).sum())
        for end in ends[ends > begin]:
            yield self._operations({name: column[begin:end] for name, column in in_order.items()})
            begin = int(end)

    def _operations(self, columns: dict[str, Column]) -> Operations:
        return Operations(**{name: self._texts(name, column) for name, column in columns.items()})

    def _texts(self, name: str, column: Column) -> Column:
        if name not in TEXTS:
            return column
        values = self._values[name]
        if len(column) and column.min() == column.max():
            # One topic, mostly no error: a constant stands for all rows and takes no memory.
            return np.broadcast_to(values[column[:1]], len(column))
        texts: Column = values[column]
        return texts

    def _codes(self, name: str, column: pa.ChunkedArray) -> Column:
        array = column.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # a column without rows
            array = pa.array([], column.type)
        self._values[name] = np.array([*array.dictionary.to_pylist(), ""], dtype=object)
        return np.asarray(array.indices.to_numpy())

    def _absent(self, field: pa.Field) -> Column:
        if field.name in TEXTS:
            self._values[field.name] = np.array([""], dtype=object)
            return np.broadcast_to(np.int32(0), self._length)
        kind = field.type.to_pandas_dtype()
        return np.broadcast_to(np.array(_ABSENT.get(field.name, 0), kind), self._length)


def _taken(column: Column, order: npt.NDArray[np.intp]) -> Column:
    """The column in another order; a constant, of which every row is the same one in memory, stays as it is."""
    return column if column.strides == (0,) else column[order]


def _ends(key: Column) -> npt.NDArray[np.intp]:
    """Behind the last row of each run of equal keys."""
    if len(key) == 0:
        return np.empty(0, np.intp)
    return np.append(np.flatnonzero(key[1:] != key[:-1]) + 1, len(key))
