"""Kernels about presence: records that must be in the log and are not, and the other way round."""

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions, is_among, packed
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.refusals import DEFINITE_PRODUCE_ERRORS


def lost(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
) -> Positions:
    """Rows of acknowledged sends whose record is not among the final reads of this topic-partition."""
    is_ok = outcome == OperationOutcome.OK
    keys = packed(producer, sequence)
    acked = np.flatnonzero((kind == OperationKind.PRODUCE) & is_ok)
    read = np.flatnonzero((kind == OperationKind.FINAL_READ) & is_ok)
    return acked[~is_among(keys[acked], keys[read])]


def vanished(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
    *,
    must_be_absent: npt.NDArray[np.bool_],
    until_ns: int,
) -> Positions:
    """Rows that consumed a record of ours before ``until_ns`` that is not among the final reads; the first of each.

    What a consumer was given was committed, however its send ended. Acknowledged records are not given here: ``lost``
    names them. Nor are those of sends that ``must_be_absent``: reading one was wrong, its absence is not.
    """
    is_ok = outcome == OperationOutcome.OK
    keys = packed(producer, sequence)
    reported = (kind == OperationKind.PRODUCE) & (is_ok | must_be_absent)
    reported |= (kind == OperationKind.FINAL_READ) & is_ok
    read = np.flatnonzero((kind == OperationKind.CONSUME) & is_ok & (producer >= 0) & (ended_ns < until_ns))
    read = read[~is_among(keys[read], keys[reported])]
    return _once_each(read[np.argsort(ended_ns[read], kind="stable")], keys, producer)


def phantoms(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
    error: npt.NDArray[np.object_],
) -> tuple[Positions, Positions]:
    """Rows that read a record never sent here, and rows that read one whose send was definitely refused.

    Each such record is given once, at its first read; foreign records (producer -1) are one record per row.
    """
    keys = packed(producer, sequence)
    sent = kind == OperationKind.PRODUCE
    refused = sent & definitely_refused(outcome, error)
    is_read = (kind == OperationKind.CONSUME) | (kind == OperationKind.FINAL_READ)
    read = np.flatnonzero(is_read & (outcome == OperationOutcome.OK))
    is_known = is_among(keys[read], keys[sent])
    unknown = read[~is_known]
    if not refused.any():
        return _once_each(unknown, keys, producer), np.empty(0, np.intp)
    is_possible = is_among(keys[read], keys[sent & ~refused])
    return _once_each(unknown, keys, producer), _once_each(read[is_known & ~is_possible], keys, producer)


def definitely_refused(outcome: npt.NDArray[np.int8], error: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    """Whether each row failed with an error that rules out that the record was written.

    The outcome alone is not believed: not every run was recorded by clients that go by the same list.
    """
    refused = np.zeros(len(outcome), np.bool_)
    for row in np.flatnonzero(outcome == OperationOutcome.FAILED):
        refused[row] = error[row] in DEFINITE_PRODUCE_ERRORS
    return refused


def _once_each(rows: Positions, keys: npt.NDArray[np.int64], producer: npt.NDArray[np.int32]) -> Positions:
    is_ours = producer[rows] >= 0
    ours = rows[is_ours]
    first = np.unique(keys[ours], return_index=True)[1]
    return np.sort(np.concatenate([ours[first], rows[~is_ours]]))
