"""Check of topics whose deletion was pending at the take-over."""

from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.dual_write.deletions import pending_deletions_leave_zookeeper
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event
from tests.unit.documents.kip_866.checks.migrated import migrated, zookeeper
from tests.unit.documents.kip_866.checks.nodes import controller, stopped

LONG = [event(EventKind.CHECKS, 80_000)]


def children(at_ms: int, path: str, *names: str) -> ZnodeChange:
    """What was below a path from then on."""
    return ZnodeChange(at_ms * 1_000_000, path, "", 0, 1, names, is_ephemeral=False)


PENDING = [
    children(5_000, "/brokers/topics", "orders", "gone"),
    children(6_000, "/admin/delete_topics", "gone"),
]
LATE = [PENDING[0], children(10_500, "/admin/delete_topics", "gone")]
WITHOUT_CONTROLLERS = [controller(0), stopped(30_000, "controller-3000"), controller(65_000)]
DONE = [children(12_000, "/brokers/topics", "orders"), children(12_000, "/admin/delete_topics")]


def test_a_topic_of_which_nothing_is_left_conforms() -> None:
    """Conforming: however soon the run ends."""
    assert pending_deletions_leave_zookeeper.judge(migrated(znodes=[*PENDING, *DONE])).outcome is Outcome.CONFORMS


@pytest.mark.parametrize("left", [PENDING, [*PENDING, DONE[0]], [*PENDING, DONE[1]]])
def test_a_topic_that_stays_violates(left: list[ZnodeChange]) -> None:
    """Violating: the topic, or the note that it is to go."""
    verdict = pending_deletions_leave_zookeeper.judge(migrated(LONG, znodes=left))
    assert (verdict.outcome, verdict.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert verdict.violations[0].observed.startswith(("/admin/delete_topics/gone", "/brokers/topics/gone"))


def test_configs_that_stay_violate() -> None:
    """Violating: an image of ZooKeeper has them."""
    other = replace(zookeeper(), configs={"topic:gone": {"retention.ms": "1"}})
    verdict = pending_deletions_leave_zookeeper.judge(migrated(LONG, znodes=[*PENDING, *DONE], other=other))
    assert verdict.violations[0].observed.startswith("/config/topics/gone is still there")


@pytest.mark.parametrize(
    ("events", "znodes"),
    [([], PENDING), (LONG, PENDING[:1]), (LONG, LATE), ([*LONG, *WITHOUT_CONTROLLERS], PENDING)],
)
def test_without_a_pending_deletion_or_time_nothing_is_proved(events: list[Event], znodes: list[ZnodeChange]) -> None:
    """Vacuous: the run ended soon; nothing was pending; it was deleted later; no controller ran for long enough."""
    assert pending_deletions_leave_zookeeper.judge(migrated(events, znodes=znodes)).outcome is Outcome.INCONCLUSIVE
