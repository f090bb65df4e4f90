"""Facts about a deletion that a broker missed while it was fenced."""

from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ClientMetadata
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Violation, violates
from tests.unit.checkers.histories import MS, change, event, history
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.clients.answering import MIXED, OF_THREE, TOPICS, answer, answered, each_second
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CLAIM,
    CONTROLLERS,
    explained_by,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    unmet,
)

CONTROL = "INFO [QuorumController id=3001] "
FENCED = f"{CONTROL}Fencing broker 2 because its session has timed out. (ReplicationControlManager)\n"
REMOVED = f"{CONTROL}Replayed RemoveTopicRecord for topic doomed with ID 53amGeeJSeGQPCiV5Ie3vA.\n"
BACK = (
    f"{CONTROL}Replayed BrokerRegistrationChangeRecord modifying the registration for broker 2: "
    "BrokerRegistrationChangeRecord(brokerId=2, brokerEpoch=33, fenced=-1, inControlledShutdown=0, logDirs=[])\n"
)
ANEW = f"{CONTROL}Replayed RegisterBrokerRecord establishing a new incarnation of broker 2: RegisterBrokerRecord(\n"
MISSED = FENCED + REMOVED + BACK
BEFORE, OF_ANOTHER_START = (
    ANEW.replace("(\n", f"(brokerId=2, isMigratingZkBroker=true, incarnationId={incarnation}, brokerEpoch=9)\n")
    for incarnation in ("8UGFdX45R", "x0dAk-2Bw")
)
REMOVED_IN_3_5 = f"{CONTROL}Removed topic doomed with ID 53amGeeJSeGQPCiV5Ie3vA. (ReplicationControlManager)\n"
BACK_IN_3_5 = f"{CONTROL}The request from broker 2 to unfence has been granted because it has caught up.\n"
ANEW_IN_3_5 = f"{CONTROL}Registered new broker: RegisterBrokerRecord(brokerId=2, isMigratingZkBroker=true,\n"


@pytest.mark.parametrize(
    ("log", "observed", "active", "bugs"),
    [
        (MISSED, [2], "controller-3001", ("kmigrate-13",)),
        (MISSED, [1, 2], "controller-3001", ()),
        (MISSED, [2], "controller-3002", ()),
        (REMOVED + FENCED + BACK, [2], "controller-3001", ()),
        (FENCED + BACK + REMOVED, [2], "controller-3001", ()),
        (FENCED + REMOVED + ANEW + BACK, [2], "controller-3001", ()),
        (FENCED + ANEW + REMOVED + BACK, [2], "controller-3001", ()),
        (MISSED + OF_ANOTHER_START, [2], "controller-3001", ()),
        (BEFORE + MISSED + BEFORE, [2], "controller-3001", ("kmigrate-13",)),
        (MISSED + OF_ANOTHER_START + MISSED, [2], "controller-3001", ("kmigrate-13",)),
        (FENCED + REMOVED_IN_3_5 + BACK_IN_3_5, [2], "controller-3001", ("kmigrate-13",)),
        (FENCED + REMOVED_IN_3_5 + ANEW_IN_3_5 + BACK_IN_3_5, [2], "controller-3001", ()),
        ("", [2], "controller-3001", ()),
        (MISSED, ["doomed"], "controller-3001", ()),
    ],
    ids=[
        "missed",
        "another broker, too",
        "another controller since",
        "deleted before",
        "deleted afterwards",
        "restarted",
        "restarted before the deletion",
        "restarted since",
        "its registration is logged again",
        "missed again since its restart",
        "missed, on 3.5",
        "restarted, on 3.5",
        "no log",
        "no brokers",
    ],
)
def test_a_deletion_that_a_fenced_broker_missed_is_kmigrate_13(
    log: str, observed: list[object], active: str, bugs: tuple[str, ...]
) -> None:
    """A broker that keeps a deleted topic for another reason is another defect."""
    still = unmet(60_000, "brokers that report the topic to clients", expected=[], observed=observed)
    events = [*started(*BROKERS), event(EventKind.ACTIVE_CONTROLLER, 5_000, active, controller=active), still]
    assert named_of_expectations(history(events=events, logs={"controller-3001": log})) == bugs


