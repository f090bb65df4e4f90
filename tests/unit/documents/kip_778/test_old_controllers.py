"""Diagnoses of controllers that end at a level that they do not know."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_778.checks.going_back import software_goes_back
from pytest_kmigrate.documents.kip_778.levels import AN_OLD_CONTROLLER_RUNS, ANSWER_TO_A_LEVEL, RECORDED_LEVELS
from pytest_kmigrate.documents.kip_778.procedure import LOWER, RAISE
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation, violates
from tests.unit.checkers.histories import MS, event, history, sample
from tests.unit.documents.kip_778.rolling import died, rolled, started, step
from tests.unit.documents.kip_866.diagnoses.naming import (
    explained_by,
    named_of_deaths,
    named_of_expectations,
    named_of_steps,
    unmet,
)

ONE_NEW = [
    started(0, "controller-3000", "3.9.1"),
    *(started(0, f"controller-{number}", "3.6.2") for number in (3001, 3002)),
    started(0, "broker-0", "3.9.1"),
]
ALL_NEW = [started(0, f"controller-{number}", "3.9.1") for number in (3000, 3001, 3002)]
OLD_ONES = [died(9_000, "controller-3001"), died(9_000, "controller-3002")]
ROSE = [
    sample(at, "controller-3000", CurrentMetadataVersion=level)
    for at, level in ((1_000, 14), (6_000, 14), (8_000, None), (9_000, 15))
]


def named(events: Sequence[Event], samples: Sequence[Sample] = ()) -> tuple[str, ...]:
    """The bugs that explain the deaths of this run."""
    return named_of_deaths(run_of(events, samples))


def run_of(events: Sequence[Event], samples: Sequence[Sample]) -> History:
    """A run of KIP-778."""
    run = history(events=events, samples=samples)
    return replace(run, header=replace(run.header, profile="kip-778"))


def test_most_controllers_end_at_a_level_that_rose() -> None:
    """All old ones, and no other node."""
    assert named([*ONE_NEW, *OLD_ONES], ROSE) == ("kmigrate-15",)
    assert named([*ONE_NEW, *OLD_ONES, died(9_000, "controller-3000")], ROSE) == ()
    assert named([*ONE_NEW, OLD_ONES[0]], ROSE) == ()
    assert named([*ONE_NEW, *OLD_ONES], ROSE[:3]) == (), "the level stayed"
    assert named([*ALL_NEW, *OLD_ONES], ROSE) == (), "they knew the level"


ACCEPTED = [
    unmet(7_000, ANSWER_TO_A_LEVEL, expected="INVALID_UPDATE_VERSION", observed="NONE"),
    unmet(8_000, RECORDED_LEVELS, expected=[14], observed=[14, 15]),
    unmet(9_100, AN_OLD_CONTROLLER_RUNS, expected=True, observed=False),
]


@pytest.mark.parametrize("each", ACCEPTED, ids=["accepted", "written", "ended"])
def test_that_the_level_was_accepted_is_the_same_bug(each: Event) -> None:
    """What the test expected of the refusal, in a run in which the old controllers ended by it; nothing before."""
    assert named_of_expectations(run_of([*ONE_NEW, *OLD_ONES, each], ROSE)) == ("kmigrate-15",)
    assert named_of_expectations(run_of([*ONE_NEW, each], ROSE)) == (), "they run"


@pytest.mark.parametrize(
    "each",
    [
        unmet(7_000, ANSWER_TO_A_LEVEL, expected="INVALID_UPDATE_VERSION", observed="UNKNOWN_SERVER_ERROR"),
        unmet(8_000, RECORDED_LEVELS, expected=[14], observed=[]),
        unmet(3_000, ANSWER_TO_A_LEVEL, expected="INVALID_UPDATE_VERSION", observed="NONE"),
    ],
    ids=["another error", "nothing is left", "long before it rose"],
)
def test_another_answer_is_not_this_bug(each: Event) -> None:
    """Though the old controllers ended later."""
    assert named_of_expectations(run_of([*ONE_NEW, *OLD_ONES, each], ROSE)) == ()


def test_old_controllers_end_after_the_way_back() -> None:
    """Rolled to the new release and back after the level was raised; any other death is another bug."""
    there = [each for number in (3000, 3001) for each in rolled(1_000, f"controller-{number}", "3.9.1")]
    raised, back = step(3_000, RAISE.name), rolled(5_000, "controller-3000", "3.8.1")
    begun = [started(0, f"controller-{number}", "3.8.1") for number in (3000, 3001)]
    end = died(6_000, "controller-3000")
    assert named([*begun, *there, *raised, *back, end]) == ("kmigrate-16",)
    assert named([*begun, *there, *back, end]) == (), "the level was not raised"
    assert named([*begun, *there, *raised, *back, end, died(6_100, "controller-3001")]) == ()
    assert named([*begun, *there, *step(3_000, RAISE.name, "failed"), *back, end]) == (), "the level may be as it was"
    stop = event(EventKind.NODE_STOPPED, 5_500, "controller-3000", exit_code=0, took_ms=100)
    served = [*back, stop, started(5_600, "controller-3000", "3.8.1")]
    assert named([*begun, *there, *raised, *served, end]) == (), "it ran until it was asked to stop"
    again = [died(5_500, "controller-3000"), started(5_600, "controller-3000", "3.8.1")]
    assert named([*begun, *there, *raised, *back, *again, end]) == ("kmigrate-16",)


THREE = [started(0, f"controller-{number}", "3.8.1") for number in (3000, 3001, 3002)]
THERE = [each for number in (3000, 3001, 3002) for each in rolled(1_000, f"controller-{number}", "3.9.1")]
WAY_BACK = [*THREE, started(0, "broker-0", "3.8.1"), *THERE, *step(3_000, RAISE.name)]


def back(number: int, at_ms: int = 5_000) -> list[Event]:
    """A controller is rolled back, and ends."""
    return [*rolled(at_ms, f"controller-{number}", "3.8.1"), died(at_ms + 1_000, f"controller-{number}")]


def numbered(events: Sequence[Event]) -> list[Event]:
    """In the order in which they came."""
    return [replace(each, seq=seq) for seq, each in enumerate(events)]


def slow(at_ms: int) -> Verdict:
    """Something did not come in time."""
    violation = Violation("a write is acknowledged", "none was", at_ms * MS)
    return violates(Kind.LIVENESS, [violation]).by("partitions_stay_available")


def test_what_does_not_come_has_this_cause_only_without_a_quorum() -> None:
    """Two controllers of three are a quorum, whatever ended the third."""
    one, two = (
        run_of(numbered([*WAY_BACK, *back(3000)]), ()),
        run_of(numbered([*WAY_BACK, *back(3000), *back(3001)]), ()),
    )
    assert explained_by(one, slow(7_000)) == ()
    assert explained_by(two, slow(7_000)) == ("kmigrate-16",)
    up_again = numbered([*two.events, started(8_000, "controller-3000", "3.9.1")])
    assert explained_by(run_of(up_again, ()), slow(9_000)) == ()
    assert explained_by(run_of([*ONE_NEW, *OLD_ONES], ROSE), slow(8_000)) == (), "they had not ended"
    assert explained_by(run_of([*ONE_NEW, *OLD_ONES], ROSE), slow(9_500)) == ("kmigrate-15",)


def test_that_the_old_release_does_not_stay_is_this_bug_of_controllers_alone() -> None:
    """What a broker does on its way back, or what ends where the level never rose, has another cause."""
    lowered = step(4_000, LOWER)
    of_a_broker = [*rolled(7_000, "broker-0", "3.8.1"), died(8_000, "broker-0")]
    new_broker = rolled(1_500, "broker-0", "3.9.1")

    def bugs(*events: Event) -> tuple[str, ...]:
        run = run_of(numbered(events), ())
        verdict = software_goes_back.judge(run)
        assert verdict.outcome is Outcome.VIOLATES
        return explained_by(run, verdict)

    assert bugs(*WAY_BACK, *lowered, *back(3000)) == ("kmigrate-16",)
    assert bugs(*WAY_BACK, *new_broker, *lowered, *back(3000), *of_a_broker) == ()
    assert bugs(*WAY_BACK, *new_broker, *lowered, *of_a_broker) == ()
    assert bugs(*THREE, *THERE, *lowered, *back(3000)) == (), "the level was not raised"


def test_a_step_that_fails_for_another_reason_is_another_bug() -> None:
    """Though a controller has ended that was rolled back."""
    for reason, bugs in (("controller-3000 ended while it read its log", ("kmigrate-16",)), ("broker-0 is away", ())):
        failed = [replace(each, data={**each.data, "reason": reason}) for each in step(6_500, "roll-back", "failed")]
        assert named_of_steps(run_of(numbered([*WAY_BACK, *back(3000), *failed]), ())) == bugs


def test_a_thread_of_a_broker_that_ends_is_another_bug() -> None:
    """It knows the level; the controllers that ended are explained."""
    thread = event(EventKind.THREAD_DIED, 7_000, "broker-0", thread="kafka-scheduler-1", said="ERROR x")
    run = run_of(numbered([*WAY_BACK, *back(3000)]), ())
    assert named_of_deaths(run) == ("kmigrate-16",)
    assert named_of_deaths(run_of(numbered([*run.events, thread]), ())) == ()
