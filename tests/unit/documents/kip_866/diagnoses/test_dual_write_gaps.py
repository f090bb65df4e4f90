"""Facts about what the KRaft controllers leave out while brokers are in ZooKeeper mode."""

from dataclasses import replace

import pytest

from pytest_kmigrate.model.history import Write
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import change, history
from tests.unit.checkers.images import PARTITION
from tests.unit.documents.kip_866.checks.transactions.logged import FIRST, logged
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CLAIM,
    CONTROLLERS,
    named_of_expectations,
    started,
    unmet,
)

IGNORED = (
    "INFO [Broker id=0] Ignoring LeaderAndIsr request from controller 3000 with correlation id 11 epoch 3 for "
    "partition moved-0 since its associated leader epoch 4 matches the current leader epoch (state.change.logger)\n"
)
UNDER_WAY = {**PARTITION, "adding": [1]}
MOVED = "replicas and ISR of moved-0 on the broker that leads it now"


@pytest.mark.parametrize(
    ("log", "partition", "name", "kafka", "bugs"),
    [
        (IGNORED, UNDER_WAY, MOVED, "3.6.0", ("KAFKA-16121",)),
        (IGNORED, UNDER_WAY, MOVED, "3.9.1", ()),
        (IGNORED, PARTITION, MOVED, "3.6.0", ()),
        (IGNORED, {**UNDER_WAY, "leader_epoch": 5}, MOVED, "3.6.0", ()),
        (IGNORED.replace("controller 3000", "controller 2"), UNDER_WAY, MOVED, "3.6.0", ()),
        ("", UNDER_WAY, MOVED, "3.6.0", ()),
        (IGNORED, UNDER_WAY, "replicas and ISR of moved-1", "3.6.0", ()),
    ],
    ids=[
        "ignored",
        "on a fixed release",
        "not under way",
        "in a later epoch",
        "from a ZooKeeper controller",
        "not ignored",
        "another partition",
    ],
)
def test_a_reassignment_without_an_epoch_of_its_own_is_kafka_16121(
    log: str, partition: dict[str, object], name: str, kafka: str, bugs: tuple[str, ...]
) -> None:
    """A reassignment that stands still for another reason is another defect."""
    stuck = unmet(60_000, name, expected=[[1, 2], [1, 2]], observed=[[0, 1, 2], [0, 2]])
    images = {"moved-log": MetadataImage("metadata-log", partitions={"moved-0": partition})}
    run = history(
        events=[*started(*BROKERS, "controller-3000"), stuck],
        images=images,
        znodes=[CLAIM],
        kafka=kafka,
        logs={"broker-0": log},
    )
    assert named_of_expectations(run) == bugs


STOPPED = "INFO [Broker id=0] Handling StopReplica request correlationId 13 from controller 3002 for 1 partitions\n"
DELETED = "INFO Log for partition moved-0 is renamed to /disk/moved-0.1-delete and is scheduled for deletion\n"
HELD = "brokers that have moved-0 on their disks"
ON_DISKS = {**PARTITION, "replicas": [2, 1], "adding": [], "removing": []}


@pytest.mark.parametrize(
    ("log", "partition", "name", "observed", "kafka", "bugs"),
    [
        (STOPPED, ON_DISKS, HELD, [0, 1, 2], "3.5.2", ("KAFKA-16121",)),
        (STOPPED, ON_DISKS, HELD, [0, 1, 2], "3.8.1", ()),
        (STOPPED + DELETED, ON_DISKS, HELD, [0, 1, 2], "3.5.2", ()),
        ("", ON_DISKS, HELD, [0, 1, 2], "3.5.2", ()),
        (STOPPED.replace("3002", "2"), ON_DISKS, HELD, [0, 1, 2], "3.5.2", ()),
        (STOPPED, {**ON_DISKS, "replicas": [0, 1, 2]}, HELD, [0, 1, 2], "3.5.2", ()),
        (STOPPED, {**ON_DISKS, "removing": [0]}, HELD, [0, 1, 2], "3.5.2", ()),
        (STOPPED, ON_DISKS, HELD, [0, 1], "3.5.2", ()),
        (STOPPED, ON_DISKS, HELD.replace("-0", "-1"), [0, 1, 2], "3.5.2", ()),
        (STOPPED, ON_DISKS, "in-sync replicas of moved-0", [0, 1, 2], "3.5.2", ()),
    ],
    ids=[
        "stopped",
        "on a fixed release",
        "deleted",
        "not stopped",
        "by a ZooKeeper controller",
        "still its own",
        "under way",
        "one is lacking",
        "another partition",
        "not of disks",
    ],
)
def test_a_replica_that_was_stopped_and_kept_is_kafka_16121(
    log: str, partition: dict[str, object], name: str, observed: list[int], kafka: str, bugs: tuple[str, ...]
) -> None:
    """A broker that keeps a replica for another reason is another defect."""
    kept = unmet(60_000, name, expected=[1, 2], observed=observed)
    images = {"moved-log": MetadataImage("metadata-log", partitions={"moved-0": partition})}
    run = history(
        events=[*started(*BROKERS, "controller-3000"), kept],
        images=images,
        znodes=[CLAIM],
        kafka=kafka,
        logs={"broker-0": log},
    )
    assert named_of_expectations(run) == bugs


