"""Check that a broker starts in ZooKeeper mode after it ran in KRaft mode."""

import pytest

from pytest_kmigrate.documents.kip_866.checks.zookeeper_mode_again import (
    brokers_start_in_zookeeper_mode_again,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history
from tests.unit.documents.kip_866.checks.nodes import broker, stopped

KRAFT = [*broker(0), stopped(1_000), *broker(2_000, mode="kraft"), stopped(3_000)]
DIED = event(EventKind.NODE_DIED, 6_000, "broker-1", exit_code=1, said="")


def again(*events: Event, ended_ms: int = 10_000) -> History:
    """A broker ran in KRaft mode, and then this."""
    return history(events=[*KRAFT, *events, event(EventKind.CHECKS, ended_ms)])


def test_a_broker_that_is_ready_conforms() -> None:
    """Conforming."""
    assert brokers_start_in_zookeeper_mode_again.judge(again(*broker(5_000))).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    "run", [again(*broker(5_000, ready_ms=None), DIED), again(*broker(5_000, ready_ms=None), ended_ms=200_000)]
)
def test_a_broker_that_dies_or_hangs_violates(run: History) -> None:
    """Violating."""
    verdict = brokers_start_in_zookeeper_mode_again.judge(run)
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)


@pytest.mark.parametrize(
    "run",
    [
        history(events=[*broker(0), stopped(1_000), *broker(2_000)]),
        again(*broker(5_000, ready_ms=None)),
        again(*broker(5_000, ready_ms=None), stopped(6_000)),
        again(*fault(4_000), *broker(5_000, ready_ms=None), DIED),
        again(event(EventKind.NODE_WIPED, 4_000, "broker-1"), *broker(5_000)),
    ],
    ids=["never in KRaft mode", "too early", "stopped by us", "under a fault", "other disks"],
)
def test_what_is_no_way_back_proves_nothing(run: History) -> None:
    """Vacuous."""
    assert brokers_start_in_zookeeper_mode_again.judge(run).outcome is Outcome.INCONCLUSIVE
