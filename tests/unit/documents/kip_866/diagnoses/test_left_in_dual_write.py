"""What dual write of 3.4 leaves as it was in ZooKeeper, and what brokers never hear of (kmigrate-30)."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, event, history
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CLAIM,
    compared,
    named,
    named_of_expectations,
    started,
    unmet,
)


def write(at_ms: int, operation: str, path: str) -> Transaction:
    """A transaction of a controller."""
    return Transaction(at_ms * MS, at_ms, 7, (Write(operation, path),))


DRIVER_FAILED = "ERROR Encountered zk migration fault: Error during ZK migration (LoggingFaultHandler)\n"
LATER = write(60_000, "set-data", "/latest_producer_id_block")


@pytest.mark.parametrize(
    ("transactions", "kafka", "bugs"),
    [
        ([LATER], "3.4.1", ("kmigrate-30",)),
        ([write(20_000, "create", "/brokers/topics/a"), LATER], "3.4.1", ("kmigrate-30",)),
        ([write(40_000, "set-data", "/brokers/topics/a")], "3.4.1", ()),
        ([write(40_000, "set-data", "/config/brokers/0")], "3.4.1", ()),
        ([], "3.4.1", ()),
        ([LATER], "3.5.2", ()),
    ],
    ids=["never", "created only", "its topic written", "its config written", "no transactions", "on a later release"],
)
def test_what_dual_write_left_as_it_was_is_named(
    transactions: list[Transaction], kafka: str, bugs: tuple[str, ...]
) -> None:
    """A topic that was deleted and a config that changed; what is written, and otherwise, is another defect."""
    changed = {"broker:0": {"log.retention.ms": "1"}}
    log = MetadataImage("metadata-log", topics={"b": {"id": "b"}}, configs=changed)
    tree = MetadataImage("zookeeper", topics={"a": {"id": "a"}, "b": {"id": "b"}}, partitions={"a-0": {"leader": 0}})
    run = compared(log, tree, kafka)
    run = replace(run, znodes=[CLAIM], transactions=transactions, logs={"controller-3000": DRIVER_FAILED})
    changes = [
        change(30_000, "delete-topic", "a"),
        change(30_000, "alter-config", "broker:0", wanted={"log.retention.ms": "1"}),
    ]
    events = [*started("controller-3000"), *changes, *run.events]
    run = replace(run, events=sorted(events, key=lambda each: each.at_ns))
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


FENCED = "INFO [Controller 3000] handleBrokerFenced: changing 27 partition(s) (ReplicationControlManager)\n"
SENT = "INFO Sending LeaderAndIsr request to broker 0 with 0 become-leader and 2 become-follower partitions\n"


@pytest.mark.parametrize(
    ("log", "kafka", "bugs"),
    [
        (FENCED + "INFO x\n" + DRIVER_FAILED, "3.4.1", ("kmigrate-30",)),
        (FENCED + SENT + DRIVER_FAILED, "3.4.1", ()),
        (FENCED, "3.4.1", ()),
        (DRIVER_FAILED + FENCED, "3.4.1", ()),
        (FENCED.replace("27", "0") + DRIVER_FAILED, "3.4.1", ()),
        (FENCED + DRIVER_FAILED, "3.5.2", ()),
    ],
    ids=["nothing sent", "sent", "no failure", "a failure before", "nothing changed", "on a later release"],
)
def test_partitions_whose_leaders_brokers_do_not_know_are_named(log: str, kafka: str, bugs: tuple[str, ...]) -> None:
    """A broker was fenced in a batch that failed; what is sent before has another cause."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3000", controller="controller-3000")
    run = history(events=[*started(*BROKERS, "controller-3000"), elected], logs={"controller-3000": log}, kafka=kafka)
    run = replace(run, znodes=[CLAIM])
    waits = Violation("some write is acknowledged", "none was for 45.0 s", at_ns=59_000 * MS)
    late = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, violations=(waits,), count=1)
    assert named(run, late) == bugs
    assert named(run, replace(late, violations=(replace(waits, at_ns=9_000 * MS),))) == ()


@pytest.mark.parametrize(
    ("epochs", "log", "bugs"),
    [
        ((4, 3), DRIVER_FAILED, ("kmigrate-30",)),
        ((4, 3), "", ()),
        ((3, 4), DRIVER_FAILED, ()),
        ((3, 3), DRIVER_FAILED, ()),
    ],
    ids=["a later leader", "no failure", "an earlier leader", "the same leader"],
)
def test_a_partition_that_a_failed_batch_left_as_it_was_is_named(
    epochs: tuple[int, int], log: str, bugs: tuple[str, ...]
) -> None:
    """The log is ahead; where ZooKeeper is, or only replicas in sync differ, is another defect."""
    states = [{"replicas": [0, 1], "isr": [0] if side else [0, 1], "leader_epoch": epochs[side]} for side in (0, 1)]
    images = [
        MetadataImage(source, topics={"a": {"id": "a"}}, partitions={"a-0": state})
        for source, state in zip(("metadata-log", "zookeeper"), states, strict=True)
    ]
    run = replace(compared(*images), znodes=[CLAIM], transactions=[LATER], logs={"controller-3000": log})
    run = replace(run, events=[*started("controller-3000"), *run.events])
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


CAME = "DEBUG 3000 transitioning from KRAFT_CONTROLLER_TO_BROKER_COMM to DUAL_WRITE state (KRaftMigrationDriver)\n"


@pytest.mark.parametrize(
    ("log", "transactions", "seen", "bugs"),
    [
        (SENT + CAME, [LATER], 0, ("kmigrate-30",)),
        (SENT + CAME + SENT, [LATER], 0, ()),
        (CAME, [LATER], 0, ()),
        (SENT, [LATER], 0, ()),
        (SENT + CAME, [write(40_000, "create", "/brokers/topics/a")], 0, ()),
        (SENT + CAME, [], 0, ()),
        (SENT + CAME, [LATER], 7, ()),
    ],
    ids=["before", "after", "nothing sent", "no dual write", "written", "no transactions", "a part"],
)
def test_a_topic_made_before_dual_write_goes_on_is_named(
    log: str, transactions: list[Transaction], seen: int, bugs: tuple[str, ...]
) -> None:
    """With the requests that were not in flight; a topic that is written in part is another defect."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3000", controller="controller-3000")
    wrong = [
        unmet(60_000, "partitions of a in ZooKeeper", expected=12, observed=seen),
        unmet(61_000, "whether several requests were in flight at once", expected=True, observed=False),
    ]
    run = history(events=[*started("controller-3000"), elected, *wrong], logs={"controller-3000": log}, kafka="3.4.1")
    assert named_of_expectations(replace(run, znodes=[CLAIM], transactions=transactions)) == bugs
