"""Facts about times without an active controller."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.checkers.controllers.absent import longest_time_without_active_controller
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, sample

CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
STARTED = [event(EventKind.NODE_STARTED, 0, node, role="controller") for node in CONTROLLERS]
KILLED = event(EventKind.NODE_STOPPED, 10_500, "controller-3000", how="killed")


def reported(from_s: int, to_s: int, *active: int, by: Sequence[str] = CONTROLLERS) -> list[Sample]:
    """What controllers report each second: whether they are active, in the order of their names."""
    return [
        sample(at_s * 1_000 + number, node, ActiveControllerCount=float(number in active))
        for at_s in range(from_s, to_s)
        for number, node in enumerate(by)
    ]


def judged(samples: Sequence[Sample], *events: Event) -> tuple[Outcome, Kind | None, int]:
    """Outcome and kind, and how many times were too long."""
    verdict = longest_time_without_active_controller.judge(history(events=[*STARTED, *events], samples=samples))
    return verdict.outcome, verdict.kind if verdict.outcome is Outcome.VIOLATES else None, verdict.count


LEFT = CONTROLLERS[1:]
CALM = reported(0, 60, 0)
FOUND = (Outcome.VIOLATES, Kind.LIVENESS, 1)


@pytest.mark.parametrize(
    ("samples", "events"),
    [
        (CALM, []),
        ([*reported(0, 10, 0), *reported(12, 40, by=LEFT), *reported(41, 60, 0, by=LEFT)], [KILLED]),
        ([*reported(0, 10, 0), *reported(10, 60, by=CONTROLLERS[2:])], []),
        ([*reported(0, 10, 0), *reported(45, 60, 0)], []),
    ],
    ids=["always one", "an election within the bound", "a minority reports", "no sample at all"],
)
def test_an_election_takes_a_while(samples: Sequence[Sample], events: Sequence[Event]) -> None:
    """Without a majority that reports, nothing is known of a leader, nor can there be one."""
    assert judged(samples, *events)[0] is Outcome.CONFORMS


def test_a_majority_without_an_active_controller_for_too_long_violates() -> None:
    """The active one was killed, and the two others elect none for 43 s."""
    samples = [*reported(0, 10, 0), *reported(12, 55, by=LEFT), *reported(55, 60, 0, by=LEFT)]
    assert judged(samples, KILLED) == FOUND
    assert judged(samples[: len(samples) - 10], KILLED) == FOUND  # to the end of the run


def test_a_time_is_not_judged_in_which_controllers_may_be_apart() -> None:
    """A fault on links may keep a majority from each other; one on a process does not."""
    samples = [*reported(0, 10, 0), *reported(12, 55), *reported(55, 60, 0)]
    cut = fault(11_000, "partition(controllers)", effect="partition")
    assert judged(samples, *cut)[0] is Outcome.CONFORMS
    assert judged(samples, *fault(11_000, "kill(broker-1)", effect="kill")) == FOUND


def test_without_a_controller_there_is_nothing_to_judge() -> None:
    """A broker's count of active controllers is about ZooKeeper."""
    verdict = longest_time_without_active_controller.judge(history(samples=reported(0, 5, 0, by=["broker-0"])))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
