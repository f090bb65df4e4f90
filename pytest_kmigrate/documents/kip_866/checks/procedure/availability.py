"""Check of availability in a migration: each partition goes on taking writes, while no fault is in force."""

from collections.abc import Iterator, Sequence

import numpy as np

from pytest_kmigrate.checkers.clients.availability import gaps_in
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import faults_during, when
from pytest_kmigrate.checkers.evidence.replicas import served_ns, unserved
from pytest_kmigrate.checkers.evidence.stretches import stretches
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.procedure import ENTER_MIGRATION, ROLL_TO_KRAFT
from pytest_kmigrate.model.checks import Cause, checker
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict

_ALWAYS, _BROKERS = "K866-COMPAT-availability", "K866-PROC-no-downtime-broker-phase"
_ROLLED = (ENTER_MIGRATION.name, ROLL_TO_KRAFT.name)
_MOST_NS = 20_000_000_000
"""Twice the session of a broker (9 s), and a little: a controlled shutdown costs no session at all."""

_Spans = Sequence[tuple[int, int]]


@checker(
    _ALWAYS,
    _BROKERS,
    in_every_run=lambda history: bool(history.of(StepBegan)),
    anomaly="partition without writes",
    doubt=Cause.READING_BACK,
)
def partitions_stay_available(history: History) -> Verdict:
    """From the first step to the last no partition goes without an acknowledged write for 20 s while writers try.

    The broker phase is while steps roll the brokers. Time in which a fault was in force is not judged, nor time in
    which too few replicas of a partition ran for any write.
    """
    rows = ByRequirement(_ALWAYS, _BROKERS)
    steps = list(_steps(history))
    whole = [(steps[0][1], max(ended for _, _, ended in steps))] if steps else []
    rolled = [(began, ended) for name, began, ended in steps if name in _ROLLED]
    sends = history.operations.of(OperationKind.PRODUCE)
    begins = np.array([each.began_ns for each in stretches(history)], np.int64)
    longest_ns = 0
    for place, mine in partitions(sends):
        for row, spans in ((_ALWAYS, whole), (_BROKERS, rolled)):
            rows.looked_at(row, _acknowledged(mine, spans) if _tried_ns(mine) > _MOST_NS else 0)
        gaps = gaps_in(begins, mine)
        longest_ns = max(longest_ns, int(gaps.length_ns.max(initial=0)))
        is_long = gaps.length_ns > _MOST_NS
        for began, ended in zip(gaps.began_ns[is_long].tolist(), gaps.ended_ns[is_long].tolist(), strict=True):
            is_judged = served_ns(began, ended, unserved(history, place)) > _MOST_NS
            if is_judged and not faults_during(history, began, ended):
                for row, spans in ((_ALWAYS, whole), (_BROKERS, rolled)):
                    if any(began < to and ended > since for since, to in spans):
                        _violated(history, rows, row, place, (began, ended))
    text = f"no partition went without an acknowledged write for more than {span(longest_ns)}"
    return rows.verdict(text, f"no partition was written to for {span(_MOST_NS)} around a step")


def _steps(history: History) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of each step; one that was never seen to end lasted to the end of the run."""
    ended = history.of(StepEnded)
    for began in history.of(StepBegan):
        name = began.what.step
        ends = (each.at_ns for each in ended if each.what.step == name and each.seq > began.seq)
        yield name, began.at_ns, next(ends, history.end_ns)


def _acknowledged(sends: Operations, spans: _Spans) -> int:
    is_acked = sends.outcome == OperationOutcome.OK
    return sum(int((is_acked & (sends.ended_ns >= since) & (sends.ended_ns <= to)).sum()) for since, to in spans)


def _tried_ns(sends: Operations) -> int:
    """From the first attempt to the end of the last one: a gap cannot be longer."""
    return int(sends.ended_ns.max() - sends.began_ns.min()) if len(sends) else 0


def _violated(history: History, rows: ByRequirement, row: str, place: str, gap: tuple[int, int]) -> None:
    began_ns, ended_ns = gap
    observed = f"none was for {span(ended_ns - began_ns)} (from {when(history, began_ns)})"
    expected = f"some write to {place} is acknowledged every {span(_MOST_NS)} while writers try"
    rows.violated(row, violation_at(history, expected, observed, began_ns, awaited=gap), Kind.LIVENESS)
