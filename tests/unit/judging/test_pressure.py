"""What is judged of a run under pressure: nothing that did not come in time because others kept the machine busy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.evidence.findings import violated
from pytest_kmigrate.checkers.run.pressure import relieved, strains
from pytest_kmigrate.judging.judge import judged, outcome_of
from pytest_kmigrate.judging.parts import left_of
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation, violates
from tests.unit.checkers.histories import MS, Row, event, history, read_back, sent

S = 1000
CHECKS = event(
    EventKind.CHECKS,
    60 * S,
    checks=[{"name": "longest_time_without_acked_write", "arguments": {"at_most_s": 9}}],
)
GAP = [sent(0, ended_ns=MS), sent(1, began_ns=20 * S * MS, ended_ns=32 * S * MS), read_back(0), read_back(1)]
"""No write was acknowledged from 20 s to 32 s."""
BUSY = {"waiting": 21.0, "foreign": 0.9}


def pressure(from_s: float, to_s: float, **measured: Any) -> Event:
    """One span of the machine."""
    return event(EventKind.MACHINE_PRESSURE, int(to_s * S), from_ns=int(from_s * S) * MS, **measured)


def gap(*spans: Event, rows: Sequence[Row] = GAP) -> Verdict:
    """The verdict about the time without writes."""
    (found,) = [
        each for each in judged(history(rows, [*spans, CHECKS])) if each.check == "longest_time_without_acked_write"
    ]
    return found


@pytest.mark.parametrize(
    ("measured", "kind"),
    [
        (BUSY, Kind.INFRA),
        ({"memory": 0.5, "foreign_memory": 0.8}, Kind.INFRA),
        ({"io": 0.8, "foreign_io": 0.9}, Kind.INFRA),
        ({"late_ms": 9_000}, Kind.HARNESS),
    ],
)
def test_no_liveness_is_violated_under_pressure(measured: dict[str, Any], kind: Kind) -> None:
    """From 22 s to 31 s others had the processors, the memory, the disk; or pytest stood still."""
    verdict = gap(pressure(22, 31, **measured))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.INCONCLUSIVE, kind, 0)
    assert "Kafka is not to blame" in verdict.summary


@pytest.mark.parametrize(
    "spans",
    [
        [],
        [pressure(0, 19, **BUSY)],  # before
        [pressure(33, 50, **BUSY)],  # after
        [pressure(20, 22, **BUSY)],  # too short to explain 12 s
        [pressure(20, 32, waiting=3.0, foreign=0.9)],  # as two clusters that start
        [pressure(20, 32, waiting=21.0, foreign=0.1)],  # the run's own traffic
        [pressure(20, 32, io=0.8, foreign_io=0.1)],  # the run's own writes
        [pressure(20, 32, memory=0.9, foreign_memory=0.2)],  # the run's own nodes
        [pressure(20, 32, memory=0.9)],  # whose memory it was is not known
        [pressure(20, 32, late_ms=300)],
    ],
)
def test_other_pressure_excuses_nothing(spans: list[Event]) -> None:
    """None, at another time, too short, too little, or of the run itself."""
    assert (gap(*spans).outcome, gap(*spans).kind) == (Outcome.VIOLATES, Kind.LIVENESS)


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("", Outcome.INCONCLUSIVE),
        ("Session 0x1 expired", Outcome.INCONCLUSIVE),
        ("org.apache.kafka.common.errors.TimeoutException: Timed out", Outcome.INCONCLUSIVE),
        ("java.lang.NullPointerException", Outcome.VIOLATES),
        ("IllegalStateException: Offset goes backward", Outcome.VIOLATES),
    ],
)
def test_a_busy_machine_explains_a_death_that_is_about_time(said: str, outcome: Outcome) -> None:
    """An exception about something else is Kafka's, however busy the machine was."""
    started = event(EventKind.NODE_STARTED, 0, "broker-1", role="broker")
    died = event(EventKind.NODE_DIED, 40 * S, "broker-1", exit_code=1, said=said)
    verdicts = judged(history(events=[started, pressure(10, 40, **BUSY), died, CHECKS]))
    assert {each.check: each.outcome for each in verdicts}["no_unexpected_death"] is outcome


