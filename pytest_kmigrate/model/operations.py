"""Client operations in columns: the one thing a run holds millions of."""

import enum
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.model.keeping import kept

Column = npt.NDArray[np.generic]


class OperationKind(enum.IntEnum):
    """What a client tried."""

    PRODUCE = 0
    CONSUME = 1
    COMMIT = 2
    FINAL_READ = 3


class OperationOutcome(enum.IntEnum):
    """How it ended; a timeout is INDEFINITE: both results are admissible later."""

    OK = 0
    FAILED = 1
    INDEFINITE = 2


@dataclass(frozen=True)
class Operations:
    """Columns of equal length, one row per operation on one record, in the order each client saw them.

    A record's identity is (``producer``, ``sequence``): the producer's number and its own counter, carried in the
    record's value; ``sequence`` rises by one per send of that producer, over all partitions, in the order of the sends.
    """

    kind: npt.NDArray[np.int8]
    """``OperationKind``: 0 produce, 1 consume, 2 commit, 3 final read."""
    outcome: npt.NDArray[np.int8]
    """``OperationOutcome``: 0 OK, 1 failed, 2 indefinite (a timeout, say: it may have taken effect or not)."""
    client: npt.NDArray[np.int32]
    """Number of the client (producer, consumer or reader) that did it; unique in the run."""
    topic: npt.NDArray[np.object_]
    """Topic name."""
    partition: npt.NDArray[np.int32]
    """Partition; -1 when a send failed before one was chosen."""
    offset: npt.NDArray[np.int64]
    """Offset acknowledged, read or committed; -1 when unknown. A committed offset is the next one to read."""
    producer: npt.NDArray[np.int32]
    """Number of the producer that wrote the record; -1 for commits and for records of foreign producers."""
    sequence: npt.NDArray[np.int64]
    """The producer's counter for this record; -1 for commits and foreign records."""
    began_ns: npt.NDArray[np.int64]
    """When it began: nanoseconds since the run began."""
    ended_ns: npt.NDArray[np.int64]
    """When it ended: nanoseconds since the run began."""
    group: npt.NDArray[np.object_]
    """Consumer group; empty for producers and final readers."""
    idempotent: npt.NDArray[np.bool_]
    """Whether the producer that wrote was idempotent (PRODUCE rows only)."""
    error: npt.NDArray[np.object_]
    """Kafka's error name of a failed or indefinite operation; empty otherwise."""
    transaction: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    """Number of the transaction the operation was part of, unique in the run; -1 when it was in none."""
    transaction_outcome: npt.NDArray[np.int8] = field(default_factory=lambda: np.empty(0, np.int8))
    """OperationOutcome of that transaction: OK committed, FAILED aborted, INDEFINITE unknown."""

    def __post_init__(self) -> None:
        for name, (kind, absent) in OPTIONAL_COLUMNS.items():
            if len(getattr(self, name)) != len(self):
                # Runs without transactions are the rule: a constant that takes no memory stands for all their rows.
                object.__setattr__(self, name, np.broadcast_to(np.array(absent, kind), len(self)))

    def __len__(self) -> int:
        chosen = _chosen(self)
        return len(self.kind) if chosen is None else chosen.count

    def __getattr__(self, name: str) -> Column:
        """A column of chosen rows, when it is first read: most checks read a few of the columns."""
        chosen = _chosen(self)
        if chosen is None or name not in _NAMES:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        column = chosen.of(name)
        object.__setattr__(self, name, column)
        return column

    def where(self, chosen: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Operations":
        """The rows for which ``chosen`` is true, order kept; or those at these positions, in their order."""
        if chosen.dtype == np.bool_:
            chosen = np.flatnonzero(chosen)  # once, and not once for each column
        return _rows(_Chosen(self, chosen, len(chosen)))

    def between(self, begin: int, end: int) -> "Operations":
        """The rows from one position to another (exclusive); nothing is copied."""
        return _rows(_Chosen(self, slice(begin, end), end - begin))

    @kept
    def of(self, kind: OperationKind) -> "Operations":
        """The rows of one kind, which many checks ask for."""
        return self.where(self.kind == kind)


_CHOSEN = "_chosen"
"""The attribute of chosen rows that has where they come from."""
_NAMES = frozenset(each.name for each in fields(Operations))


@dataclass(frozen=True)
class _Chosen:
    """Some rows of others."""

    source: Operations
    at: npt.NDArray[np.bool_] | npt.NDArray[np.intp] | slice
    count: int

    def of(self, name: str) -> Column:
        """One column of these rows."""
        column: Column = getattr(self.source, name)
        if column.strides == (0,):  # one value for all rows
            return np.broadcast_to(column[:1].reshape(()), self.count) if len(column) else column
        return column[self.at] if isinstance(self.at, slice) else column.take(self.at)


def _chosen(operations: Operations) -> _Chosen | None:
    """Where these rows come from; None if they were read."""
    return vars(operations).get(_CHOSEN)


def _rows(chosen: _Chosen) -> Operations:
    found = object.__new__(Operations)
    vars(found)[_CHOSEN] = chosen
    return found


COLUMNS: dict[str, str] = {
    "kind": "int8",
    "outcome": "int8",
    "client": "int32",
    "topic": "string",
    "partition": "int32",
    "offset": "int64",
    "producer": "int32",
    "sequence": "int64",
    "began_ns": "int64",
    "ended_ns": "int64",
    "group": "string",
    "idempotent": "bool",
    "error": "string",
}
"""Column name -> Arrow type, in the order of the files under ``operations/``."""

OPTIONAL_COLUMNS: dict[str, tuple[str, int]] = {"transaction": ("int64", -1), "transaction_outcome": ("int8", 0)}
"""Column name -> Arrow type and what its absence means: columns that follow only in files of transactional clients."""


def no_operations() -> Operations:
    """Operations of length zero."""
    dtypes = {"string": np.dtype(object), "bool": np.dtype(bool)}
    return Operations(**{name: np.empty(0, dtypes.get(kind) or np.dtype(kind)) for name, kind in COLUMNS.items()})
