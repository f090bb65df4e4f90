"""Kernels about transactions: all or nothing, nothing of aborted ones, in the order they were made.

The classes are Adya's, as far as a log can show them: G1a (a read of something aborted), G1b (a read of something not
finished). Every kernel gives pairs of row positions: the row contradicted, and the anomalous row. ``keys`` holds a
number per record, equal for the same record.
"""

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions, is_among
from pytest_kmigrate.checkers.kernels.positions import overtaken
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome


def aborted_reads(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    keys: npt.NDArray[np.int64],
    transaction: npt.NDArray[np.int64],
    transaction_outcome: npt.NDArray[np.int8],
) -> tuple[Positions, Positions]:
    """G1a: pairs (write, read) of a read that found a record whose transaction was aborted."""
    is_write = (kind == OperationKind.PRODUCE) & (transaction >= 0)
    writes = np.flatnonzero(is_write & (transaction_outcome == OperationOutcome.FAILED))
    reads = _reads(kind, outcome)
    return _matched(keys, writes, reads)


def intermediate_reads(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    keys: npt.NDArray[np.int64],
    transaction: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """G1b: pairs (last send, read) of a read that ended before the record's transaction began its last send.

    A transaction commits after its last send, so an earlier read of its record reads an unfinished one.
    """
    writes = np.flatnonzero((kind == OperationKind.PRODUCE) & (transaction >= 0))
    found, reads = _matched(keys, writes, _reads(kind, outcome))
    by_last = writes[np.lexsort((began_ns[writes], transaction[writes]))]
    last = by_last[np.searchsorted(transaction[by_last], transaction[found], side="right") - 1]
    is_early = ended_ns[reads] < began_ns[last]
    return last[is_early], reads[is_early]


def torn(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    keys: npt.NDArray[np.int64],
    transaction: npt.NDArray[np.int64],
    transaction_outcome: npt.NDArray[np.int8],
) -> tuple[Positions, Positions]:
    """Pairs (write that is there, write that is not), one per transaction of which only a part was finally read.

    Only acknowledged writes count, and only transactions that were not aborted; of an indefinite one all or nothing
    must be there. Rows of partitions that were not read to their end do not belong into the group.
    """
    is_ours = (kind == OperationKind.PRODUCE) & (outcome == OperationOutcome.OK) & (transaction >= 0)
    writes = np.flatnonzero(is_ours & (transaction_outcome != OperationOutcome.FAILED))
    final = np.flatnonzero((kind == OperationKind.FINAL_READ) & (outcome == OperationOutcome.OK))
    is_there = is_among(keys[writes], keys[final])
    there, missing = writes[is_there], writes[~is_there]
    numbers, first_there = np.unique(transaction[there], return_index=True)
    torn_numbers, first_missing = np.unique(transaction[missing], return_index=True)
    _, at_there, at_missing = np.intersect1d(numbers, torn_numbers, assume_unique=True, return_indices=True)
    return there[first_there[at_there]], missing[first_missing[at_missing]]


def transactions_overtaken(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    transaction: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs (write of the earlier, write of the later) of transactions of one partition that lie in the wrong order.

    Earlier means that all its sends were acknowledged before the later one's first began; each later transaction is
    given once.
    """
    is_ours = (kind == OperationKind.PRODUCE) & (outcome == OperationOutcome.OK) & (offset >= 0) & (transaction >= 0)
    rows = np.flatnonzero(is_ours)
    rows = rows[np.lexsort((offset[rows], transaction[rows]))]
    if len(rows) == 0:
        return rows, rows
    is_first = np.concatenate([[True], transaction[rows[1:]] != transaction[rows[:-1]]])
    starts = np.flatnonzero(is_first)
    lowest, highest = rows[starts], rows[np.append(starts[1:], len(rows)) - 1]
    began = np.minimum.reduceat(began_ns[rows], starts)
    ended = np.maximum.reduceat(ended_ns[rows], starts)
    earlier, later = overtaken(offset[highest], offset[lowest], began, ended)
    return highest[earlier], lowest[later]


def _reads(kind: npt.NDArray[np.int8], outcome: npt.NDArray[np.int8]) -> Positions:
    is_read = (kind == OperationKind.CONSUME) | (kind == OperationKind.FINAL_READ)
    return np.flatnonzero(is_read & (outcome == OperationOutcome.OK))


def _matched(keys: npt.NDArray[np.int64], writes: Positions, reads: Positions) -> tuple[Positions, Positions]:
    """Pairs (write, read) of the same record, one per read that has a write."""
    if len(writes) == 0:
        return writes, writes
    by_key = writes[np.argsort(keys[writes], kind="stable")]
    at = np.minimum(np.searchsorted(keys[by_key], keys[reads]), len(by_key) - 1)
    is_found = keys[by_key[at]] == keys[reads]
    return by_key[at[is_found]], reads[is_found]
