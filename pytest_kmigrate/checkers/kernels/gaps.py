"""Kernel about availability: how long writers waited for an acknowledgement."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.model.operations import OperationOutcome


@dataclass(frozen=True)
class Gaps:
    """Spans without an acknowledged write, in the order of time; equally long columns."""

    began_ns: npt.NDArray[np.int64]
    ended_ns: npt.NDArray[np.int64]

    @property
    def length_ns(self) -> npt.NDArray[np.int64]:
        """How long each span lasted."""
        return self.ended_ns - self.began_ns


def gaps_between_acknowledgements(
    outcome: npt.NDArray[np.int8], began_ns: npt.NDArray[np.int64], ended_ns: npt.NDArray[np.int64]
) -> Gaps:
    """The span before each acknowledgement, and the one after the last when sends failed after it.

    A span begins at the acknowledgement before, or when the next send began if none was in progress then: silence of
    the writers themselves is no unavailability. Nor is the silence after sends that failed: a span with such a silence
    before its acknowledgement is two, one until the last of them failed, one of the send that was acknowledged.
    """
    if len(outcome) == 0:
        return Gaps(np.empty(0, np.int64), np.empty(0, np.int64))
    order = np.argsort(ended_ns, kind="stable")
    ends = ended_ns[order]
    waiting_since = np.minimum.accumulate(began_ns[order][::-1])[::-1]
    marks = _distinct(ends[outcome[order] == OperationOutcome.OK])
    # Among all sends in the order of their ends: the first of each span, and the first that ended as it did.
    first = np.concatenate([[0], np.searchsorted(ends, marks, side="right")])
    last = np.searchsorted(ends, marks, side="left")
    has_more = first < len(ends)
    starts = np.maximum(np.concatenate([waiting_since[:1], marks]), waiting_since[np.minimum(first, len(ends) - 1)])
    starts, stops = starts[has_more], np.append(marks, ends[-1])[has_more]
    failed = np.flatnonzero(last > first[:-1])
    gave_up, tried_again = ends[last[failed] - 1], waiting_since[last[failed]]
    is_silent = tried_again > gave_up
    silent = failed[is_silent]
    answered = stops[silent]
    stops[silent] = gave_up[is_silent]
    return _in_order(np.concatenate([starts, tried_again[is_silent]]), np.concatenate([stops, answered]))


def _distinct(ordered: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The different values of what is sorted already."""
    distinct: npt.NDArray[np.int64] = ordered[np.diff(ordered, prepend=ordered[:1] - 1) > 0]
    return distinct


def _in_order(began_ns: npt.NDArray[np.int64], ended_ns: npt.NDArray[np.int64]) -> Gaps:
    order = np.argsort(ended_ns, kind="stable")
    return Gaps(began_ns[order], ended_ns[order])
