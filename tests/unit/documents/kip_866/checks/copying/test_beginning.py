"""Check of how a migration begins."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.copying.beginning import migration_begins_when_every_node_is_ready
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, sample, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, stopped
from tests.unit.documents.kip_866.checks.outcomes import looked_at
from tests.unit.documents.kip_866.diagnoses.naming import named

COUNTED = {"ActiveControllerCount": 1, "MigratingZkBrokerCount": 2}
NODES = [controller(), controller(0, 3001), *migrating(1_000, 0), *migrating(1_000, 1)]


def taken(*events: Event) -> History:
    """KRaft took over after 20 s."""
    return history(events=[*NODES, *events], znodes=[znode(20_000, "/controller", CLAIM)])


def untaken(*events: Event, ended_ms: int = 200_000) -> History:
    """KRaft never took over."""
    return history(events=[*NODES, *events, event(EventKind.CHECKS, ended_ms)])


def test_a_take_over_with_every_node_ready_conforms() -> None:
    """Conforming: also where one has just been restarted, or was there on trial and its disk was wiped."""
    trial = [*broker(5_000, 2), stopped(6_000, "broker-2"), event(EventKind.NODE_WIPED, 6_100, "broker-2")]
    for events in ([], trial, [stopped(19_500, "broker-1")], [stopped(10_000), *broker(19_000, ready_ms=None)]):
        verdict = migration_begins_when_every_node_is_ready.judge(taken(*events))
        assert looked_at(verdict) == dict.fromkeys(("TRIG-automatic", "TRIG-only-when-every-node"), "CONFORMS")


@pytest.mark.parametrize(
    ("events", "observed", "known"),
    [
        ([stopped(10_000, "broker-1")], "broker-1 had been down for 10.0 s", ("takeover-without-a-broker",)),
        (
            [event(EventKind.NODE_READY, 500, "controller-3001", took_ms=1), stopped(10_000, "controller-3001")],
            "controller-3001 had been down for 10.0 s",
            ("takeover-without-a-controller",),
        ),
        (broker(5_000, 2), "broker-2 was not in migration mode", ()),
    ],
)
def test_a_take_over_without_a_node_violates(events: list[Event], observed: str, known: tuple[str, ...]) -> None:
    """Violating: the one row; each kind of node that is down is a departure of its own."""
    run = replace(taken(*events), samples=[sample(20_100, "controller-3000", **COUNTED)])
    verdict = migration_begins_when_every_node_is_ready.judge(run)
    assert looked_at(verdict) == {"TRIG-automatic": "CONFORMS", "TRIG-only-when-every-node": "VIOLATES"}
    assert verdict.violations[0].observed.startswith(observed)
    assert named(run, verdict) == known


def test_a_migration_that_does_not_begin_by_itself_violates() -> None:
    """Violating: every node was ready for two minutes."""
    verdict = migration_begins_when_every_node_is_ready.judge(untaken())
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert looked_at(verdict) == {"TRIG-automatic": "VIOLATES"}


@pytest.mark.parametrize(
    "run",
    [
        untaken(ended_ms=100_000),
        untaken(*fault(50_000)),
        untaken(*broker(2_000, 2)),
        untaken(stopped(2_000, "controller-3001")),
    ],
    ids=["too early", "under a fault", "a broker not in migration mode", "a controller down"],
)
def test_a_migration_that_need_not_begin_proves_nothing(run: History) -> None:
    """Vacuous."""
    assert migration_begins_when_every_node_is_ready.judge(run).outcome is Outcome.INCONCLUSIVE
