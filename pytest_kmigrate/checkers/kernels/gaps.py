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
    the writers themselves is no unavailability.
    """
    if len(outcome) == 0:
        return Gaps(np.empty(0, np.int64), np.empty(0, np.int64))
    order = np.argsort(ended_ns, kind="stable")
    ends = ended_ns[order]
    waiting_since = np.minimum.accumulate(began_ns[order][::-1])[::-1]
    acked = ends[outcome[order] == OperationOutcome.OK]
    marks = np.unique(acked)
    following = np.searchsorted(ends, marks, side="right")
    has_more = following < len(ends)
    starts = np.maximum(marks[has_more], waiting_since[following[has_more]])
    starts = np.concatenate([waiting_since[:1], starts])
    stops = marks if len(starts) == len(marks) else np.append(marks, ends[-1])
    return Gaps(starts, stops)