FAULT = "ERROR Encountered zk migration fault: Unhandled error in MetadataChangeEvent{} (LoggingFaultHandler)\n"


@pytest.mark.parametrize(
    ("log", "topics", "partition", "kafka", "bugs"),
    [
        ("", ["newcomer"], PARTITION, "3.6.0", ("KAFKA-16003",)),
        ("", ["newcomer"], PARTITION, "3.9.1", ()),
        (FAULT, ["newcomer"], PARTITION, "3.6.0", ()),
        ("", [], PARTITION, "3.6.0", ()),
        ("", ["newcomer"], {**PARTITION, "isr": None}, "3.6.0", ()),
    ],
    ids=["only that", "on a fixed release", "a write failed", "no topic either", "no state either"],
)
def test_a_topic_that_lacks_only_its_config_znode_is_kafka_16003(
    log: str, topics: list[str], partition: dict[str, object], kafka: str, bugs: tuple[str, ...]
) -> None:
    """Dual write that fails, or brings nothing at all of the topic, is another defect."""
    absent = unmet(60_000, "the znode /config/topics/newcomer", expected=True, observed=False)
    image = MetadataImage(
        "zookeeper", topics={each: {"id": "x"} for each in topics}, partitions={"newcomer-0": partition}
    )
    events = [*started(*CONTROLLERS), absent]
    run = history(
        events=events, images={"created-zookeeper": image}, znodes=[CLAIM], kafka=kafka, logs={"controller-3000": log}
    )
    assert named_of_expectations(run) == bugs
    if bugs:
        configured = change(30_000, "alter-config", "topic:newcomer", wanted={"retention.ms": "1"})
        assert named_of_expectations(replace(run, events=[configured, *run.events])) == ()
        there = [logged(5_000, FIRST, Write("create", "/config/topics/newcomer", "{}", 0))]
        assert named_of_expectations(replace(run, transactions=there)) == ()


CREATED = "".join(
    f"INFO [QuorumController id=3000] Created partition orders-{n} with topic ID F7v16 and PartitionRegistration(x)\n"
    for n in (3, 4, 5)
)
COPIED = CREATED.partition("\n")[0].replace("orders-3", "orders-2") + "\n"
NOTHING = (
    "INFO [Controller id=3000 epoch=3] Sending UpdateMetadata request to brokers HashSet(0, 1, 2) for 0 partitions\n"
)
SENT = NOTHING.replace("for 0", "for 3")


@pytest.mark.parametrize(
    ("log", "observed", "kafka", "bugs"),
    [
        (CREATED + NOTHING, [3, 3, 3], "3.5.0", ("KAFKA-15149",)),
        (COPIED + SENT + CREATED + NOTHING, [3, 3, 3], "3.5.0", ("KAFKA-15149",)),
        (CREATED + NOTHING, [3, 3, 3], "3.5.1", ()),
        (CREATED + SENT, [6, 6, 3], "3.5.0", ()),
        (CREATED.replace("orders", "others") + NOTHING, [3, 3, 3], "3.5.0", ()),
        (CREATED + NOTHING, [2, 2, 2], "3.5.0", ()),
        (NOTHING, [3, 3, 3], "3.5.0", ()),
        (CREATED + NOTHING, [None, 3, 3], "3.5.0", ()),
    ],
    ids=["met", "sent before", "mended", "sent", "another topic", "one more", "not created", "no answer"],
)
def test_added_partitions_that_no_broker_is_sent_are_kafka_15149(
    log: str, observed: list[object], kafka: str, bugs: tuple[str, ...]
) -> None:
    """By what the controller logs of the partitions, and of the requests it sends afterwards."""
    lacking = unmet(60_000, "partitions of orders as each broker reports them", expected=[6, 6, 6], observed=observed)
    run = history(
        events=[*started("controller-3000"), lacking], znodes=[CLAIM], logs={"controller-3000": log}, kafka=kafka
    )
    assert named_of_expectations(run) == bugs
