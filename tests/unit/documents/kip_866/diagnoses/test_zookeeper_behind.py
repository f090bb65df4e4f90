"""Facts about changes that ZooKeeper lacks or keeps: writes that were lost with a session, and quotas that stay."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import MS, change, event, fault, history, phase, snapshot
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, seen_at_last, started, timed

EXPIRED_WRITE = (
    "2026-11-30 08:00:03,500 INFO [KRaftMigrationDriver id=3000] "
    "Encountered ZooKeeper error during event MetadataChangeEvent{provenance="
    "MetadataProvenance(lastContainedOffset=80), isSnapshot=false}. Will retry. (KRaftMigrationDriver)\n"
    "org.apache.zookeeper.KeeperException$SessionExpiredException: KeeperErrorCode = Session expired\n"
)
LATE_WRITE = EXPIRED_WRITE.replace("08:00:03", "08:00:33")
WITHOUT_CAUSE = EXPIRED_WRITE.partition("\n")[0] + "\n"
SESSION_ENDED = "INFO [ZooKeeperClient KRaft Migration] Session expired. (kafka.zookeeper.ZooKeeperClient)\n"
WRITTEN_SINCE = (
    "DEBUG [KRaftMigrationDriver id=3000] Made the following ZK writes when handling KRaft delta: {CreateTopic=1}\n"
)
CLOSING = "INFO [ZooKeeperClient KRaft Migration] Closing. (kafka.zookeeper.ZooKeeperClient)\n"
QUEUE_ENDS = (
    "INFO [KRaftMigrationDriver id=3000] KRaftMigrationDriver#shutdown: shutting down event queue. (KafkaEventQueue)\n"
)
SHUTTING_DOWN = CLOSING + QUEUE_ENDS
CLOSED = "INFO [KRaftMigrationDriver id=3000] closed event queue. (KafkaEventQueue)\n"
EXPIRED = fault(1_000, "expire-session(active-controller)")
OF_A_CONTROLLER = event(
    EventKind.FAULT_APPLIED, 1_000, fault_id="expire-session(active-controller)", targets=["controller-3000"]
)
OF_A_BROKER = replace(OF_A_CONTROLLER, data={**OF_A_CONTROLLER.data, "targets": ["broker-2"]})
MEANWHILE = change(3_000, "alter-config", "broker:1", wanted={"a": "2"})
MUCH_LATER = change(30_000, "alter-config", "broker:1", wanted={"a": "2"})
IN_SESSION = [*EXPIRED, OF_A_CONTROLLER, MEANWHILE]


@pytest.mark.parametrize(
    ("events", "source", "log", "is_named"),
    [
        (IN_SESSION, "zookeeper", EXPIRED_WRITE, True),
        (IN_SESSION, "zookeeper", LATE_WRITE, False),
        (IN_SESSION, "zookeeper", SESSION_ENDED + WITHOUT_CAUSE, True),
        (IN_SESSION, "zookeeper", WITHOUT_CAUSE, False),
        (IN_SESSION, "zookeeper", SESSION_ENDED + WRITTEN_SINCE + WITHOUT_CAUSE, False),
        (IN_SESSION, "zookeeper", "", False),
        ([*EXPIRED, OF_A_CONTROLLER, MUCH_LATER], "zookeeper", EXPIRED_WRITE, False),
        ([*EXPIRED, OF_A_BROKER, MEANWHILE], "zookeeper", EXPIRED_WRITE, False),
        (IN_SESSION, "metadata-log", EXPIRED_WRITE, False),
        ([MEANWHILE], "zookeeper", EXPIRED_WRITE, False),
    ],
    ids=[
        "meanwhile",
        "refused long afterwards",
        "deletion",
        "no session ended",
        "written since",
        "no write was refused",
        "much later",
        "a broker's session",
        "in the log",
        "no session",
    ],
)
def test_what_is_lost_with_a_session_is_kmigrate_14(
    events: list[Event], source: str, log: str, *, is_named: bool
) -> None:
    """All that ZooKeeper lacks was acknowledged about when a KRaft controller's session was expired."""
    with_it = MetadataImage("metadata-log", known=FULL.known, configs={"broker:1": {"a": "2"}})
    images = {"after": MetadataImage(source, known=FULL.known), "log": with_it}
    run = timed(seen_at_last(images, *started(*CONTROLLERS), *events, logs={"controller-3000": log}))
    bugs = ("kmigrate-14",) if is_named else ()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
    of_another = replace(run, logs={"controller-3001": log})
    assert named(of_another, metadata_equivalent.judge(of_another, "log", "after")) == ()