@pytest.mark.parametrize(
    ("name", "restarted_ms", "log", "bugs"),
    [
        ("brokers that report the topic to clients", 70_000, MISSED + OF_ANOTHER_START, ("kmigrate-13",)),
        ("brokers that report the topic to clients", 50_000, MISSED + OF_ANOTHER_START, ()),
        ("brokers that have the topic on their disks", 70_000, MISSED, ("kmigrate-13",)),
        ("partitions that have no leader", 70_000, MISSED, ()),
    ],
    ids=["restarted afterwards", "restarted before", "on its disks", "something else"],
)
def test_a_missed_deletion_explains_who_has_the_topic_until_it_is_restarted(
    name: str, restarted_ms: int, log: str, bugs: tuple[str, ...]
) -> None:
    """A broker that registers anew is sent all there is; other lists of numbers are about something else."""
    active = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    events = [*started(*BROKERS), active, unmet(60_000, name, expected=[], observed=[2])]
    events += started("broker-2", at_ms=restarted_ms)
    in_order = sorted(events, key=lambda each: each.at_ns)
    assert named_of_expectations(history(events=in_order, logs={"controller-3001": log})) == bugs


DOOMED = {**TOPICS, "doomed": "id; 0 leader=0 isr=0,1"}


@pytest.mark.parametrize(
    ("log", "brokers", "bugs"),
    [
        (MISSED, OF_THREE, ("kmigrate-13",)),
        (REMOVED, OF_THREE, ()),
        (MISSED, MIXED, ()),
        (MISSED.replace("topic doomed", "topic doomed-too"), OF_THREE, ()),
    ],
    ids=["missed", "not fenced", "in KRaft mode", "another topic"],
)
def test_clients_that_are_told_of_a_missed_deletion_are_kmigrate_13(
    log: str, brokers: list[Event], bugs: tuple[str, ...]
) -> None:
    """Broker-1 still reports the topic; it explains that where it was fenced, and is in ZooKeeper mode."""
    answers = each_second(
        lambda at: answer(at, 0, topics=DOOMED if at < 20 else TOPICS), lambda at: answer(at, 1, topics=DOOMED)
    )
    assert named_of_answers(answers, brokers, log, keeper=1) == bugs


@pytest.mark.parametrize(
    ("log", "brokers", "keeper", "bugs"),
    [
        (MISSED, OF_THREE, 0, ("kmigrate-13",)),
        (MISSED, MIXED, 0, ("kmigrate-13",)),
        (MISSED, OF_THREE, 1, ()),
        (REMOVED, OF_THREE, 0, ()),
    ],
    ids=["missed", "the other in KRaft mode", "missed by the other", "not fenced"],
)
def test_so_are_they_if_the_broker_that_keeps_it_comes_first(
    log: str, brokers: list[Event], keeper: int, bugs: tuple[str, ...]
) -> None:
    """Broker-0 still reports the topic, and broker-1 does not any more."""
    answers = each_second(
        lambda at: answer(at, 0, topics=DOOMED), lambda at: answer(at, 1, topics=DOOMED if at < 20 else TOPICS)
    )
    assert named_of_answers(answers, brokers, log, keeper) == bugs


@pytest.mark.parametrize("keeper", [0, 1])
def test_a_topic_that_both_have_and_differently_is_another_defect(keeper: int) -> None:
    """In either order."""
    other = {**TOPICS, "doomed": "id; 0 leader=1 isr=1"}
    answers = each_second(
        lambda at: answer(at, keeper, topics=DOOMED),
        lambda at: answer(at, 1 - keeper, topics=DOOMED if at < 20 else other),
    )
    assert named_of_answers(answers, OF_THREE, MISSED, keeper) == ()


