"""Kernels about places: which record lies at which offset of one topic-partition."""

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions, is_among, packed
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome


def reordered(  # a kernel takes the columns it needs, and only those
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
    idempotent: npt.NDArray[np.bool_],
) -> tuple[Positions, Positions]:
    """Pairs (sent earlier, sent later) of neighbouring records of one idempotent producer, the later lying before.

    A record counts at its lowest offset, so that a duplicate is not reported here as a wrong order too.
    """
    chosen = _placed(kind, outcome, offset) & _by_idempotent(kind, producer, idempotent)
    rows = np.flatnonzero(chosen)
    keys = packed(producer[rows], sequence[rows])
    order = np.lexsort((offset[rows], keys))
    ordered = keys[order]
    is_first = np.ones(len(order), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    firsts = rows[order[is_first]]
    earlier, later = firsts[:-1], firsts[1:]
    is_wrong = (producer[earlier] == producer[later]) & (offset[later] < offset[earlier])
    return earlier[is_wrong], later[is_wrong]


def duplicated(  # a kernel takes the columns it needs, and only those
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
    idempotent: npt.NDArray[np.bool_],
) -> tuple[Positions, Positions]:
    """Pairs (first copy, next copy) of final reads that found one record of an idempotent producer at two offsets."""
    is_final = (kind == OperationKind.FINAL_READ) & (outcome == OperationOutcome.OK)
    rows = np.flatnonzero(is_final & _by_idempotent(kind, producer, idempotent))
    keys = packed(producer[rows], sequence[rows])
    order = np.lexsort((offset[rows], keys))
    keys, rows = keys[order], rows[order]
    is_copy = (keys[1:] == keys[:-1]) & (offset[rows[1:]] != offset[rows[:-1]])
    return rows[:-1][is_copy], rows[1:][is_copy]


def contested_offsets(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs of rows that put two different records at one offset, whether acknowledged, consumed or read finally."""
    rows = np.flatnonzero(_placed(kind, outcome, offset))
    keys = packed(producer[rows], sequence[rows])
    order = np.lexsort((keys, offset[rows]))
    keys, rows = keys[order], rows[order]
    is_contested = (offset[rows[1:]] == offset[rows[:-1]]) & (keys[1:] != keys[:-1])
    return rows[:-1][is_contested], rows[1:][is_contested]


def moved(
    kind: npt.NDArray[np.int8],
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    producer: npt.NDArray[np.int32],
    sequence: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs (claim, final read): a record acknowledged or consumed at one offset that finally lies only elsewhere."""
    keys = packed(producer, sequence)
    places = packed(keys, offset)
    is_placed = _placed(kind, outcome, offset) & (producer >= 0)
    is_final = is_placed & (kind == OperationKind.FINAL_READ)
    final = np.flatnonzero(is_final)
    claims = np.flatnonzero(is_placed & ~is_final)
    astray = claims[~is_among(places[claims], places[final])]
    by_key = final[np.argsort(keys[final], kind="stable")]
    at = np.searchsorted(keys[by_key], keys[astray])
    is_found = at < len(by_key)
    is_found[is_found] = keys[by_key[at[is_found]]] == keys[astray[is_found]]
    return astray[is_found], by_key[at[is_found]]


def _placed(
    kind: npt.NDArray[np.int8], outcome: npt.NDArray[np.int8], offset: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    is_placed: npt.NDArray[np.bool_] = (kind != OperationKind.COMMIT) & (outcome == OperationOutcome.OK) & (offset >= 0)
    return is_placed


def _by_idempotent(
    kind: npt.NDArray[np.int8], producer: npt.NDArray[np.int32], idempotent: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    return is_among(producer, producer[(kind == OperationKind.PRODUCE) & idempotent])