def test_short_spans_add_up() -> None:
    """Each is too short by itself."""
    assert gap(pressure(21, 23, **BUSY), pressure(28, 30, **BUSY)).outcome is Outcome.INCONCLUSIVE


def test_what_was_not_awaited_stands() -> None:
    """A refusal is no matter of time."""
    under = strains(history([], [pressure(0, 60, **BUSY)]))
    refused = violates(Kind.LIVENESS, [Violation("accepted", "refused", 21 * S * MS)]).by("c").speaking_for("ROW")
    late = violates(Kind.LIVENESS, [Violation("in time", "late", 21 * S * MS, (), (0, 21 * S * MS))]).by("c")
    at_once = violates(Kind.LIVENESS, [Violation("accepted", "refused", 21 * S * MS, (), (S * MS, S * MS))]).by("c")
    assert relieved(refused, under) == refused
    assert relieved(at_once, under) == at_once
    found = relieved(late.speaking_for("ROW"), under)
    assert (found.outcome, found.about[0].outcome) == (Outcome.INCONCLUSIVE, Outcome.INCONCLUSIVE)


def test_what_is_beyond_the_examples_of_a_verdict_stands() -> None:
    """A verdict shows ten: the eleventh was awaited at another time, or the check has only counted it."""
    under = strains(history([], [pressure(0, 20, **BUSY)]))
    late = [Violation("in time", f"late {number}", 1, (), (0, 20 * S * MS)) for number in range(11)]
    assert relieved(violates(Kind.LIVENESS, late).by("c"), under).outcome is Outcome.INCONCLUSIVE
    alone = replace(late[-1], awaited=(100 * S * MS, 200 * S * MS))
    assert relieved(violates(Kind.LIVENESS, [*late[:10], alone]).by("c"), under).outcome is Outcome.VIOLATES
    counted = violated(Kind.LIVENESS, "11 x", late[:10], 11)
    assert relieved(counted, under) == counted


def test_what_known_bugs_leave_is_excused_by_its_own_time() -> None:
    """Not by that of what they explain."""
    under = strains(history([], [pressure(0, 20, **BUSY)]))
    both = [Violation("in time", text, 1, (), awaited) for text, awaited in (("a", (0, S)), ("b", (0, 20 * S * MS)))]
    verdict = violates(Kind.LIVENESS, both).by("c")
    parts = [replace(verdict, violations=(each,), every=(each,)) for each in both]
    assert relieved(left_of(verdict, parts[1:], 0, ["KAFKA-1"]), under).outcome is Outcome.INCONCLUSIVE
    assert relieved(left_of(verdict, parts[1:], 1, ["KAFKA-1"]), under).outcome is Outcome.VIOLATES


def test_every_long_wait_has_its_own_time() -> None:
    """Of the last of eleven, the shortest, others kept the machine from nothing."""
    waits = [(20 * each, 20 * each + (14 if each < 10 else 12)) for each in range(11)]
    rows = [sent(each, began_ns=at * S * MS, ended_ns=to * S * MS) for each, (at, to) in enumerate(waits)]
    found = gap(pressure(0, 199, **BUSY), rows=rows)
    assert (found.outcome, found.count) == (Outcome.VIOLATES, 11)
    assert gap(pressure(0, 220, **BUSY), rows=rows).outcome is Outcome.INCONCLUSIVE


def test_what_was_lost_stays_lost() -> None:
    """Pressure loses no acknowledged record."""
    checks = event(EventKind.CHECKS, 60 * S, checks=[{"name": "no_acked_record_lost"}])
    assert outcome_of(judged(history([*GAP, sent(2)], [pressure(0, 60, **BUSY), checks]))) is Outcome.VIOLATES


def test_pressure_alone_makes_nothing_doubtful() -> None:
    """What came in time came in time."""
    assert gap(pressure(0, 60, **BUSY), rows=GAP[:1]).outcome is Outcome.CONFORMS


def test_a_harness_that_stood_still_proves_nothing() -> None:
    """It observed nothing in that time."""
    verdict = gap(pressure(5, 32, late_ms=25_000), rows=GAP[:1])
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert "the harness stood still for 25.0 s" in verdict.summary