def reported_by(**ids: str | None) -> dict[str, MetadataImage]:
    """ZooKeeper has no topic doomed any more, and brokers report it, or do not."""
    by = {each.replace("_", "-"): id_ for each, id_ in ids.items()}
    replicas = {each: id_ and [0, 2] for each, id_ in by.items()}
    asked = MetadataImage(
        "admin",
        known=FULL.known,
        topics={"doomed": {"id": by}},
        partitions={"doomed-0": {"replicas": replicas}},
    )
    return {"zk": MetadataImage("zookeeper", known=FULL.known), "after-brokers": asked}


@pytest.mark.parametrize(
    ("images", "log", "bugs"),
    [
        (reported_by(broker_0=None, broker_2="id"), MISSED, ("kmigrate-13",)),
        (reported_by(broker_0="id", broker_2="id"), MISSED, ()),
        (reported_by(broker_0="id", broker_2=None), MISSED, ()),
        (reported_by(broker_0=None, broker_2="id"), REMOVED, ()),
        (reported_by(broker_0=None, broker_2="id"), MISSED.replace("topic doomed", "topic doomed-too"), ()),
    ],
    ids=["missed", "another one, too", "another one", "not fenced", "another topic"],
)
def test_brokers_that_are_asked_for_a_missed_deletion_are_kmigrate_13(
    images: dict[str, MetadataImage], log: str, bugs: tuple[str, ...]
) -> None:
    """A comparison names each place of the topic; a check of what brokers are sent, the topic."""
    active = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    events = [*started(*BROKERS, *CONTROLLERS), active, change(30_000, "delete-topic", "doomed")]
    run = seen_at_last(images, *events, logs={"controller-3001": log}, znodes=[CLAIM])
    assert named(run, metadata_equivalent.judge(run, "zk", "after-brokers")) == bugs
    expected = "topics doomed is absent in after-brokers, as a broker acknowledged"
    sent = violates(Kind.SAFETY, [Violation(expected, "it is there", 60_000 * MS)]).by(brokers_are_told_of_changes.name)
    assert explained_by(run, sent) == bugs
    more = violates(Kind.SAFETY, [*sent.violations, Violation("topics x is there", "it is not", 60_000 * MS)])
    assert explained_by(run, more.by(brokers_are_told_of_changes.name)) == ()


def named_of_answers(answers: list[ClientMetadata], brokers: list[Event], log: str, keeper: int) -> tuple[str, ...]:
    """What the verdict on these answers is known as, where the log is about the broker that keeps the topic."""
    active = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    of_keeper = log.replace("broker 2", f"broker {keeper}").replace("brokerId=2", f"brokerId={keeper}")
    run = replace(answered(answers, [*brokers, active]), logs={"controller-3001": of_keeper})
    return named(run, clients_are_told_the_same.judge(run))


def updated(deleted: int, by: int = 3002, broker: int = 2) -> str:
    """What a broker logs of metadata that a controller sent it."""
    counts = f"Add 6 partitions and deleted {deleted} partitions from metadata cache"
    request = f"in response to UpdateMetadata request sent by controller {by} epoch 5 with correlation id 0"
    return f"INFO [Broker id={broker}] {counts} {request} (state.change.logger)\n"