HALF_WRITTEN = {"new-0": {"replicas": [0], "isr": [0], "leader": 0}, "new-1": {"replicas": [0]}}
WHOLE = {each: {"replicas": [0], "isr": [0], "leader": 0} for each in HALF_WRITTEN}


@pytest.mark.parametrize(
    ("made_ns", "beside", "is_named"),
    [(3_000, {}, True), (30_000, {}, False), (3_000, {"acls": {"Topic:LITERAL:a": ["b"]}}, False)],
    ids=["meanwhile", "much later", "something else is lacking"],
)
def test_a_topic_that_was_being_written_as_the_session_ended_may_lack_partitions(
    made_ns: int, beside: dict[str, dict[str, list[str]]], *, is_named: bool
) -> None:
    """The topic itself is there, so that no acknowledged change is lost as a whole."""
    made = change(made_ns, "create-topic", "new", wanted={"partitions": 2, "replication": 1})
    topics = {"new": {"id": "x"}}
    images = {
        "log": MetadataImage("metadata-log", topics=topics, partitions=WHOLE, **beside),
        "after": MetadataImage("zookeeper", topics=topics, partitions=HALF_WRITTEN),
    }
    events = [*started(*CONTROLLERS), *EXPIRED, OF_A_CONTROLLER, made]
    run = timed(seen_at_last(images, *events, logs={"controller-3000": EXPIRED_WRITE}))

    assert named(run, metadata_equivalent.judge(run, "log", "after")) == (("kmigrate-14",) if is_named else ())


@pytest.mark.parametrize(
    ("deleted_ms", "still_there", "beside", "is_named"),
    [
        (3_000, {"gone"}, {}, True),
        (30_000, {"gone"}, {}, False),
        (3_000, {"gone", "older"}, {}, False),
        (3_000, set(), {}, False),
        (3_000, {"gone"}, {"acls": {"Topic:LITERAL:a": ["b"]}}, False),
    ],
    ids=["meanwhile", "much later", "another topic, too", "its partitions alone", "something else is there"],
)
def test_a_topic_whose_deletion_was_lost_is_there_with_its_partitions(
    deleted_ms: int, still_there: set[str], beside: dict[str, dict[str, list[str]]], *, is_named: bool
) -> None:
    """A partition has no acknowledged change of its own: the deletion of its topic is what is looked for."""
    deleted = [change(-60_000, "delete-topic", "older"), change(deleted_ms, "delete-topic", "gone")]
    states = {f"{topic}-0": {"replicas": [0], "isr": [0], "leader": 0} for topic in still_there or {"gone"}}
    images = {
        "log": MetadataImage("metadata-log"),
        "after": MetadataImage(
            "zookeeper", topics={each: {"id": "x"} for each in still_there}, partitions=states, **beside
        ),
    }
    events = [*started(*CONTROLLERS), *EXPIRED, OF_A_CONTROLLER, *deleted]
    run = timed(seen_at_last(images, *events, logs={"controller-3000": EXPIRED_WRITE}))
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == (("kmigrate-14",) if is_named else ())


DUAL_WRITE = phase(2, "HYBRID")
WRITTEN, OWED = (change(at, "alter-config", "broker:1", wanted={name: "1"}) for at, name in ((10, "a"), (11, "b")))
DEPROVISIONED = event(EventKind.STEP_ENDED, 20, step="deprovision-controllers", outcome="done")
AFTERWARDS = change(25, "set-quota", "user=a", wanted={"producer_byte_rate": 1})
REVERTED = [DUAL_WRITE, WRITTEN, OWED, DEPROVISIONED]
DROPPED_WRITE, DROPPED_LATER, DROPPED_BEFORE = (
    EXPIRED_WRITE.replace("08:00:03,500", time) for time in ("08:00:00,015", "08:00:03,500", "08:00:00,005")
)
DROPPED = SHUTTING_DOWN + DROPPED_WRITE + CLOSED


