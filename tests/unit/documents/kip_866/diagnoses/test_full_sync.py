"""Facts about a full sync with ZooKeeper that begins again and again."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.transactions.following import raised_by
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_WRITTEN
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import change, event, history, phase, znode
from tests.unit.checkers.images import FULL, PARTITION
from tests.unit.documents.kip_866.checks.transactions.logged import FIRST, logged
from tests.unit.documents.kip_866.diagnoses.naming import (
    CONTROLLERS,
    WRITTEN,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    unmet,
)

NO_STATE = (
    "WARN Could not find partition state in ZK for orders-5. Initializing this partition with ISR={[0, 1, 2]} and "
    "leaderEpoch=0. (kafka.zk.migration.ZkTopicMigrationClient)\n"
)
RETRIED = (
    "INFO [KRaftMigrationDriver id=3001] Encountered ZooKeeper error during event SyncKRaftMetadataEvent. Will retry.\n"
)
UNKNOWN = (
    "ERROR Encountered zk migration fault: Unhandled error in SyncKRaftMetadataEvent (LoggingFaultHandler)\n"
    "java.lang.RuntimeException: Unknown config resource type CLIENT_METRICS\n"
)
NO_NAME = (
    "ERROR Encountered zk migration fault: Unhandled error in SyncKRaftMetadataEvent (LoggingFaultHandler)\n"
    'java.lang.NullPointerException: Cannot invoke "String.isEmpty()" because "entityName" is null\n'
    "\tat kafka.zk.migration.ZkConfigMigrationClient.toZkEntityName(ZkConfigMigrationClient.scala:65)\n"
    "\tat kafka.zk.migration.ZkConfigMigrationClient.writeClientQuotas(ZkConfigMigrationClient.scala:249)\n"
)
FORGOTTEN = UNKNOWN.replace(
    "Unknown config resource type CLIENT_METRICS",
    "Conditional update on KRaft Migration ZNode failed. Sent zkVersion = 205. The failed write was: ZkMigration",
)
OTHER_FAULT = UNKNOWN.replace("Unknown config resource type CLIENT_METRICS", "null")
BEGUN = "INFO [KRaftMigrationDriver id=3001] Performing a full metadata sync from KRaft to ZK. (KRaftMigrationDriver)\n"
ENDED = (
    "INFO Made the following ZK writes when reconciling with KRaft state: {UpdateProducerId=1} (KRaftMigrationDriver)\n"
)
NOT_TOLD = Verdict(
    "clients_are_told_the_same",
    Outcome.VIOLATES,
    Kind.LIVENESS,
    violations=(
        Violation(
            "both brokers report the same topic a",
            "broker-0 in ZooKeeper mode reports nothing more, for 11 s",
            at_ns=9_000_000_000,
        ),
    ),
    count=1,
)
AT_IT = BEGUN + NO_STATE
ELECTED = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
SUCCEEDED = event(EventKind.ACTIVE_CONTROLLER, 8_500, "controller-3002", controller="controller-3002")
OF_ZOOKEEPER = started("broker-1", mode="zookeeper")
STATE, CONFIG = "the state of orders-5 in ZooKeeper", "the znode /config/brokers/0"


@pytest.mark.parametrize(
    ("log", "name", "bugs"),
    [
        ((NO_STATE + RETRIED) * 3, STATE, ("kmigrate-2",)),
        ((NO_STATE + RETRIED) * 3, "the state of orders-4 in ZooKeeper", ()),
        ((NO_STATE + RETRIED) * 2, STATE, ()),
        (NO_STATE + RETRIED * 9, STATE, ()),
        (NO_STATE * 9, STATE, ()),
        ("", STATE, ()),
        (BEGUN + NO_STATE + ENDED, STATE, ("kmigrate-2",)),
        (BEGUN + NO_STATE + ENDED.replace("UpdateProducerId", "UpdatePartition"), STATE, ()),
        (BEGUN + NO_STATE + BEGUN + ENDED, STATE, ()),
        (BEGUN + NO_STATE + NO_NAME, STATE, ("kmigrate-2",)),
        (BEGUN + NO_STATE + BEGUN + NO_NAME, STATE, ()),
        (BEGUN + NO_STATE + OTHER_FAULT, STATE, ()),
        (UNKNOWN * 3, CONFIG, ("kmigrate-10",)),
        (UNKNOWN * 2, CONFIG, ()),
        (UNKNOWN * 3, STATE, ()),
        (OTHER_FAULT * 9, CONFIG, ()),
        ("", CONFIG, ()),
    ],
)
def test_a_znode_that_does_not_come_is_named_by_the_log(log: str, name: str, bugs: tuple[str, ...]) -> None:
    """The same znode is missing where the sync ended, failed once, or failed elsewhere: another defect."""
    events = [*started(*CONTROLLERS), ELECTED, unmet(60_000, name, expected=True, observed=False)]
    assert named_of_expectations(history(events=events, znodes=[WRITTEN], logs={"controller-3001": log})) == bugs


STATELESS = {**PARTITION, "leader": None, "isr": None, "leader_epoch": None}
CONFIGURED = change(9_000, "alter-config", "broker:1", wanted={"a": "2"})
BEGAN_AGAIN = (NO_STATE + RETRIED) * 3


def image(source: str, *, state: bool = True, a: str = "2", rate: float = 1024.0) -> MetadataImage:
    """One side: whether orders-5 has a state, the config of a broker, and a quota."""
    partitions = {"orders-0": PARTITION, "orders-5": PARTITION if state else STATELESS}
    configs = {"broker:1": {"a": a}}
    quotas = {"user=u": {"producer_byte_rate": rate}}
    return MetadataImage(source, topics=FULL.topics, partitions=partitions, configs=configs, quotas=quotas)


def compared(log: str, in_zookeeper: MetadataImage, *more: Event) -> History:
    """A run in which a config was changed, and both sides were looked at."""
    images = {"log": image("metadata-log"), "after": in_zookeeper}
    logs = {"controller-3001": log}
    return seen_at_last(images, *started(*CONTROLLERS), ELECTED, CONFIGURED, *more, znodes=[WRITTEN], logs=logs)


@pytest.mark.parametrize(
    ("log", "in_zookeeper", "bugs"),
    [
        (BEGAN_AGAIN, image("zookeeper", state=False, a="1"), ("kmigrate-2",)),
        ("", image("zookeeper", state=False, a="1"), ()),
        (BEGAN_AGAIN, image("zookeeper", a="1"), ()),
        (UNKNOWN * 3, image("zookeeper", a="1"), ("kmigrate-10",)),
        ("", image("zookeeper", a="1"), ()),
        (BEGUN + NO_STATE + ENDED, image("zookeeper", state=False, a="1"), ()),
    ],
    ids=[
        "a partition blocks",
        "nothing is logged",
        "no partition blocks",
        "client metrics block",
        "nothing blocks",
        "more",
    ],
)
def test_what_zookeeper_lacks_is_named(log: str, in_zookeeper: MetadataImage, bugs: tuple[str, ...]) -> None:
    """By the log and by what ZooKeeper has; the comparison and the acknowledged changes alike."""
    run = compared(log, in_zookeeper)
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


@pytest.mark.parametrize(
    ("log", "state", "bug"), [(BEGAN_AGAIN, False, "kmigrate-2"), (UNKNOWN * 3, True, "kmigrate-10")]
)
def test_what_was_written_to_zookeeper_after_the_change_was_lost_otherwise(log: str, *, state: bool, bug: str) -> None:
    """A sync that never ends writes it not at all: whatever wrote another value is another defect."""
    run = compared(log, image("zookeeper", state=state, a="1"))
    written = [logged(at, FIRST, Write("set-data", "/config/brokers/1", "{}", 3)) for at in (40_000, 65_000)]
    about = acknowledged_metadata_changes_present.judge(run, "after")
    assert named(replace(run, transactions=written[:1]), about) == ()
    assert named(replace(run, transactions=written[1:]), about) == (bug,)
    empty = logged(40_000, FIRST, Write("create", "/config/brokers/1", '{"version": 1, "config": {}}', 0))
    assert named(replace(run, transactions=[empty]), about) == (bug,)


@pytest.mark.parametrize(
    ("log", "state", "bug"), [(BEGAN_AGAIN, False, "kmigrate-2"), (UNKNOWN * 3, True, "kmigrate-10")]
)
def test_what_the_position_had_come_to_was_written_before(log: str, *, state: bool, bug: str) -> None:
    """Also of what no client was answered, such as a leader: by its last record, where records were kept."""
    run = compared(log, image("zookeeper", state=state, a="1"))
    data = {"resourceType": 4, "resourceName": "1", "name": "a", "value": "2"}
    for offset, bugs in ((2, (bug,)), (1, ())):
        record = {"offset": offset, "type": "CONFIG_RECORD", "version": 0, "data": data}
        images = {**run.images, "log": replace(run.images["log"], read_from=[record])}
        kept = replace(run, images=images)
        assert named(kept, metadata_equivalent.judge(kept, "log", "after")) == bugs


@pytest.mark.parametrize(
    ("log", "more", "bugs"),
    [
        (UNKNOWN * 3, [], ("kmigrate-10",)),
        (UNKNOWN * 3 + BEGUN + ENDED, [], ()),
        (UNKNOWN * 3, [SUCCEEDED], ()),
    ],
    ids=["for good", "until a sync ended", "another controller is active"],
)
def test_client_metrics_explain_what_is_lacking_while_they_block(
    log: str, more: list[Event], bugs: tuple[str, ...]
) -> None:
    """Once their subscriptions are deleted a sync ends, and what is lost later has another cause."""
    run = compared(log, image("zookeeper", a="1"), *more)
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
    waited = replace(run, events=[*run.events, unmet(60_000, CONFIG, expected=True, observed=False)])
    assert named_of_expectations(waited) == bugs


@pytest.mark.parametrize(
    ("log", "in_zookeeper", "bugs"),
    [
        (NO_NAME * 3, image("zookeeper", rate=1.0), ("kmigrate-22",)),
        (NO_NAME * 2, image("zookeeper", rate=1.0), ()),
        (NO_NAME * 3, image("zookeeper", a="1"), ()),
        (NO_NAME.replace("writeClientQuotas", "writeConfigs") * 3, image("zookeeper", rate=1.0), ()),
    ],
    ids=["met", "not again", "what is written before", "another place"],
)
def test_a_default_quota_that_blocks_is_named(log: str, in_zookeeper: MetadataImage, bugs: tuple[str, ...]) -> None:
    """By what comes after it, and by brokers that hear of nothing."""
    images = {"log": image("metadata-log"), "after": in_zookeeper}
    more: dict[str, Any] = {"znodes": [WRITTEN], "logs": {"controller-3001": log}, "kafka": "3.6.0"}
    run = seen_at_last(images, *started(*CONTROLLERS), ELECTED, **more)
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
    late = unmet(60_000, "brokers that know what the successor made", expected=[0, 1], observed=[])
    is_blocked = len(log) >= len(NO_NAME) * 3 and "writeClientQuotas" in log
    assert named(run, NOT_TOLD) == (("kmigrate-22",) if is_blocked else ())
    assert named(replace(run, events=[*run.events, SUCCEEDED]), NOT_TOLD) == ()
    waited = history(events=[*run.events, late], **more)
    assert named_of_expectations(waited) == (("kmigrate-22",) if is_blocked else ())


@pytest.mark.parametrize(("active", "bugs"), [("controller-3001", ("kmigrate-22",)), ("controller-3002", ())])
@pytest.mark.parametrize("check", ["partitions_stay_available", "zookeeper_follows_the_log"])
def test_what_stands_still_while_a_default_quota_blocks_is_named(
    check: str, active: str, bugs: tuple[str, ...]
) -> None:
    """Under the controller that cannot write it; under its successor it would be another defect."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, active, controller=active)
    logs = {"controller-3001": NO_NAME * 3}
    events = [*started(*CONTROLLERS), *OF_ZOOKEEPER, elected]
    run = history(events=events, znodes=[WRITTEN], logs=logs, kafka="3.6.0")
    standing = Violation("it goes on", "it stays for 30.0 s", at_ns=9_000_000_000)
    assert named(run, replace(NOT_TOLD, check=check, violations=(standing,))) == bugs


