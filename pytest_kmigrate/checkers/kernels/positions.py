"""Kernels about positions: where a consumer reads on, and what its group committed."""

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions
from pytest_kmigrate.model.operations import OperationOutcome

_NO_FLOOR = np.iinfo(np.int64).min


def steps_back(offset: npt.NDArray[np.int64]) -> Positions:
    """Rows whose offset does not exceed that of the read before, in the order one client read one partition."""
    return np.flatnonzero(offset[1:] <= offset[:-1]) + 1


def steps_over(
    read_offset: npt.NDArray[np.int64],
    read_ended_ns: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int64],
    since_ns: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs (one of ``offset``, which rise; the read that went over it), for each the first read, if there is one.

    Reads are those of one client in their order. What came to be at an offset only after the read, is not gone over.
    """
    after = np.flatnonzero(read_offset[1:] > read_offset[:-1] + 1) + 1
    begin = np.searchsorted(offset, read_offset[after - 1], side="right")
    counts = np.searchsorted(offset, read_offset[after], side="left") - begin
    over = np.repeat(after, counts)
    place = np.arange(len(over)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)
    was_there = since_ns[place] <= read_ended_ns[over]
    places, first = np.unique(place[was_there], return_index=True)
    return places, over[was_there][first]


def reads_below_committed(  # a kernel takes the columns it needs, and only those
    offset: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    commit_outcome: npt.NDArray[np.int8],
    commit_offset: npt.NDArray[np.int64],
    commit_began_ns: npt.NDArray[np.int64],
    commit_ended_ns: npt.NDArray[np.int64],
) -> tuple[Positions, npt.NDArray[np.int64]]:
    """Reads of one client that start below what its group had committed, and the committed offset each had to respect.

    Only starts are looked at: the first read and each step back, the two that an assignment explains. What was surely
    committed when a start began is the last acknowledged commit, or a lower one among those that overlap it or that
    start; and an indefinite commit may take effect at any time after it began, so its offset stays admissible.
    """
    if len(offset) == 0:
        return np.empty(0, np.intp), np.empty(0, np.int64)
    starts = np.concatenate([np.zeros(1, np.intp), steps_back(offset)])
    is_ok = commit_outcome == OperationOutcome.OK
    floors = _floors(began_ns[starts], commit_offset[is_ok], commit_began_ns[is_ok], commit_ended_ns[is_ok])
    unsure = commit_outcome == OperationOutcome.INDEFINITE
    if unsure.any():
        lowest = _lowest_begun(began_ns[starts], commit_offset[unsure], commit_began_ns[unsure])
        floors = np.minimum(floors, lowest)
    is_below = offset[starts] < floors
    return starts[is_below], floors[is_below]


def commits_run_back(
    outcome: npt.NDArray[np.int8],
    offset: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs (higher commit, lower commit) where the lower began only after the higher was acknowledged."""
    rows = np.flatnonzero(outcome == OperationOutcome.OK)
    earlier, later = overtaken(offset[rows], offset[rows], began_ns[rows], ended_ns[rows])
    return rows[earlier], rows[later]


def overtaken(
    highest: npt.NDArray[np.int64],
    lowest: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
) -> tuple[Positions, Positions]:
    """Pairs (earlier, later): the later began after the earlier had ended, and its lowest is below that one's highest.

    Of all that had ended, the one with the highest is named.
    """
    if len(began_ns) == 0:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    by_end = np.argsort(ended_ns, kind="stable")
    top = np.maximum.accumulate(highest[by_end])
    at_top = np.where(highest[by_end] >= top, np.arange(len(by_end)), 0)
    holder = by_end[np.maximum.accumulate(at_top)]
    ended_before = np.searchsorted(ended_ns[by_end], began_ns, side="right")
    later = np.flatnonzero(ended_before > 0)
    earlier = holder[ended_before[later] - 1]
    is_back = (lowest[later] < highest[earlier]) & (later != earlier)
    return earlier[is_back], later[is_back]


def _floors(
    at_ns: npt.NDArray[np.int64],
    offset: npt.NDArray[np.int64],
    began_ns: npt.NDArray[np.int64],
    ended_ns: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    floors = np.full(len(at_ns), _NO_FLOOR, np.int64)
    if len(offset) == 0:
        return floors
    order = np.argsort(ended_ns, kind="stable")
    offset, began_ns, ended_ns = offset[order], began_ns[order], ended_ns[order]
    longest = int((ended_ns - began_ns).max())
    last = np.searchsorted(ended_ns, at_ns, side="left") - 1
    since = np.searchsorted(ended_ns, began_ns[np.maximum(last, 0)], side="left")
    until = np.searchsorted(ended_ns, at_ns + longest, side="right")
    for start in np.flatnonzero(last >= 0):
        near = slice(int(since[start]), int(until[start]))
        floors[start] = offset[near][began_ns[near] <= at_ns[start]].min()
    return floors


def _lowest_begun(
    at_ns: npt.NDArray[np.int64], offset: npt.NDArray[np.int64], began_ns: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    order = np.argsort(began_ns, kind="stable")
    lowest = np.concatenate([[np.iinfo(np.int64).max], np.minimum.accumulate(offset[order])])
    return lowest[np.searchsorted(began_ns[order], at_ns, side="right")].astype(np.int64)