@pytest.mark.parametrize(
    ("events", "written", "log", "is_named"),
    [
        (REVERTED, "a", DROPPED, True),
        (REVERTED, "a", CLOSING + DROPPED_WRITE + QUEUE_ENDS + CLOSED, True),
        (REVERTED, "a", SHUTTING_DOWN + DROPPED_BEFORE + CLOSED, False),
        (REVERTED, "a", SHUTTING_DOWN + DROPPED_LATER + CLOSED, False),
        (REVERTED, "a", SHUTTING_DOWN + CLOSED, False),
        (REVERTED, "a", DROPPED_WRITE + SHUTTING_DOWN + CLOSED + DROPPED_WRITE, False),
        ([DUAL_WRITE, WRITTEN, OWED], "a", DROPPED, False),
        ([*REVERTED, AFTERWARDS], "a", DROPPED, False),
        (REVERTED, "c", DROPPED, False),
        ([WRITTEN, replace(DUAL_WRITE, at_ns=WRITTEN.at_ns + 1), OWED, DEPROVISIONED], "a", DROPPED, False),
        (REVERTED, "b", DROPPED, False),
    ],
    ids=[
        "owed",
        "owed, and reported before the queue ended",
        "in a shutdown before",
        "in a shutdown of the next migration",
        "nothing failed in the shutdown",
        "it failed before and afterwards",
        "no revert",
        "some of it afterwards",
        "all of it",
        "all of dual write",
        "the first, not the last",
    ],
)
def test_what_a_deprovisioned_quorum_owed_is_kmigrate_5(
    events: list[Event], written: str, log: str, *, is_named: bool
) -> None:
    """All that is lost was acknowledged in dual write, before the controllers were taken away, and not first."""
    image = MetadataImage("zookeeper", known=FULL.known, configs={"broker:1": {written: "1"}})
    taken = [*started(*CONTROLLERS), snapshot(30, "after", took_ms=0)]
    run = timed(history(events=[*events, *taken], images={"after": image}, logs={"controller-3000": log}))
    bugs = ("kmigrate-5",) if is_named else ()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


@pytest.mark.parametrize(
    ("at_ms", "config", "is_named"),
    [(15, {"a": "1", "b": "1"}, False), (15, {"a": "1"}, True), (9, {"a": "1", "b": "1"}, True)],
    ids=["with it", "without it", "before"],
)
def test_what_came_to_zookeeper_before_the_revert_was_not_dropped(
    at_ms: int, config: dict[str, str], *, is_named: bool
) -> None:
    """By ZooKeeper's own log: it was written, and is gone again for another reason."""
    write = Write("set-data", "/config/brokers/1", json.dumps({"version": 1, "config": config}))
    image = MetadataImage("zookeeper", known=FULL.known, configs={"broker:1": {"a": "1"}})
    events = [*REVERTED, *started(*CONTROLLERS), snapshot(30, "after", took_ms=0)]
    logs = {"controller-3000": DROPPED}
    transactions = [Transaction(at_ms * MS, 50, 7, (write,))]
    run = timed(history(events=events, images={"after": image}, logs=logs, transactions=transactions))
    bugs = ("kmigrate-5",) if is_named else ()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


