"""The controllers take over when every broker is up, and not before."""

import pytest

from pytest_kmigrate.checkers.takeover import WITHOUT_A_BROKER, takeover_waits_for_every_broker
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, phase


def started(at_ms: int, node: str, role: str = "broker") -> Event:
    """A node's start."""
    return event(EventKind.NODE_STARTED, at_ms, node, role=role)


def stopped(at_ms: int, node: str) -> Event:
    """A node's end."""
    return event(EventKind.NODE_STOPPED, at_ms, node, how="killed")


BEFORE = [started(1, "broker-0"), started(2, "broker-1"), started(3, "controller-3000", "controller")]
WAITING = [*BEFORE, phase(10, "ZOOKEEPER"), phase(1000, "PREPARING")]


@pytest.mark.parametrize("first", ["COPYING", "HYBRID"])
def test_a_takeover_without_a_broker_violates(first: str) -> None:
    """Violating: one was down, whichever phase was seen first; the message says since when."""
    events = [*WAITING, stopped(2000, "broker-1"), phase(3500, first), phase(3600, "HYBRID")]
    verdict = takeover_waits_for_every_broker(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    assert verdict.facts["signatures"] == [WITHOUT_A_BROKER]
    (found,) = verdict.violations
    assert found.expected == "the controllers wait until broker-1 is up"
    assert found.observed.endswith("and it had been down for 1.5 s")


@pytest.mark.parametrize(
    "after",
    [
        [started(2500, "broker-1"), phase(3500, "COPYING")],  # registered, though it was not yet seen to be ready
        [event(EventKind.RUN_ENDED, 9000)],  # they still wait
        [phase(3500, "ZOOKEEPER"), stopped(3600, "controller-3000")],  # the migration was undone
    ],
)
def test_controllers_that_wait_conform(after: list[Event]) -> None:
    """Conforming: it was down, and nothing began before it was started again; a controller's end is no broker's."""
    verdict = takeover_waits_for_every_broker(history(events=[*WAITING, stopped(2000, "broker-1"), *after]))
    assert verdict.outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "events",
    [
        [],
        [*WAITING, phase(3500, "COPYING")],
        [*BEFORE, stopped(500, "broker-1"), started(600, "broker-1"), *WAITING[-2:], phase(3500, "COPYING")],
        [*WAITING, phase(3500, "COPYING"), phase(3600, "HYBRID"), stopped(4000, "broker-1")],
    ],
)
def test_a_run_in_which_all_were_up_is_inconclusive(events: list[Event]) -> None:
    """Inconclusive: whether they would have waited was not asked."""
    verdict = takeover_waits_for_every_broker(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