@pytest.mark.parametrize(
    ("controllers", "broker", "kafka", "bugs"),
    [
        (MISSED, updated(0), "3.6.0", ("KAFKA-15799",)),
        (MISSED, updated(0), "3.6.1", ()),
        (MISSED, updated(0) + updated(3), "3.6.0", ()),
        (MISSED, updated(0, by=3001), "3.6.0", ()),
        (MISSED, updated(0, broker=1), "3.6.0", ()),
        (MISSED, "", "3.6.0", ()),
        (FENCED + BACK + REMOVED, updated(0), "3.6.0", ()),
    ],
    ids=["met", "mended", "removed", "of the former", "another broker", "not sent", "not missed"],
)
def test_metadata_of_a_later_controller_that_removes_nothing_is_kafka_15799(
    controllers: str, broker: str, kafka: str, bugs: tuple[str, ...]
) -> None:
    """The former controller deleted the topic while the broker was fenced; the later one has sent it everything."""
    reported, held = "brokers that report the topic to clients", "brokers that have the topic on their disks"
    logs = {"controller-3001": controllers, "broker-2": broker}
    active = [event(EventKind.ACTIVE_CONTROLLER, at_ms, node) for at_ms, node in ((5_000, FIRST), (62_000, SECOND))]
    before = [unmet(at_ms, name, expected=[], observed=[2]) for at_ms, name in ((60_000, reported), (61_000, held))]
    after = [unmet(at_ms, name, expected=[], observed=[2]) for at_ms, name in ((90_000, reported), (91_000, held))]
    for unmet_ones, others in ((after, ()), ([*before, *after], ("kmigrate-13",))):
        events = [*started(*BROKERS), *sorted([*active, *unmet_ones], key=lambda each: each.at_ns)]
        assert named_of_expectations(history(events=events, logs=logs, kafka=kafka)) == (bugs and (*others, *bugs))


FIRST, SECOND = "controller-3001", "controller-3002"


def test_while_the_same_controller_is_active_only_kmigrate_13_is_named() -> None:
    """Nothing complete has been sent yet."""
    events = [
        *started(*BROKERS),
        event(EventKind.ACTIVE_CONTROLLER, 5_000, FIRST),
        unmet(60_000, "brokers that report the topic to clients", expected=[], observed=[2]),
    ]
    run = history(events=events, logs={FIRST: MISSED, "broker-2": updated(0, by=3001)}, kafka="3.6.0")
    assert named_of_expectations(run) == ("kmigrate-13",)


TO_STOP = (
    "INFO [Controller id=3001 epoch=5] Sending StopReplica request for 1 replicas to broker 2 (state.change.logger)\n"
)
NOT_SENT = (
    f"{TO_STOP}WARN [Channel manager on controller 3001]: Not sending request StopReplica with controllerId=3001, "
    "controllerEpoch=5, brokerEpoch=59 to broker 2, since it is offline. (ControllerChannelManager)\n"
)


@pytest.mark.parametrize(
    ("log", "name", "observed", "replicas", "bugs"),
    [
        (NOT_SENT, "moved-0", [0, 1, 2], (0, 1), ("kmigrate-13",)),
        (TO_STOP, "moved-0", [0, 1, 2], (0, 1), ()),
        (NOT_SENT + TO_STOP, "moved-0", [0, 1, 2], (0, 1), ()),
        (NOT_SENT, "moved-0", [0, 1, 2], (0, 1, 2), ()),
        (NOT_SENT, "moved", [0, 1, 2], (0, 1), ()),
        (NOT_SENT, "moved-0", [0, 1, 2, 3], (0, 1), ()),
        (NOT_SENT, "moved-0", [0, 2], (0, 1), ()),
    ],
    ids=[
        "not sent",
        "sent",
        "sent another",
        "still a replica",
        "no partition",
        "another broker, too",
        "one is lacking",
    ],
)
def test_a_replica_that_a_fenced_broker_was_not_told_to_stop_is_kmigrate_13(
    log: str, name: str, observed: list[int], replicas: tuple[int, ...], bugs: tuple[str, ...]
) -> None:
    """The controller leaves out the request to a broker that is fenced, and never sends it again."""
    on_disks = unmet(60_000, f"brokers that have {name} on their disks", expected=[0, 1], observed=observed)
    events = [*started(*BROKERS), event(EventKind.ACTIVE_CONTROLLER, 5_000, FIRST), on_disks]
    image = MetadataImage("metadata-log", partitions={"moved-0": {"replicas": replicas}})
    run = history(events=events, images={"moved-log": image}, logs={FIRST: log})
    assert named_of_expectations(run) == bugs


