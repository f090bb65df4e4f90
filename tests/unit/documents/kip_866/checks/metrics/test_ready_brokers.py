"""Check that brokers which are away do not count as ready."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.metrics.ready_brokers import only_live_brokers_count_as_ready
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, history, sample
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, stopped
from tests.unit.documents.kip_866.diagnoses.naming import named

BOTH = [controller(), *migrating(1_000, 0), *migrating(1_000, 1)]


def counted(count: float | None, *events: Event, active: float = 1, until_ms: int = 40_000) -> History:
    """A controller reports this count from 11 s on; broker-1 was stopped after 10 s."""
    reported = {"ActiveControllerCount": active, "MigratingZkBrokerCount": count}
    samples = [sample(at, "controller-3000", **reported) for at in range(11_000, until_ms, 1_000)]
    return history(events=[*BOTH, *(events or [stopped(10_000)])], samples=samples)


def each_twice() -> History:
    """Two controllers were active one after the other, and reported twice each while the broker was away."""
    run = counted(1, until_ms=27_000)
    values = {"ActiveControllerCount": 1.0, "MigratingZkBrokerCount": 1.0}
    others = [sample(at, "controller-3001", **values) for at in (27_500, 28_500)]
    return replace(run, events=(*run.events, controller(0, 3001)), samples=(*run.samples, *others))


def test_a_broker_that_is_away_and_counted_violates() -> None:
    """Violating: from 15 s on; more than are registered is not excused."""
    verdict = only_live_brokers_count_as_ready.judge(counted(2))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].expected.startswith("MigratingZkBrokerCount is 1 at most")
    assert verdict.violations[0].observed.startswith("controller-3000 reported 2, for 14.0 s (25.0 s after")
    assert named(counted(2), verdict) == ("fenced-brokers-counted-as-ready",)
    assert named(counted(3), only_live_brokers_count_as_ready.judge(counted(3))) == ()


def test_a_broker_that_starts_in_kraft_mode_is_registered_as_before_until_it_is_ready() -> None:
    """One is away, and another one is rolled on: what is counted is their registrations, and no more."""
    rolled = [stopped(10_000), *broker(11_000, 0, "kraft", ready_ms=None)]
    assert named(counted(2, *rolled), only_live_brokers_count_as_ready.judge(counted(2, *rolled))) == (
        "fenced-brokers-counted-as-ready",
    )
    for more in (counted(3, *rolled), counted(2, stopped(10_000), *broker(11_000, 0, "kraft"))):
        assert named(more, only_live_brokers_count_as_ready.judge(more)) == ()


def test_a_broker_reconfigured_while_it_is_down_is_registered_as_it_was_started() -> None:
    """Its configuration has no flag any more; that is in force from its next start on."""
    changed = event(EventKind.NODE_RECONFIGURED, 11_000, "broker-1", changed={MIGRATION_FLAG: None}, mode="kraft")
    verdict = only_live_brokers_count_as_ready.judge(counted(2, stopped(10_000), changed))
    assert named(counted(2, stopped(10_000), changed), verdict) == ("fenced-brokers-counted-as-ready",)


def test_a_count_of_those_that_live_conforms() -> None:
    """Conforming: also of one that is paused, and of less than all."""
    assert only_live_brokers_count_as_ready.judge(counted(1)).outcome is Outcome.CONFORMS
    paused = event(EventKind.NODE_PAUSED, 10_000, "broker-1")
    assert only_live_brokers_count_as_ready.judge(counted(0, paused)).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "reported",
    [
        counted(2, until_ms=24_000),
        counted(2, active=0),
        counted(None),
        counted(2, stopped(10_000), *broker(20_000)),
        counted(2, event(EventKind.NODE_PAUSED, 10_000, "broker-1"), event(EventKind.NODE_RESUMED, 20_000, "broker-1")),
        each_twice(),
    ],
    ids=["too early", "not active", "not reported", "back again", "resumed", "each reported twice"],
)
def test_without_a_broker_that_stays_away_nothing_is_proved(reported: History) -> None:
    """Vacuous: nothing that a count could be wrong about."""
    assert only_live_brokers_count_as_ready.judge(reported).outcome is Outcome.INCONCLUSIVE