@pytest.mark.parametrize(
    ("log", "active", "state", "bugs"),
    [
        (BEGAN_AGAIN, "controller-3001", False, ("kmigrate-2",)),
        (BEGAN_AGAIN, "controller-3002", False, ()),
        (BEGAN_AGAIN, "controller-3001", True, ()),
        (BEGAN_AGAIN + BEGUN + ENDED, "controller-3001", False, ()),
        (RETRIED * 9, "controller-3001", False, ()),
    ],
    ids=["while it lasts", "under another controller", "all have a state", "until a sync ended", "something else"],
)
@pytest.mark.parametrize("check", ["partitions_stay_available", "zookeeper_follows_the_log"])
def test_what_stands_still_while_a_partition_blocks_is_named(
    check: str, log: str, active: str, *, state: bool, bugs: tuple[str, ...]
) -> None:
    """Under the controller that finds the partition without a state; an offset that runs ahead is another defect."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, active, controller=active)
    run = compared(log, image("zookeeper", state=state), *OF_ZOOKEEPER, elected)
    standing = Violation("it goes on", "it stays for 30.0 s", at_ns=9_000_000_000)
    ahead = Violation("it goes on", "it is ahead of the log", at_ns=9_000_000_000)
    verdict = replace(NOT_TOLD, check=check, violations=(standing,))
    assert named(run, verdict) == bugs
    is_offset = check == "zookeeper_follows_the_log"
    assert named(run, replace(verdict, kind=Kind.SAFETY)) == (bugs if is_offset else ())
    if is_offset:
        assert named(run, replace(verdict, violations=(ahead,))) == ()
    all_in_kraft = replace(run, events=[*run.events, *started("broker-1", mode="kraft", at_ms=8_000)])
    assert named(all_in_kraft, verdict) == (bugs if is_offset else ())


@pytest.mark.parametrize(
    ("log", "writer", "raised", "bugs"),
    [
        (BEGAN_AGAIN, 3001, 0, ("kmigrate-2",)),
        (BEGAN_AGAIN, 3002, 0, ()),
        (BEGAN_AGAIN, 3001, 4, ()),
        (f"DEBUG {CHANGE_WRITTEN}: {{UpdatePartition=1}}\n" + BEGAN_AGAIN, 3001, 0, ()),
        (BEGAN_AGAIN + BEGUN + ENDED, 3001, 0, ()),
    ],
    ids=["until the end", "another one wrote last", "raised later", "it had written a change", "until a sync ended"],
)
def test_an_offset_that_no_write_raises_is_of_a_sync_that_never_ends(
    log: str, writer: int, raised: int, bugs: tuple[str, ...]
) -> None:
    """The writes of a sync leave it as it was; a change that was written would have raised it."""
    held = json.dumps({"kraft_metadata_offset": 7, "kraft_controller_id": writer})
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    run = compared(log, image("zookeeper", state=False), elected)
    run = replace(run, znodes=[*run.znodes, znode(9_500, "/migration", held)])
    observed = f"9 of 9 writes leave the offset as it was, {raised_by(raised)}; the first is zxid 0x1"
    left = Violation("each write puts the offset of its record into /migration", observed, at_ns=9_000_000_000)
    verdict = replace(NOT_TOLD, check="zookeeper_follows_the_log", kind=Kind.SAFETY, violations=(left,))
    assert named(run, verdict) == bugs


@pytest.mark.parametrize(
    ("log", "bugs"),
    [
        ((NO_STATE + RETRIED) * 3, ("kmigrate-2",)),
        ((NO_STATE + RETRIED) * 3 + BEGUN + ENDED, ()),
        (BEGUN + ENDED + (NO_STATE + RETRIED) * 3, ("kmigrate-2",)),
        ((NO_STATE + RETRIED) * 2, ()),
        (RETRIED * 9, ()),
        (BEGUN + NO_STATE + ENDED, ()),
        (NO_STATE + RETRIED + (NO_STATE + FORGOTTEN) * 2, ("kmigrate-2",)),
        ((NO_STATE + FORGOTTEN) * 9, ()),
        (NO_STATE + RETRIED + (NO_STATE + UNKNOWN) * 2, ()),
        (BEGUN + RETRIED + AT_IT + RETRIED + (AT_IT + FORGOTTEN) * 2, ("kmigrate-2",)),
        ((AT_IT + RETRIED) * 2 + AT_IT + FORGOTTEN, ("kmigrate-2",)),
        (BEGUN + RETRIED + (AT_IT + FORGOTTEN) * 3, ()),
        ((AT_IT + FORGOTTEN) * 2 + AT_IT + RETRIED, ()),
        (NO_STATE + BEGUN + RETRIED + (AT_IT + FORGOTTEN) * 3, ()),
        (AT_IT.replace("orders-5", "orders-6") + RETRIED + (AT_IT + FORGOTTEN) * 3, ()),
    ],
    ids=[
        "for good",
        "until a sync ended",
        "after one that ended",
        "not again",
        "something else",
        "passed over",
        "its first attempt had written",
        "another controller had written",
        "it fails later",
        "retried for another reason, then at it",
        "retried twice",
        "retried for another reason",
        "its version was wrong before",
        "found by another attempt",
        "retried at another partition",
    ],
)
def test_brokers_hear_of_nothing_before_a_full_sync_has_ended(log: str, bugs: tuple[str, ...]) -> None:
    """A partition that blocks it explains that, and no violation of safety."""
    run = history(events=[*started(*CONTROLLERS), ELECTED], znodes=[WRITTEN], logs={"controller-3001": log})
    assert named(run, NOT_TOLD) == bugs
    assert named(replace(run, events=[*run.events, SUCCEEDED]), NOT_TOLD) == ()
    assert named(run, replace(NOT_TOLD, kind=Kind.SAFETY)) == ()


@pytest.mark.parametrize(
    ("check", "expected", "broker", "bugs"),
    [
        ("clients_are_told_of_every_broker", "broker-1 in ZooKeeper mode lists broker-0", "zookeeper", ("kmigrate-2",)),
        ("clients_are_told_of_every_broker", "broker-1 in KRaft mode lists broker-0", "zookeeper", ()),
        ("clients_read_the_answers_of_ready_brokers", "a record is acknowledged", "zookeeper", ("kmigrate-2",)),
        ("clients_read_the_answers_of_ready_brokers", "a record is acknowledged", "kraft", ()),
    ],
    ids=["it lists none", "a broker in KRaft mode lists none", "no record", "no record, all in KRaft mode"],
)
def test_what_brokers_in_zookeeper_mode_never_heard_they_do_not_report_nor_do(
    check: str, expected: str, broker: str, bugs: tuple[str, ...]
) -> None:
    """What is observed names no mode where it is about one broker, or about clients."""
    events = [*started(*CONTROLLERS), *started("broker-1", mode=broker), ELECTED]
    run = history(events=events, znodes=[WRITTEN], logs={"controller-3001": BEGAN_AGAIN})
    late = Violation(expected, "it lists none, for 91 s", at_ns=9_000_000_000)
    assert named(run, replace(NOT_TOLD, check=check, violations=(late,))) == bugs


WRITES = "writes to orders-0 are acknowledged again"


@pytest.mark.parametrize(
    ("phase_then", "active", "expected", "brokers", "bugs"),
    [
        ("HYBRID", "controller-3001", WRITES, OF_ZOOKEEPER, ("kmigrate-2",)),
        ("ALL_KRAFT", "controller-3001", WRITES, OF_ZOOKEEPER, ()),
        ("HYBRID", "controller-3002", WRITES, OF_ZOOKEEPER, ()),
        ("HYBRID", "controller-3001", "the controllers record that a leader shuts down", OF_ZOOKEEPER, ()),
        ("HYBRID", "controller-3001", "broker-0 comes up in KRaft mode beside the others", OF_ZOOKEEPER, ()),
        ("HYBRID", "controller-3001", WRITES, started("broker-1", mode="kraft"), ()),
        ("HYBRID", "controller-3001", WRITES, [*OF_ZOOKEEPER, event(EventKind.NODE_STOPPED, 6_000, "broker-1")], ()),
    ],
    ids=[
        *("in HYBRID", "no broker needs ZooKeeper", "another controller", "no record", "not up"),
        *("all in KRaft mode", "none in ZooKeeper mode runs"),
    ],
)
def test_without_a_full_sync_no_broker_in_zookeeper_mode_hears_who_leads_after_a_stop(
    phase_then: str, active: str, expected: str, brokers: list[Event], bugs: tuple[str, ...]
) -> None:
    """Only writes wait for that: controllers record a stop, and let brokers in, all the same."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, active, controller=active)
    run = compared(BEGAN_AGAIN, image("zookeeper", state=False), phase(4_000, phase_then), elected, *brokers)
    stopped = Violation(f"{expected} as soon as broker-0 is stopped", "none was for 20 s", at_ns=9_000_000_000)
    assert named(run, replace(NOT_TOLD, check="brokers_are_rolled_one_by_one", violations=(stopped,))) == bugs


def test_a_partition_that_is_passed_over_is_named() -> None:
    """If that is all that differs."""
    run = compared(BEGUN + NO_STATE + ENDED, image("zookeeper", state=False))
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == ("kmigrate-2",)


def test_client_metrics_explain_no_partition_that_zookeeper_lacks() -> None:
    """A full sync writes topics and partitions before it comes to the configs."""
    run = compared(UNKNOWN * 3, image("zookeeper", state=False, a="1"))
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == ()


@pytest.mark.parametrize(("log", "state"), [(BEGAN_AGAIN, False), (UNKNOWN * 3, True)])
def test_what_the_other_side_lost_no_bug_of_dual_write_explains(log: str, *, state: bool) -> None:
    """The metadata log itself lacks something that was acknowledged."""
    lost = change(2, "set-quota", "user=u", wanted={"producer_byte_rate": 7})
    run = compared(log, image("zookeeper", state=state, a="1"), lost)
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == ()