def started_again(
    *, deleted_ms: int = 27_000, topic: str = "doomed", outcome: str = "ok", restarted_ms: int = 26_000
) -> list[Event]:
    """Broker-2 ends after 20 s, is started again and is ready after 30 s; a topic is deleted."""
    active = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    died = event(EventKind.NODE_DIED, 20_000, "broker-2", exit_code=1, said="")
    ready = event(EventKind.NODE_READY, 30_000, "broker-2", took_ms=4_000)
    again = started("broker-2", at_ms=restarted_ms)
    deleted = change(deleted_ms, "delete-topic", topic, outcome)
    in_order = [*started(*BROKERS, *CONTROLLERS), active, died, *again, deleted, ready]
    return sorted(in_order, key=lambda each: each.at_ns)


STARTING = "2026-11-30 08:00:26,500 INFO starting (kafka.server.KafkaServer)\n"
OBEYED = (
    "INFO [Broker id=2] Add 20 partitions and deleted 0 partitions from metadata cache in response to UpdateMetadata "
    "request sent by controller 3001 epoch 5 with correlation id 43 (state.change.logger)\n"
)
OF_ITS_OWN = (
    "INFO [BrokerLifecycleManager id=2 isZkBroker=true] Successfully registered broker 2 with broker epoch 280\n"
    + OBEYED
)
REMOVES = OBEYED.replace("deleted 0", "deleted 4")

OWN = STARTING + OBEYED + OF_ITS_OWN


@pytest.mark.parametrize(
    ("events", "log", "own", "bugs"),
    [
        (started_again(), REMOVED + ANEW, OWN, ("kmigrate-39",)),
        (started_again(deleted_ms=21_000), REMOVED + ANEW, OWN, ("kmigrate-39",)),
        (started_again(deleted_ms=19_000), REMOVED + ANEW, OWN, ()),
        (started_again(deleted_ms=31_000), REMOVED + ANEW, OWN, ()),
        (started_again(outcome="indefinite"), REMOVED + ANEW, OWN, ()),
        (started_again(), ANEW + REMOVED, OWN, ()),
        (started_again(), REMOVED, OWN, ()),
        (started_again(), REMOVED.replace("doomed", "other") + ANEW, OWN, ()),
        (started_again(), REMOVED + ANEW, STARTING + OF_ITS_OWN, ()),
        (started_again(), REMOVED + ANEW, OBEYED + STARTING + OF_ITS_OWN, ()),
        (started_again(), REMOVED + ANEW, OWN + REMOVES, ()),
        (started_again(), REMOVED + ANEW, OWN.replace("controller 3001", "controller 3002"), ()),
    ],
    ids=[
        "while it came up",
        "while it was away",
        "before it ended",
        "when it was ready",
        "without an answer",
        "deleted after it registered",
        "it never registered anew",
        "another topic",
        "it obeyed nothing before",
        "it obeyed before its start",
        "it removed something since",
        "it obeyed another controller",
    ],
)
def test_a_deletion_behind_the_former_registration_is_kmigrate_39(
    events: list[Event], log: str, own: str, bugs: tuple[str, ...]
) -> None:
    """The broker takes what was queued before it registered anew, and the deletion behind that is thrown away."""
    images = reported_by(broker_0=None, broker_2="id")
    run = seen_at_last(images, *events, logs={"controller-3001": log, "broker-2": own}, znodes=[CLAIM])
    assert named(run, metadata_equivalent.judge(run, "zk", "after-brokers")) == bugs
    expected = "topics doomed is absent in after-brokers, as a broker acknowledged"
    sent = violates(Kind.SAFETY, [Violation(expected, "it is there", 60_000 * MS)]).by(brokers_are_told_of_changes.name)
    assert explained_by(run, sent) == bugs
