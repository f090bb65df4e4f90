"""The controllers take over when every broker is up, and not before."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.takeover import takeover_waits_for_every_broker
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, phase, sample, znode


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
    verdict = takeover_waits_for_every_broker.judge(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.SAFETY)
    (found,) = verdict.violations
    assert found.expected == "the controllers wait until broker-1 is up"
    assert found.observed.endswith("and it had been down for 1.5 s")


def registered(count: float | None, *at_ms: int) -> list[Sample]:
    """How many brokers in migration mode a controller reported."""
    return [sample(at, "controller-3000", MigratingZkBrokerCount=count) for at in at_ms]


def claim(at_ms: int, epoch: int = 1) -> ZnodeChange:
    """A controller took ``/controller``."""
    held = {"version": 2, "brokerid": 3000, "timestamp": "1", "kraftControllerEpoch": epoch}
    return znode(at_ms, "/controller", json.dumps(held), 9, 1)


def killed(takeover_ms: int, at_ms: int) -> History:
    """A run in which a broker was killed around a take-over that the observer saw only when it looked next."""
    events = [*WAITING, stopped(at_ms, "broker-1"), phase(takeover_ms + 2_500, "COPYING")]
    return history(events=events, znodes=[claim(20, -1), claim(takeover_ms)])


def test_a_broker_that_died_after_the_takeover_is_no_violation() -> None:
    """Inconclusive: a trigger looks oftener than the observer, and kills before the phase is seen to change."""
    verdict = takeover_waits_for_every_broker.judge(killed(10_000, 10_080))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
    assert takeover_waits_for_every_broker.judge(killed(10_000, 9_500)).outcome is Outcome.INCONCLUSIVE


def test_a_takeover_is_told_by_the_controller_znode() -> None:
    """Violating: for as long as it had been down when /controller was taken, whenever the phase was seen."""
    (found,) = takeover_waits_for_every_broker.judge(killed(10_000, 7_000)).violations
    assert found.observed.endswith("and it had been down for 3.0 s")
    assert found.evidence[0] == "znode /controller version 1"


@pytest.mark.parametrize(
    "after",
    [
        [started(14_500, "broker-1"), phase(15_500, "COPYING")],  # registered, though it was not yet seen to be ready
        [event(EventKind.CHECKS, 19_000)],  # they still wait
        [phase(13_500, "ZOOKEEPER"), stopped(13_600, "controller-3000")],  # the migration was undone
    ],
)
def test_controllers_that_wait_conform(after: list[Event]) -> None:
    """Conforming: it was down, and nothing began before it was started again; a controller's end is no broker's."""
    events = [*WAITING, stopped(2_000, "broker-1"), *after]
    verdict = takeover_waits_for_every_broker.judge(
        history(events=events, samples=registered(2.0, 3_000, 9_000, 13_200))
    )
    assert verdict.outcome is Outcome.CONFORMS
    assert verdict.summary.endswith("none while a broker was down, as one was for 10.2 s with all registered")


@pytest.mark.parametrize(
    "samples",
    [
        [],
        registered(1.0, *range(3_000, 14_000, 500)),
        registered(None, *range(3_000, 14_000, 500)),
        [*registered(1.0, *range(3_000, 9_000, 500)), *registered(2.0, *range(9_000, 14_000, 500))],
    ],
    ids=["no samples", "one is missing", "no such metric", "the last one came late"],
)
def test_a_wait_for_one_that_never_registered_is_inconclusive(samples: list[Sample]) -> None:
    """Inconclusive: they waited for one that had not registered yet, or not for long enough."""
    events = [*WAITING, stopped(2_000, "broker-1"), started(14_500, "broker-1"), phase(15_500, "COPYING")]
    verdict = takeover_waits_for_every_broker.judge(history(events=events, samples=samples))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_brokers_that_were_only_rolled_show_nothing() -> None:
    """Inconclusive: each was down while another had still to register, as on every way forward."""
    rolled = [*(stopped(2_000, "broker-0"), started(3_000, "broker-0"))]
    rolled += [*(stopped(14_000, "broker-1"), started(26_000, "broker-1"))]
    samples = [*registered(1.0, *range(4_000, 27_000, 500)), *registered(2.0, 27_500)]
    run = history(events=[*WAITING, *rolled, phase(28_000, "COPYING")], samples=samples)
    verdict = takeover_waits_for_every_broker.judge(run)
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


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
    verdict = takeover_waits_for_every_broker.judge(history(events=events))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)
