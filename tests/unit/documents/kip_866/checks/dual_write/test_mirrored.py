"""Check of dual write, on images of the metadata log and of ZooKeeper."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.dual_write.mirrored import zookeeper_mirrors_the_log
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Outcome
from tests.unit.checkers.histories import change, event, fault, znode
from tests.unit.checkers.images import PARTITION
from tests.unit.documents.kip_866.checks.migrated import LOG, migrated, zookeeper
from tests.unit.documents.kip_866.checks.outcomes import looked_at, outcomes

CHANGES = [
    change(12_000, "create-topic", "orders"),
    change(12_100, "delete-topic", "gone"),
    change(12_200, "add-partitions", "orders", wanted={"partitions": 2}),
    change(12_300, "alter-config", "topic:orders", wanted={"retention.ms": "1"}),
    change(12_400, "alter-config", "broker:1", wanted={"a": "b"}),
    change(12_500, "set-quota", "user=a", wanted={"producer_byte_rate": 1024.0}),
    change(12_600, "set-scram", "a:SCRAM-SHA-256", wanted={"iterations": 4096}),
    change(12_700, "set-acl", "Topic:LITERAL:orders", wanted={"binding": "User:a|*|READ|ALLOW"}),
]
FIRST_SEEN = [znode(24_000, "/latest_producer_id_block", "{}"), znode(24_000, "/migration", "{}")]
WRITTEN = [*FIRST_SEEN, znode(25_000, "/latest_producer_id_block", "{}"), znode(26_000, "/migration", "{}")]
ROWS = {row.partition("-")[2] for row in zookeeper_mirrors_the_log.requirements}


def test_all_that_was_changed_in_dual_write_and_is_on_both_sides_conforms() -> None:
    """Conforming: something of every kind was looked at."""
    log = replace(LOG, extra={**LOG.extra, "record_counts": {"PARTITION_CHANGE_RECORD": 3}})
    verdict = zookeeper_mirrors_the_log.judge(migrated(CHANGES, log=log, znodes=WRITTEN, in_phase="ALL_KRAFT"))
    assert looked_at(verdict) == dict.fromkeys(ROWS, "CONFORMS")
    assert {each.requirement: each.seen for each in verdict.about}["K866-DW-full-parity"] == 10


def test_a_family_that_was_not_changed_in_dual_write_is_not_looked_at() -> None:
    """Vacuous: the same changes, made before the take-over; only that both sides are equal was seen."""
    before = [replace(each, at_ns=each.at_ns - 11_000_000_000, data={**each.data, "began_ns": 0}) for each in CHANGES]
    assert looked_at(zookeeper_mirrors_the_log.judge(migrated(before))) == {"DW-full-parity": "CONFORMS"}


def test_what_a_znode_held_when_it_was_first_seen_is_no_write() -> None:
    """Vacuous: it may have been written before dual write."""
    verdict = zookeeper_mirrors_the_log.judge(migrated(znodes=FIRST_SEEN, in_phase="ALL_KRAFT"))
    assert looked_at(verdict) == {"DW-full-parity": "CONFORMS"}


@pytest.mark.parametrize(
    ("unlike", "row"),
    [
        ({"topics": {}}, "DW-topic-create"),
        ({"topics": {**LOG.topics, "gone": {"id": "x2"}}}, "DW-topic-delete"),
        ({"partitions": {"orders-0": PARTITION}}, "DW-partitions-add"),
        ({"partitions": {**LOG.partitions, "orders-0": {**PARTITION, "isr": [1]}}}, "DW-isr-leader"),
        ({"configs": {"broker:1": {"a": "b"}}}, "DW-topic-config"),
        ({"configs": {**LOG.configs, "broker:1": {"a": "c"}}}, "DW-broker-config"),
        ({"quotas": {}}, "DW-quotas"),
        ({"scram": {}}, "DW-scram"),
        ({"acls": {}}, "DW-acls"),
        ({"producer_ids": {"next": 0}}, "DW-producer-id"),
    ],
)
def test_what_differs_violates_its_own_row_and_parity(unlike: dict[str, Any], row: str) -> None:
    """Violating: the others stay as they are; nothing was changed by us, so nothing else was looked at."""
    verdict = zookeeper_mirrors_the_log.judge(migrated(other=zookeeper(**unlike)))
    assert looked_at(verdict) == {"DW-full-parity": "VIOLATES", row: "VIOLATES"}


def test_a_change_that_reached_neither_side_violates() -> None:
    """Violating: both are equal, and lack what was acknowledged."""
    lost = change(12_000, "set-acl", "Topic:LITERAL:orders", wanted={"binding": "User:b|*|READ|ALLOW"})
    verdict = zookeeper_mirrors_the_log.judge(migrated([lost]))
    assert looked_at(verdict) == {"DW-full-parity": "VIOLATES", "DW-acls": "VIOLATES"}
    assert verdict.violations[0].expected.endswith("is present in after-zookeeper, as acknowledged")


def test_after_the_last_broker_left_zookeeper_a_difference_violates_the_time_until_finalization() -> None:
    """Violating: dual writes go on."""
    verdict = zookeeper_mirrors_the_log.judge(migrated(other=zookeeper(scram={}), in_phase="ALL_KRAFT"))
    assert outcomes(verdict)["DW-until-finalized"] == "VIOLATES"


@pytest.mark.parametrize(
    "events",
    [
        [*fault(20_000)],
        [change(29_900, "create-topic", "late", began_ns=29_800_000_000)],
        [event(EventKind.STATE, 28_000, of="phase", state="FINALIZED")],
    ],
    ids=["under a fault", "in the middle of a change", "after dual write"],
)
def test_images_that_may_differ_prove_nothing(events: list[Any]) -> None:
    """Vacuous: and no violation either."""
    verdict = zookeeper_mirrors_the_log.judge(migrated(events, other=zookeeper(scram={})))
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert not looked_at(verdict)
