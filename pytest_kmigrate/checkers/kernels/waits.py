"""Kernels about waiting: since when a record could be read, and when a consumer group had come past it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions, different, is_among, packed
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations

NEVER = int(np.iinfo(np.int64).max)

Times = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Waits:
    """Acknowledged records of one partition, as one consumer group waited for them; equally long columns."""

    rows: Positions
    """The send of each."""
    since_ns: Times
    """When it could be read."""
    until_ns: Times
    """When the group first read it, or something above it; NEVER if it did not."""
    is_there: npt.NDArray[np.bool_]
    """Whether it was finally read, or read by the group: whether others could have been is unknown."""

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Waits":
        """The records for which ``chosen`` is true."""
        return Waits(self.rows[chosen], self.since_ns[chosen], self.until_ns[chosen], self.is_there[chosen])


@dataclass(frozen=True)
class Closings:
    """When each transaction of a run had ended at the latest: transactions by rising number, and their times."""

    transaction: npt.NDArray[np.int64]
    closed_ns: Times

    def of(self, transaction: npt.NDArray[np.int64]) -> Times:
        """Those of some of the transactions."""
        return self.closed_ns[np.searchsorted(self.transaction, transaction)]


def waits(group: Operations, reader: str, closings: Closings) -> Waits:
    """How the consumer group ``reader`` waited for the records of a partition; not for those of aborted transactions.

    A record that the group went past waits no longer: that it was never read is another matter (``polls_over``).
    """
    is_kept = (group.transaction < 0) | (group.transaction_outcome == OperationOutcome.OK)
    is_sent = (group.kind == OperationKind.PRODUCE) & (group.outcome == OperationOutcome.OK) & (group.offset >= 0)
    rows = np.flatnonzero(is_sent & is_kept)
    reads = np.flatnonzero((group.kind == OperationKind.CONSUME) & (group.outcome == OperationOutcome.OK))
    reads = reads[group.group[reads] == reader]
    final = np.flatnonzero((group.kind == OperationKind.FINAL_READ) & (group.outcome == OperationOutcome.OK))
    keys = packed(group.producer, group.sequence)
    return Waits(
        rows,
        _readable(group, rows, closings),
        passed(group.offset[rows], group.offset[reads], group.ended_ns[reads]),
        is_among(keys[rows], keys[np.concatenate([final, reads])]),
    )


def passed(offset: npt.NDArray[np.int64], read_offset: npt.NDArray[np.int64], read_ns: Times) -> Times:
    """When each offset, or one above it, was first read; NEVER where that did not happen."""
    order = np.argsort(read_offset, kind="stable")
    first = np.append(np.minimum.accumulate(read_ns[order][::-1])[::-1], NEVER)
    return first[np.searchsorted(read_offset[order], offset, side="left")]


def closings(operations: Operations) -> Closings:
    """When transactions had ended: before their client began the next one, or before the final read began.

    No row has the end of a transaction; both are known to wait for it.
    """
    sent = np.flatnonzero((operations.kind == OperationKind.PRODUCE) & (operations.transaction >= 0))
    sent = sent[np.lexsort((operations.began_ns[sent], operations.transaction[sent]))]
    numbers, first = np.unique(operations.transaction[sent], return_index=True)
    client, began_ns = operations.client[sent[first]], operations.began_ns[sent[first]]
    is_final = (operations.kind == OperationKind.FINAL_READ) & (operations.outcome == OperationOutcome.OK)
    final_ns = np.append(different(operations.began_ns[is_final]), NEVER)
    closed_ns = final_ns[np.searchsorted(final_ns, began_ns)]
    by_client = np.lexsort((began_ns, client))
    earlier, later = by_client[:-1], by_client[1:]
    has_next = client[earlier] == client[later]
    closed_ns[earlier[has_next]] = np.minimum(closed_ns[earlier], began_ns[later])[has_next]
    return Closings(numbers, closed_ns)


def _readable(group: Operations, rows: Positions, ends: Closings) -> Times:
    """When readers of committed records could read each: it is acknowledged, and nothing before it is open.

    A transaction that may have begun in this partition before the acknowledgement may lie before the record.
    """
    acked_ns = group.ended_ns[rows]
    parts = np.flatnonzero((group.kind == OperationKind.PRODUCE) & (group.transaction >= 0))
    if len(parts) == 0:
        return acked_ns
    parts = parts[np.argsort(group.began_ns[parts], kind="stable")]
    open_until = np.maximum.accumulate(ends.of(group.transaction[parts]))
    before = np.searchsorted(group.began_ns[parts], acked_ns, side="right")
    is_behind = before > 0
    readable_ns = acked_ns.copy()
    readable_ns[is_behind] = np.maximum(acked_ns[is_behind], open_until[before[is_behind] - 1])
    return readable_ns
