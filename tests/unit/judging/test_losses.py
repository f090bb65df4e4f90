"""What is judged of a run that lost a part of the harness: what was seen until then, and nothing that came later."""

import pytest

from pytest_kmigrate.checkers.run.doubts import not_blamed, spared
from pytest_kmigrate.checkers.run.losses import until_loss
from pytest_kmigrate.judging.judge import judged, outcome_of
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.operations import OperationOutcome
from pytest_kmigrate.model.verdict import Kind, Outcome, Violation, violates
from tests.unit.checkers.histories import MS, Row, event, history, read_back, sent

S = 1000
CHECKS = event(
    EventKind.CHECKS,
    200 * S,
    checks=[
        {"name": "longest_time_without_acked_write", "arguments": {"at_most_s": 9}},
        {"name": "no_acked_record_lost"},
    ],
)
ACKED: list[Row] = [sent(number, began_ns=number * S * MS, ended_ns=number * S * MS + MS) for number in range(10)]
STARVED = [
    *ACKED,
    sent(10, began_ns=10 * S * MS, ended_ns=91 * S * MS),
    *(read_back(number, began_ns=95 * S * MS, ended_ns=95 * S * MS) for number in range(11)),
]
"""Clients got no answer from 10 s to 91 s."""
CLIENTS = event(EventKind.WORKLOAD_BEGAN, 0, workload="clients", topics=["orders"], group="")


def lost(at_ms: int, part: str = "links") -> Event:
    """A part was gone from then on."""
    return event(EventKind.HARNESS_TROUBLE, at_ms, what=f"{part} are gone", error="exit code -9", lost=part)


@pytest.mark.parametrize("part", ["links", "supervisor", "engine", "clients"])
def test_no_liveness_is_violated_after_a_loss(part: str) -> None:
    """The writes that were not acknowledged went over links that were gone; nothing conforms either."""
    verdicts = judged(history(STARVED, [CLIENTS, lost(9_500, part), CHECKS]))
    assert {each.outcome for each in verdicts if each.counts} <= {Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE}
    (gap,) = [each for each in verdicts if each.check == "longest_time_without_acked_write"]
    assert (gap.outcome, gap.kind) == (Outcome.INCONCLUSIVE, Kind.HARNESS)
    assert f"{part} are gone" in gap.summary


def test_without_the_loss_the_same_run_violates() -> None:
    """Kafka acknowledged nothing for 81 s."""
    assert outcome_of(judged(history(STARVED, [CLIENTS, CHECKS]))) is Outcome.VIOLATES


@pytest.mark.parametrize(("at_ms", "outcome"), [(2 * S, Outcome.INCONCLUSIVE), (4 * S, Outcome.VIOLATES)])
def test_a_violation_of_safety_stands_if_it_was_seen_before(at_ms: int, outcome: Outcome) -> None:
    """What a test found wrong at 3 s counts if the links were there until then."""
    wrong = ExpectationEnded("topics", 3, 2, met=False, kind="SAFETY", within_s=1, took_ms=1).event(0, 3 * S * MS, None)
    assert outcome_of(judged(history(ACKED, sorted([wrong, lost(at_ms), CHECKS], key=_time)))) is outcome


@pytest.mark.parametrize(
    ("at_ms", "still", "outcome"),
    [
        (9_499, "odd", Outcome.VIOLATES),
        (9_500, "odd", Outcome.INCONCLUSIVE),  # how things were at the end, in the midst of a change
        (9_499, "even", Outcome.INCONCLUSIVE),  # what was recorded later shows that nothing was wrong
    ],
)
def test_a_violation_of_safety_is_seen_before_and_in_the_whole_run(at_ms: int, still: str, outcome: Outcome) -> None:
    """Otherwise the loss is what makes it."""
    verdict = violates(Kind.SAFETY, [Violation("even", "odd", at_ms * MS)]).by("as_it_ends").speaking_for("ROW")
    doubt = spared(history(ACKED, [lost(9_500)]))
    assert doubt is not None
    found = not_blamed(verdict, doubt, {still})
    assert (found.outcome, found.about[0].outcome) == (outcome, outcome)


def test_a_violation_stands_that_is_not_among_the_examples() -> None:
    """A verdict shows ten of them, in any order."""
    others = [Violation("even", f"odd {number}", 9_600 * MS) for number in range(10)]
    verdict = violates(Kind.SAFETY, [*others, Violation("even", "odd", 5 * MS)]).by("as_it_ends")
    doubt = spared(history(ACKED, [lost(9_500)]))
    assert doubt is not None
    assert not_blamed(verdict, doubt, {"odd"}).outcome is Outcome.VIOLATES


def test_deaths_that_follow_a_loss_are_not_judged() -> None:
    """The kernel kills nodes with the supervisor."""
    died = event(EventKind.NODE_DIED, 9_600, "broker-0", exit_code=-9, said="")
    started = event(EventKind.NODE_STARTED, 1, "broker-0", role="broker")
    verdicts = judged(history(ACKED, [started, lost(9_500, "supervisor"), died, CHECKS]))
    assert outcome_of(verdicts) is Outcome.INCONCLUSIVE
    assert not [each for each in verdicts if "broker-0" in each.summary]


def test_a_step_that_fails_after_a_loss_is_not_judged() -> None:
    """It waited for what could not come."""
    step = [
        event(EventKind.STEP_BEGAN, 9_000, step="enter", first_move=0, last_move=1, of_moves=1),
        event(EventKind.STEP_ENDED, 190 * S, step="enter", outcome="failed", reason="not within 180 s"),
    ]
    assert outcome_of(judged(history(ACKED, [step[0], lost(9_500), step[1], CHECKS]))) is Outcome.INCONCLUSIVE
    assert outcome_of(judged(history(ACKED, [*step, CHECKS]))) is Outcome.VIOLATES


def test_what_was_under_way_has_an_unknown_outcome() -> None:
    """Operations that began later are left out; what the test asked for is kept, at that moment."""
    cut = until_loss(history(STARVED, [CLIENTS, lost(20 * S), CHECKS]))
    assert len(cut.operations) == 11
    assert (cut.operations.outcome[-1], cut.operations.ended_ns[-1]) == (OperationOutcome.INDEFINITE, 20 * S * MS)
    assert [each.kind for each in cut.events] == [EventKind.WORKLOAD_BEGAN, EventKind.HARNESS_TROUBLE, EventKind.CHECKS]
    assert cut.end_ns == 20 * S * MS


def test_a_whole_run_is_left_as_it_is() -> None:
    """Trouble of another kind cuts nothing."""
    whole = history(STARVED, [CLIENTS, event(EventKind.HARNESS_TROUBLE, 5, what="a probe", error="late"), CHECKS])
    assert until_loss(whole) is whole


def _time(each: Event) -> int:
    return each.at_ns