THROWN = (
    "2026-11-30 08:00:00,011 ERROR Encountered zk migration fault: "
    "Unhandled error in MetadataChangeEvent{provenance=MetadataProvenance()}\n"
    'java.lang.NullPointerException: Cannot invoke "org.apache.kafka.image.ClientQuotaImage.quotaMap()" because the '
    'return value of "java.util.Map.get(Object)" is null\n'
    "\tat org.apache.kafka.metadata.migration.KRaftMigrationZkWriter.lambda$handleClientQuotasDelta$44(X.java:533)\n"
)
HYBRID = phase(5, "HYBRID")
BY_CLIENT = "client-id=<default>"
GIVEN = change(2, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": 7.0, "consumer_byte_rate": 7.0})
TAKEN = change(10, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": None, "consumer_byte_rate": None})
HALF_TAKEN = change(10, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": None})
TAKEN_AGAIN = replace(TAKEN, at_ns=30 * MS, data={**TAKEN.data, "began_ns": 29 * MS})
GIVEN_AGAIN = replace(GIVEN, at_ns=20 * MS, data={**GIVEN.data, "began_ns": 19 * MS})
GIVEN_ANOTHER = change(2, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": 7.0, "consumer_byte_rate": 9.0})
GIVEN_HALF = change(2, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": 7.0})
THROWN_BEFORE, THROWN_LATE, THROWN_MUCH_LATER = (
    THROWN.replace("08:00:00,011", time) for time in ("08:00:00,004", "08:00:20,011", "08:00:40,011")
)
OF_A_USER = change(10, "set-quota", "user=a", wanted={"producer_byte_rate": None, "consumer_byte_rate": None})
UNSET = change(11, "alter-config", "broker:1", wanted={"a": None})


@pytest.mark.parametrize(
    ("events", "source", "log", "is_named"),
    [
        ([GIVEN, HYBRID, TAKEN], "zookeeper", THROWN, True),
        ([GIVEN, HYBRID, TAKEN], "zookeeper", THROWN.replace("handleClientQuotasDelta", "handleAclsDelta"), False),
        ([GIVEN, HYBRID, TAKEN], "zookeeper", "", False),
        ([GIVEN, HYBRID, TAKEN], "metadata-log", THROWN, False),
        ([GIVEN, HYBRID, TAKEN, DEPROVISIONED], "metadata-log", THROWN, True),
        ([GIVEN, HYBRID, HALF_TAKEN], "zookeeper", THROWN, False),
        ([GIVEN, TAKEN], "zookeeper", THROWN, False),
        ([GIVEN, HYBRID, TAKEN, UNSET], "zookeeper", THROWN, False),
        ([HYBRID, OF_A_USER], "zookeeper", THROWN, False),
        ([GIVEN, HYBRID, TAKEN], "zookeeper", THROWN_BEFORE, False),
        ([GIVEN, HYBRID, TAKEN], "zookeeper", THROWN_LATE, True),
        ([GIVEN, HYBRID, TAKEN], "zookeeper", THROWN_MUCH_LATER, False),
        ([GIVEN, HYBRID, TAKEN, TAKEN_AGAIN], "zookeeper", THROWN, True),
        ([GIVEN, HYBRID, TAKEN, GIVEN_AGAIN, TAKEN_AGAIN], "zookeeper", THROWN, False),
        ([GIVEN_ANOTHER, HYBRID, TAKEN], "zookeeper", THROWN, False),
        ([GIVEN_HALF, HYBRID, TAKEN], "zookeeper", THROWN, False),
    ],
    ids=[
        "last",
        "another handler threw",
        "nothing was thrown",
        "in the log",
        "copied back",
        "not the last",
        "before dual write",
        "more is missing",
        "of a user",
        "thrown before",
        "thrown late",
        "thrown much later",
        "taken away twice",
        "thrown as it was taken away before it was given again",
        "another value is left",
        "one that was never given is left",
    ],
)
def test_the_last_quota_that_stays_is_kmigrate_9(events: list[Event], source: str, log: str, *, is_named: bool) -> None:
    """It was taken away in dual write, of anything but a user alone, and nothing else is wrong."""
    of = "user=a" if OF_A_USER in events else BY_CLIENT
    quotas = {of: {"producer_byte_rate": 7.0, "consumer_byte_rate": 7.0}}
    left = MetadataImage(source, known=FULL.known, quotas=quotas, configs={"broker:1": {"a": "2"}})
    taken = [*started(*CONTROLLERS), snapshot(50, "after", took_ms=0)]
    run = timed(history(events=[*events, *taken], images={"after": left}, logs={"controller-3000": log}))
    bugs = ("kmigrate-9",) if is_named else ()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


UNSURE = change(2, "set-quota", BY_CLIENT, "indefinite", wanted={"producer_byte_rate": 7.0})
TAKEN_AFTER_IT = change(10, "set-quota", BY_CLIENT, wanted={"producer_byte_rate": None})
UNSURE_OF_ANOTHER = change(1, "set-quota", BY_CLIENT, "indefinite", wanted={"consumer_byte_rate": 7.0})
UNANSWERED = change(10, "set-quota", BY_CLIENT, "indefinite", wanted={"producer_byte_rate": None})
SURE = GIVEN_HALF
NEITHER_SURE = [UNSURE, HYBRID, UNANSWERED]
LEFT = {"producer_byte_rate": 7.0}


@pytest.mark.parametrize(
    ("events", "log", "left", "is_named"),
    [
        (NEITHER_SURE, THROWN, LEFT, True),
        (NEITHER_SURE, THROWN, {"producer_byte_rate": 99.0}, False),
        (NEITHER_SURE, THROWN, {**LEFT, "consumer_byte_rate": 7.0}, False),
        (NEITHER_SURE, THROWN_BEFORE, LEFT, False),
        (NEITHER_SURE, THROWN_MUCH_LATER, LEFT, False),
        (NEITHER_SURE, THROWN.partition("\n")[2], LEFT, False),
        (
            [replace(UNSURE, at_ns=12 * MS, data={**UNSURE.data, "began_ns": 11 * MS}), *NEITHER_SURE[1:]],
            THROWN,
            LEFT,
            False,
        ),
    ],
    ids=["met", "another value", "more than was given", "thrown before", "thrown much later", "no time", "given later"],
)
def test_of_a_quota_without_any_answer_the_value_and_the_time_are_looked_at(
    events: list[Event], log: str, left: dict[str, float], *, is_named: bool
) -> None:
    """A value that no change asked for has another cause, and so has an exception at another time."""
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known),
        "after": MetadataImage("zookeeper", known=FULL.known, quotas={BY_CLIENT: left}),
    }
    taken = [*started(*CONTROLLERS), snapshot(49, "log", took_ms=0), snapshot(50, "after", took_ms=0)]
    run = timed(history(events=[*events, *taken], images=images, logs={"controller-3000": log}))
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == (("kmigrate-9",) if is_named else ())


@pytest.mark.parametrize(
    ("events", "log", "in_log", "log_ms", "is_named"),
    [
        ([UNSURE, HYBRID, TAKEN_AFTER_IT], THROWN, {}, 49, True),
        ([SURE, HYBRID, UNANSWERED], THROWN, {}, 49, True),
        ([UNSURE_OF_ANOTHER, SURE, HYBRID, TAKEN_AFTER_IT], THROWN, {}, 49, True),
        (
            [UNSURE_OF_ANOTHER, SURE, HYBRID, TAKEN_AFTER_IT],
            THROWN,
            {BY_CLIENT: {"consumer_byte_rate": 7.0}},
            49,
            False,
        ),
        ([SURE, HYBRID, UNANSWERED], "", {}, 49, False),
        ([SURE, UNANSWERED], THROWN, {}, 49, False),
        ([SURE, HYBRID, UNANSWERED], THROWN, {}, 9, False),
        ([SURE, HYBRID], THROWN, {}, 49, False),
        ([UNSURE, HYBRID, TAKEN_AFTER_IT], THROWN, {BY_CLIENT: {"consumer_byte_rate": 7.0}}, 49, False),
    ],
    ids=[
        "set without an answer",
        "taken away without an answer",
        "another one never confirmed",
        "another one never confirmed is left",
        "nothing was thrown",
        "before dual write",
        "the log was read before",
        "never taken away",
        "another one of the log is left",
    ],
)
def test_a_quota_of_which_a_change_has_no_answer_is_gone_by_the_log(
    events: list[Event], log: str, in_log: dict[str, dict[str, float]], log_ms: int, *, is_named: bool
) -> None:
    """What answers leave open the metadata log shows, if it was read after the removal."""
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known, quotas=in_log),
        "after": MetadataImage("zookeeper", known=FULL.known, quotas={BY_CLIENT: {"producer_byte_rate": 7.0}}),
    }
    taken = [*started(*CONTROLLERS), snapshot(log_ms, "log", took_ms=0), snapshot(50, "after", took_ms=0)]
    run = timed(history(events=[*events, *taken], images=images, logs={"controller-3000": log}))
    bugs = ("kmigrate-9",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


def quota_record(offset: int, key: str, *, remove: bool = False) -> dict[str, object]:
    """A quota of the default client is set or taken away by a record of the metadata log."""
    entity = [{"entityType": "client-id", "entityName": None}]
    data = {"entity": entity, "key": key, "value": 7.0, "remove": remove}
    return {"offset": offset, "type": "CLIENT_QUOTA_RECORD", "version": 0, "data": data}


@pytest.mark.parametrize(
    ("key", "bugs"),
    [("producer_byte_rate", ("kmigrate-9",)), ("consumer_byte_rate", ())],
    ids=["it had", "it never had"],
)
def test_what_zookeeper_keeps_the_log_once_held(key: str, bugs: tuple[str, ...]) -> None:
    """By its records, where they were kept: a controller that writes what was never committed has another defect."""
    records = [quota_record(5, "producer_byte_rate"), quota_record(9, "producer_byte_rate", remove=True)]
    log = MetadataImage("metadata-log", known=FULL.known, read_from=records)
    images = {"log": log, "after": MetadataImage("zookeeper", known=FULL.known, quotas={BY_CLIENT: {key: 7.0}})}
    taken = [*started(*CONTROLLERS), snapshot(49, "log", took_ms=0), snapshot(50, "after", took_ms=0)]
    events = [UNSURE_OF_ANOTHER, SURE, HYBRID, TAKEN_AFTER_IT, *taken]
    run = timed(history(events=events, images=images, logs={"controller-3000": THROWN}))
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs
