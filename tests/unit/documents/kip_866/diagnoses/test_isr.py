"""Facts about brokers that come into no ISR: a request lost at the take-over, an unfencing lost with the copy."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.registration.heartbeats import brokers_that_run_are_unfenced
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import event, history, phase, sample, snapshot, znode
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.nodes import broker, controller, migrating, with_flag
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CONTROLLERS,
    failed_step,
    named,
    named_of_expectations,
    named_of_steps,
    started,
    timed,
    unmet,
)

TAKEN_OVER = znode(15_000, "/controller", json.dumps({"brokerid": 3001, "kraftControllerEpoch": 1}))
WANTED = [[0, 1, 2]] * 3
CHANNEL = "INFO [zk-broker-1-to-controller-alter-partition-channel-manager]: "
TO_ZOOKEEPER = f"{CHANNEL}Recorded new ZK controller, from now on will use node broker-0:9092 (id: 0 rack: null)\n"
TO_KRAFT = f"{CHANNEL}Recorded new KRaft controller, from now on will use node controller-3001:9093\n"
STARTING = f"{CHANNEL}Starting (kafka.server.NodeToControllerRequestThread)\n"


def refused(partition: str, times: int = 900, at: str = "08:00:45") -> str:
    """A leader that refuses to change the ISR itself."""
    return (
        f"2026-11-30 {at},000 INFO [Partition {partition} broker=1] Failed to alter partition to "
        "PendingExpandIsr(newInSyncReplicaId=2, "
        "sentLeaderAndIsr=LeaderAndIsr(leader=1)) since the controller rejected the request with "
        "OPERATION_NOT_ATTEMPTED. Partition state has been reset to the latest committed state\n"
    ) * times


def updated(at: str, number: int = 0) -> str:
    """A leader has changed an ISR."""
    return (
        f"2026-11-30 {at},000 INFO [Partition orders-{number} broker=1] ISR updated to 1,0,2 and version updated to 4\n"
    )


REFUSED = refused("orders-0") + refused("orders-1") + refused("__consumer_offsets-2")
FROZEN = STARTING + TO_ZOOKEEPER + REFUSED


def short_isr(log: str, observed: list[list[int]], *more: Event, name: str = "in-sync replicas of orders") -> History:
    """A run in which broker-1 logged this, and some partitions lack a replica."""
    events = [*started(*BROKERS, *CONTROLLERS), *more, unmet(60_000, name, expected=WANTED, observed=observed)]
    return timed(history(events=events, znodes=[TAKEN_OVER], logs={"broker-1": log}))


LACKING = [[0, 1], [0, 1], [0, 1, 2]]
DEAD = event(EventKind.THREAD_DIED, 30_000, "broker-1", thread="zk-broker-1-to-controller-alter-partition", said="")


def test_a_broker_that_asks_no_kraft_controller_is_kmigrate_4() -> None:
    """Its partitions, and no others, lack a replica."""
    assert named_of_expectations(short_isr(FROZEN, LACKING)) == ("kmigrate-4",)
    reason = "the replicas of broker-2 back in sync after its restart: not within 180 s; last seen: 3 partitions"
    run = short_isr(FROZEN, LACKING, *failed_step(50_000, reason))
    assert named_of_steps(run) == ("kmigrate-4",)
    own = short_isr(FROZEN, LACKING, *failed_step(50_000, reason.replace("broker-2", "broker-1")))
    assert named_of_steps(own) == ()
    for node, bugs in (("broker-1", ("kmigrate-4",)), ("broker-0", ())):
        counted = [sample(49_000, node, UnderReplicatedPartitions=3), sample(49_000, "broker-2")]
        assert named_of_steps(replace(run, samples=counted)) == bugs
    other = short_isr(FROZEN, LACKING, *failed_step(50_000, "phase HYBRID: not within 180 s"))
    assert named_of_steps(other) == ()


@pytest.mark.parametrize(
    "run",
    [
        short_isr(FROZEN, [[0, 1], [0, 1], [0, 1]]),
        short_isr(FROZEN, LACKING, name="in-sync replicas of payments"),
        short_isr(FROZEN, LACKING, DEAD),
        short_isr(FROZEN, LACKING, unmet(61_000, "the znode of orders", expected=True, observed=False)),
        short_isr(STARTING + TO_ZOOKEEPER + TO_KRAFT + refused("orders-0") + refused("orders-1"), LACKING),
        short_isr(STARTING + TO_ZOOKEEPER + refused("orders-0", 9) + refused("orders-1", 9), LACKING),
        short_isr(FROZEN + STARTING + TO_KRAFT, LACKING),
        short_isr("", LACKING),
        short_isr(STARTING + TO_ZOOKEEPER + REFUSED.replace("08:00:45", "08:00:25"), LACKING),
        short_isr(STARTING + TO_ZOOKEEPER + REFUSED.replace("08:00:45", "08:00:10"), LACKING),
        short_isr(FROZEN + updated("08:00:50", 7), LACKING),
        short_isr(STARTING + TO_KRAFT + TO_ZOOKEEPER + REFUSED, LACKING),
        short_isr(FROZEN, LACKING, *started("broker-1", at_ms=20_000)),
        short_isr(FROZEN, LACKING, name="in-sync replicas of orders-by-day"),
    ],
    ids=[
        "a partition that is not refused",
        "another topic",
        "its thread is dead",
        "something else, too",
        "it asks KRaft, which does not answer",
        "refused a few times",
        "before it was restarted",
        "no log",
        "long ago",
        "before the take-over",
        "it changed another one since",
        "it asked KRaft before",
        "started after the take-over",
        "a topic of a longer name",
    ],
)
def test_an_isr_that_stands_still_for_another_reason_is_not_kmigrate_4(run: History) -> None:
    """A symptom that many defects share."""
    assert named_of_expectations(run) == ()


OF_OLD = TO_ZOOKEEPER.replace("new ZK controller", "new controller")
OF_OLD_KRAFT = TO_KRAFT.replace("new KRaft controller", "new controller")
OF_3_4 = (STARTING + OF_OLD).replace(
    "zk-broker-1-to-controller-alter-partition-channel-manager",
    "BrokerToControllerChannelManager broker=1 name=alterPartition",
)
LED = {f"orders-{number}": {"leader": leader, "isr": [0, 1]} for number, leader in enumerate((1, 1, 0))}


@pytest.mark.parametrize(
    ("log", "observed", "bugs"),
    [
        (STARTING + OF_OLD, LACKING, ("kmigrate-4",)),
        (STARTING + OF_OLD, [[0, 1], [0, 1], [0, 1]], ()),
        (STARTING + OF_OLD + OF_OLD_KRAFT, LACKING, ()),
        (OF_3_4, LACKING, ("kmigrate-4",)),
        (STARTING + OF_OLD + updated("08:00:18"), LACKING, ("kmigrate-4",)),
        (STARTING + OF_OLD + updated("08:00:40"), LACKING, ()),
    ],
    ids=[
        *("those that it leads", "one of another leader", "it asks KRaft", "on 3.4"),
        *("answered by the former controller", "it changed one since"),
    ],
)
def test_releases_before_3_7_log_no_refusals(log: str, observed: list[list[int]], bugs: tuple[str, ...]) -> None:
    """Then it is what the broker leads that lacks a replica."""
    run = short_isr(log, observed)
    image = MetadataImage("metadata-log", partitions=LED)
    run = replace(run, images={"after-log": image}, header=replace(run.header, kafka="3.6.0"))
    assert named_of_expectations(run) == bugs


BEGUN = "INFO [QuorumController id=3001] Replayed BeginTransactionRecord(name='ZK Migration') at offset 33.\n"
ENDED = "INFO [QuorumController id=3001] Replayed EndTransactionRecord() at offset 73.\n"
ABORTED = (
    "INFO [QuorumController id=3001] Replayed AbortTransactionRecord(reason='Controller failover') at offset 57. "
    "Reverted to offset 32.\n"
)
REGISTERED = (
    "INFO [QuorumController id=3001] Replayed initial RegisterBrokerRecord for broker 2: RegisterBrokerRecord("
    "brokerId=2, isMigratingZkBroker=true, brokerEpoch=31)\n"
)
UNFENCED = (
    "INFO [QuorumController id=3001] Replayed BrokerRegistrationChangeRecord modifying the registration for broker 2: "
    "BrokerRegistrationChangeRecord(brokerId=2, brokerEpoch=31, fenced=-1, inControlledShutdown=0, logDirs=[])\n"
)
AGAIN = BEGUN + ENDED
ALONE = [[0, 1], [0, 1], [0, 1]]


def replayed(log: str, observed: list[list[int]] = ALONE) -> History:
    """A run whose controllers replayed these records; broker-2 is in no ISR."""
    events = [
        *started(*BROKERS, *CONTROLLERS),
        unmet(60_000, "in-sync replicas of orders", expected=WANTED, observed=observed),
    ]
    return history(events=events, znodes=[TAKEN_OVER], logs={"controller-3001": log})


@pytest.mark.parametrize("later", ["", REGISTERED + UNFENCED], ids=["for good", "until it was restarted"])
def test_an_unfencing_that_an_aborted_copy_undid_is_kmigrate_1(later: str) -> None:
    """The broker was unfenced within the transaction, and not again."""
    assert named_of_expectations(replayed(REGISTERED + BEGUN + UNFENCED + ABORTED + AGAIN + later)) == ("kmigrate-1",)


@pytest.mark.parametrize(
    "run",
    [
        replayed(REGISTERED + BEGUN + UNFENCED + ABORTED + BEGUN + UNFENCED + ENDED),
        replayed(REGISTERED + UNFENCED + BEGUN + ABORTED + AGAIN),
        replayed(REGISTERED + BEGUN + UNFENCED + ENDED),
        replayed(REGISTERED + BEGUN + UNFENCED + ABORTED + AGAIN, [[0, 2], [0, 2], [0, 2]]),
        replayed(REGISTERED + BEGUN + UNFENCED + ABORTED + AGAIN, [[0], [0], [0]]),
        replayed(""),
    ],
    ids=["unfenced again", "unfenced before", "not aborted", "another broker", "two brokers", "no log"],
)
def test_a_broker_that_is_in_no_isr_for_another_reason_is_not_kmigrate_1(run: History) -> None:
    """A symptom that many defects share."""
    assert named_of_expectations(run) == ()


COPIED = znode(20_000, "/migration", json.dumps({"kraft_metadata_offset": 73, "kraft_controller_id": 3001}))


@pytest.mark.parametrize(
    ("restarted_ms", "bugs"),
    [(18_000, ("kmigrate-1",)), (40_000, ()), (70_000, ("kmigrate-1",))],
    ids=["during the copy", "since", "afterwards"],
)
def test_a_broker_that_was_started_again_since_the_copy_is_fenced_for_another_reason(
    restarted_ms: int, bugs: tuple[str, ...]
) -> None:
    """It has registered anew, and been unfenced, which a log does not say the time of."""
    run = replayed(REGISTERED + BEGUN + UNFENCED + ABORTED + AGAIN + REGISTERED + UNFENCED)
    events = sorted([*run.events, *started("broker-2", at_ms=restarted_ms)], key=lambda each: each.at_ns)
    assert named_of_expectations(replace(run, events=events, znodes=[TAKEN_OVER, COPIED])) == bugs


STAYS = REGISTERED + BEGUN + UNFENCED + ABORTED + AGAIN


def fenced(log: str, brokers: Sequence[int], uncounted: int) -> History:
    """Three brokers run; the log has these fenced in the end, and the active controller counts so many as fenced."""
    image = MetadataImage("metadata-log", extra={"brokers": {str(each): {"fenced": True} for each in brokers}})
    counts = {"ActiveControllerCount": 1.0, "ActiveBrokerCount": 3.0 - uncounted, "FencedBrokerCount": uncounted}
    nodes = [
        with_flag(0, "controller-3001"),
        controller(number=3001),
        *(e for n in range(3) for e in migrating(20_000, n)),
    ]
    return history(
        events=[phase(0, "HYBRID"), *nodes, snapshot(90_000, "a-log")],
        samples=[sample(at, "controller-3001", **counts) for at in range(20_000, 90_000, 1_000)],
        images={"a-log": image},
        znodes=[TAKEN_OVER],
        logs={"controller-3001": log},
    )


@pytest.mark.parametrize(
    ("log", "brokers", "uncounted", "bugs"),
    [
        (STAYS, [2], 0, ("kmigrate-1",)),
        (STAYS, [2], 1, ("kmigrate-1",)),
        (STAYS, [], 1, ("kmigrate-1",)),
        (STAYS, [1], 1, ()),
        (STAYS, [2], 2, ()),
        (STAYS, [], 3, ()),
        (REGISTERED + UNFENCED + BEGUN + ABORTED + AGAIN, [2], 1, ()),
        ("", [2], 1, ()),
    ],
    ids=["by the log", "by both", "by the gauge", "another broker", "two", "three", "unfenced before", "no log"],
)
def test_a_broker_that_stays_fenced_since_an_aborted_copy_is_kmigrate_1(
    log: str, brokers: list[int], uncounted: int, bugs: tuple[str, ...]
) -> None:
    """This one and no other; brokers that send no heartbeats are fenced, too."""
    run = fenced(log, brokers, uncounted)
    verdict = brokers_that_run_are_unfenced.judge(run)
    assert named(run, verdict) == bugs
    copied_before = replace(run, znodes=[TAKEN_OVER, replace(COPIED, at_ns=TAKEN_OVER.at_ns + 1)])
    assert named(copied_before, verdict) == (), "it was started since"


def reported(
    silent: int, *, topic: str = "x", mode: str = "zookeeper", log: str = STAYS, restarted_ms: int = 1_000
) -> History:
    """Brokers 0 and 2 are asked, one of which knows nothing; broker 2 was started before the copy was complete."""
    names = {f"broker-{each}": None if each == silent else topic for each in (0, 2)}
    replicas = {name: known and [0, 2] for name, known in names.items()}
    images = {
        "zk": MetadataImage(
            "zookeeper",
            known=FULL.known,
            topics={"orders": {"id": "x"}},
            partitions={"orders-0": {"replicas": [0, 2]}},
            configs={"topic:orders": {"segment.bytes": "7"}},
        ),
        "brokers": MetadataImage(
            "admin",
            known=FULL.known,
            topics={"orders": {"id": names}},
            partitions={"orders-0": {"replicas": replicas}},
            configs={"topic:orders": {"segment.bytes": {name: known and "7" for name, known in names.items()}}},
        ),
    }
    nodes = [*started(*CONTROLLERS), *broker(0, 0), *broker(restarted_ms, 2, mode)]
    events = [*nodes, *(snapshot(60_000, each, 0) for each in images)]
    return history(events=events, images=images, znodes=[TAKEN_OVER, COPIED], logs={"controller-3001": log})


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (reported(2), ("kmigrate-1",)),
        (reported(0), ()),
        (reported(2, topic="y"), ()),
        (reported(2, mode="kraft"), ()),
        (reported(2, log=REGISTERED + UNFENCED + BEGUN + ABORTED + AGAIN), ()),
        (reported(2, restarted_ms=40_000), ()),
    ],
    ids=["it knows nothing", "another broker", "the others differ", "KRaft mode", "unfenced before", "started since"],
)
def test_a_broker_that_stays_fenced_is_sent_nothing(run: History, bugs: tuple[str, ...]) -> None:
    """Controllers send to brokers in ZooKeeper mode that are not fenced; the others know what ZooKeeper has."""
    assert named(run, metadata_equivalent.judge(run, "zk", "brokers")) == bugs
