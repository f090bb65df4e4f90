"""Check of availability: how long nobody's write was acknowledged."""

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.findings import violated, violation_at
from pytest_kmigrate.checkers.kernels import Gaps, gaps_between_acknowledgements
from pytest_kmigrate.checkers.moments import faults_during, phase_at, when
from pytest_kmigrate.checkers.wording import counted, span
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import MOST_VIOLATIONS, Kind, Verdict, Violation, conforms, inconclusive


def longest_time_without_acked_write(history: History, at_most_s: float | None = None) -> Verdict:
    """The longest time in which writers tried and none was acknowledged; above ``at_most_s`` it violates liveness.

    Time in which no send was in progress does not count, nor time between two workloads. Without a limit this only
    measures. Source: K866-COMPAT-availability, K866-PROC-no-downtime-broker-phase.
    """
    name = "longest_time_without_acked_write"
    sends = history.operations.of(OperationKind.PRODUCE)
    acked = int((sends.outcome == OperationOutcome.OK).sum())
    if not acked:
        return inconclusive(name, Kind.VACUOUS, f"{counted(len(sends), 'send')}, none acknowledged: nothing to measure")
    gaps = _gaps(history, sends)
    longest = int(np.argmax(gaps.length_ns))
    text = f"longest time without an acknowledged write: {_told(history, gaps, longest)}"
    facts = _facts(history, gaps, longest)
    if at_most_s is None or gaps.length_ns[longest] <= at_most_s * 1e9:
        return conforms(name, text, acknowledged=acked, **facts)
    too_long = np.flatnonzero(gaps.length_ns > at_most_s * 1e9)
    worst = too_long[np.argsort(-gaps.length_ns[too_long], kind="stable")][:MOST_VIOLATIONS]
    examples = [_violation(history, gaps, int(each), at_most_s) for each in worst]
    return violated(name, Kind.LIVENESS, f"{text}; allowed are {at_most_s:g} s", examples, len(too_long), **facts)


def _gaps(history: History, sends: Operations) -> Gaps:
    """The gaps of every stretch in which workloads ran, in the order of time."""
    stretch = np.searchsorted(_stretches(history), sends.began_ns, side="right")
    parts = [sends.where(stretch == each) for each in np.unique(stretch)]
    found = [gaps_between_acknowledgements(part.outcome, part.began_ns, part.ended_ns) for part in parts]
    return Gaps(np.concatenate([each.began_ns for each in found]), np.concatenate([each.ended_ns for each in found]))


def _stretches(history: History) -> npt.NDArray[np.int64]:
    """When a workload began while none was running."""
    running, starts = 0, []
    for event in history.of(EventKind.WORKLOAD_BEGAN, EventKind.WORKLOAD_ENDED):
        if event.kind is EventKind.WORKLOAD_ENDED:
            running = max(0, running - 1)
            continue
        if running == 0:
            starts.append(event.at_ns)
        running += 1
    return np.array(starts, np.int64)


def _told(history: History, gaps: Gaps, row: int) -> str:
    began, ended = int(gaps.began_ns[row]), int(gaps.ended_ns[row])
    faults = faults_during(history, began, ended)
    during = f", while {' and '.join(faults)} lasted" if faults else ""
    return f"{span(ended - began)}, from {when(history, began)}{during}"


def _facts(history: History, gaps: Gaps, longest: int) -> dict[str, float | str | list[str] | None]:
    began, ended = int(gaps.began_ns[longest]), int(gaps.ended_ns[longest])
    return {
        "longest_s": (ended - began) / 1e9,
        "began_ns": began,
        "ended_ns": ended,
        "phase": phase_at(history, began),
        "faults": faults_during(history, began, ended),
    }


def _violation(history: History, gaps: Gaps, row: int, at_most_s: float) -> Violation:
    expected = f"some write is acknowledged at least every {at_most_s:g} s while writers try"
    observed = f"none for {_told(history, gaps, row)}"
    return violation_at(history, expected, observed, int(gaps.began_ns[row]))
