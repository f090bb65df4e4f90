"""Checks that changes in dual write reach the metadata log, and what brokers report."""

from dataclasses import replace

from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import (
    admin_changes_reach_the_log,
    brokers_are_told_of_changes,
)
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change, history, phase, znode
from tests.unit.documents.kip_866.checks.migrated import CLAIM, LOG, migrated, settled
from tests.unit.documents.kip_866.checks.nodes import broker, migrating

CREATED = change(12_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2})
EARLIER = change(1_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2})


def test_what_was_acknowledged_in_dual_write_is_in_the_log() -> None:
    """Conforming, violating, and vacuous where it was created before."""
    assert admin_changes_reach_the_log.judge(migrated([CREATED])).outcome is Outcome.CONFORMS
    lacking = replace(LOG, topics={})
    verdict = admin_changes_reach_the_log.judge(migrated([CREATED], log=lacking))
    assert verdict.outcome is Outcome.VIOLATES
    assert verdict.violations[0].expected == "topics orders is present in after-log, as a broker acknowledged"
    assert admin_changes_reach_the_log.judge(migrated([EARLIER], log=lacking)).outcome is Outcome.INCONCLUSIVE


def reported(brokers: MetadataImage, *events: Event) -> History:
    """What brokers reported after 30 s, in dual write from 11 s on."""
    edges = [phase(0, "ZOOKEEPER"), phase(11_000, "HYBRID"), *settled(30_000, "after", "brokers")]
    taken = [znode(10_000, "/controller", CLAIM)]
    return history(events=[*edges, *events], images={"after-brokers": brokers}, znodes=taken)


BROKERS = replace(LOG, source="admin", extra={})


def test_brokers_in_zookeeper_mode_tell_of_what_was_created() -> None:
    """Conforming; and violating where one of them does not know it."""
    assert brokers_are_told_of_changes.judge(reported(BROKERS, CREATED, *migrating(0))).outcome is Outcome.CONFORMS
    unlike = replace(BROKERS, topics={"orders": {"id": {"broker-0": "x1", "broker-1": None}}})
    verdict = brokers_are_told_of_changes.judge(reported(unlike, CREATED, *migrating(0)))
    assert verdict.outcome is Outcome.VIOLATES


def test_without_a_broker_in_zookeeper_mode_nothing_is_proved() -> None:
    """Vacuous: all in KRaft mode, or created before the take-over."""
    for run in (reported(BROKERS, CREATED, *broker(0, mode="kraft")), reported(BROKERS, EARLIER, *migrating(0))):
        assert brokers_are_told_of_changes.judge(run).outcome is Outcome.INCONCLUSIVE
