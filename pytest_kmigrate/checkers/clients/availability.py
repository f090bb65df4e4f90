"""Check of availability: how long writes to any partition, or to one of them, were not acknowledged."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.evidence.findings import violated, violation_at
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import faults_during, meanwhile, phase_at, when
from pytest_kmigrate.checkers.evidence.replicas import Spans, served_ns, unserved, unserved_together
from pytest_kmigrate.checkers.evidence.stretches import stretches
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.checkers.kernels import Gaps, different, gaps_between_acknowledgements
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


@dataclass(frozen=True)
class _Gap:
    """A span in which writers tried and none was acknowledged."""

    began_ns: int
    ended_ns: int
    place: str = ""
    """The partition that was written to; "" if no write to any was acknowledged."""
    left_out: Spans = ()
    """When too few replicas ran for any write."""

    @property
    def length_ns(self) -> int:
        return self.ended_ns - self.began_ns

    @property
    def judged_ns(self) -> int:
        return served_ns(self.began_ns, self.ended_ns, self.left_out)


@checker(needs=[Capability.TRAFFIC])
def longest_time_without_acked_write(history: History, at_most_s: float | None = None) -> Verdict:
    """The longest time in which writers tried and none was acknowledged; above ``at_most_s`` it violates liveness.

    The same holds of each partition by itself: no others' writes make up for those that wait for a leader there. Time
    in which no send was in progress does not count, nor time between two workloads, nor time in which too few replicas
    ran for any write. Without a limit this only measures.
    """
    sends = history.operations.of(OperationKind.PRODUCE)
    acked = int((sends.outcome == OperationOutcome.OK).sum())
    if not acked:
        return inconclusive(Kind.VACUOUS, f"{counted(len(sends), 'send')}, none acknowledged: nothing to measure")
    begins = np.array([each.began_ns for each in stretches(history)], np.int64)
    limit_ns = np.inf if at_most_s is None else at_most_s * 1e9
    by_place = dict(partitions(sends))
    everywhere = _longest(gaps_in(begins, sends), limit_ns, unserved_together(history, by_place))
    one_by_one = [
        gap
        for place, mine in by_place.items()
        for gap in _longest(gaps_in(begins, mine), limit_ns, unserved(history, place), place)
    ]
    one_by_one.sort(key=lambda gap: -gap.length_ns)
    text = _summary(history, everywhere[0], one_by_one[:1])
    facts = _facts(history, everywhere[0], one_by_one[:1])
    long = [gap for gap in everywhere if gap.judged_ns > limit_ns]
    # Where nothing was acknowledged anywhere, it is not repeated for every partition.
    long += [gap for gap in one_by_one if gap.judged_ns > limit_ns and not any(_overlap(gap, each) for each in long)]
    if at_most_s is None or not long:
        return conforms(text, acknowledged=acked, **facts)
    examples = [_violation(history, gap, at_most_s) for gap in long]
    reported = f"{text}; allowed are {at_most_s:g} s"
    too_long_ns = [[gap.began_ns, gap.ended_ns] for gap in long]
    return violated(Kind.LIVENESS, reported, examples, len(long), too_long_ns=too_long_ns, **facts)


def gaps_in(begins: npt.NDArray[np.int64], sends: Operations) -> Gaps:
    """The gaps of every stretch in which workloads ran, in the order of time."""
    stretch = np.searchsorted(begins, sends.began_ns, side="right")
    parts = [sends.where(stretch == each) for each in different(stretch)]
    found = [gaps_between_acknowledgements(part.outcome, part.began_ns, part.ended_ns) for part in parts]
    return Gaps(np.concatenate([each.began_ns for each in found]), np.concatenate([each.ended_ns for each in found]))


def _longest(gaps: Gaps, limit_ns: float, left_out: Spans, place: str = "") -> list[_Gap]:
    """The gaps above the limit, longest first; if there are none, the longest."""
    rows = np.flatnonzero(gaps.length_ns > limit_ns)
    rows = (
        rows[np.argsort(-gaps.length_ns[rows], kind="stable")]
        if len(rows)
        else np.argmax(gaps.length_ns, keepdims=True)
    )
    pairs = zip(gaps.began_ns[rows].tolist(), gaps.ended_ns[rows].tolist(), strict=True)
    return [_Gap(began_ns, ended_ns, place, left_out) for began_ns, ended_ns in pairs]


def _overlap(gap: _Gap, other: _Gap) -> bool:
    return gap.began_ns < other.ended_ns and other.began_ns < gap.ended_ns


def _summary(history: History, longest: _Gap, in_one: list[_Gap]) -> str:
    text = f"longest time without an acknowledged write: {_told(history, longest)}"
    is_worse = any(gap.length_ns > longest.length_ns for gap in in_one)
    return text + (f"; to {in_one[0].place} alone: {_told(history, in_one[0])}" if is_worse else "")


def _told(history: History, gap: _Gap) -> str:
    during = meanwhile(history, gap.began_ns, gap.ended_ns)
    unserved_ns = gap.length_ns - gap.judged_ns
    alone = f" ({span(unserved_ns)} of it without the replicas that a write needs)" if unserved_ns else ""
    return f"{span(gap.length_ns)}, from {when(history, gap.began_ns)}{during}{alone}"


def _facts(history: History, longest: _Gap, in_one: list[_Gap]) -> dict[str, object]:
    return {
        "longest_s": longest.length_ns / 1e9,
        "began_ns": longest.began_ns,
        "ended_ns": longest.ended_ns,
        "phase": phase_at(history, longest.began_ns),
        "faults": faults_during(history, longest.began_ns, longest.ended_ns),
        **{key: value for gap in in_one for key, value in _in_one_partition(gap).items()},
    }


def _in_one_partition(gap: _Gap) -> dict[str, object]:
    return {"place": gap.place, "longest_in_place_s": gap.length_ns / 1e9, "began_in_place_ns": gap.began_ns}


def _violation(history: History, gap: _Gap, at_most_s: float) -> Violation:
    where = f" to {gap.place}" if gap.place else ""
    expected = f"some write{where} is acknowledged at least every {at_most_s:g} s while writers try"
    observed, awaited = f"none for {_told(history, gap)}", (gap.began_ns, gap.ended_ns)
    return violation_at(history, expected, observed, gap.began_ns, awaited=awaited)
