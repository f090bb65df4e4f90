"""Facts about 3.4, in which the migration was an early access: its copy, and what it waits for."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.copying.takeover import takeover_waits_for_every_broker
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, event, history, phase, znode
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CLAIM,
    compared,
    failed_step,
    named,
    named_of_deaths,
    named_of_expectations,
    named_of_steps,
    started,
    unmet,
)

QUOTAS = {
    "user=<default>": {"producer_byte_rate": 1.0},
    "user=CN=al ice,client-id=<default>": {"producer_byte_rate": 2.0},
    "ip=127.9.9.9": {"connection_creation_rate": 3.0},
}
AS_COPIED = {
    "users=<default>": {"producer_byte_rate": 1.0},
    "clients=<default>,users=CN%3Dal%20ice": {"producer_byte_rate": 2.0},
    "ips=127.9.9.9": {"connection_creation_rate": 3.0},
}


@pytest.mark.parametrize(
    ("in_log", "kafka", "bugs"),
    [
        (AS_COPIED, "3.4.1", ("kmigrate-28",)),
        (AS_COPIED, "3.5.2", ()),
        ({**AS_COPIED, "users=b": {"producer_byte_rate": 1.0}}, "3.4.1", ()),
        ({each: AS_COPIED[each] for each in AS_COPIED if each != "ips=127.9.9.9"}, "3.4.1", ()),
    ],
    ids=["all", "on a later release", "one that ZooKeeper lacks", "one that is lost"],
)
def test_quotas_of_entities_of_other_kinds_are_named(
    in_log: dict[str, dict[str, float]], kafka: str, bugs: tuple[str, ...]
) -> None:
    """Each by the folder of its znode; a quota that is not in the log at all is another defect."""
    run = compared(MetadataImage("metadata-log", quotas=in_log), MetadataImage("zookeeper", quotas=QUOTAS), kafka)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs
    wrong = unmet(60_000, "client quotas in the metadata log", expected=QUOTAS, observed=in_log)
    assert named_of_expectations(replace(run, events=[wrong])) == bugs


@pytest.mark.parametrize(
    ("in_log", "kafka", "bugs"),
    [(2000, "3.4.1", ("KAFKA-15552",)), (2000, "3.6.0", ("KAFKA-15552",)), (2000, "3.5.2", ()), (1000, "3.4.1", ())],
)
def test_a_log_that_goes_on_with_the_last_block_is_named(in_log: int, kafka: str, bugs: tuple[str, ...]) -> None:
    """A log that is more than a block behind is another defect."""
    log, tree = MetadataImage("metadata-log", producer_ids={"next": in_log}), MetadataImage("zookeeper")
    run = compared(log, replace(tree, producer_ids={"next": 3000}), kafka)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


NO_TOPIC = znode(1_000, "/brokers/topics", "")
TOO_EARLY = "phase PREPARING: not within 180 s; last seen: phase COPYING; broker-0 is not registered with the quorum"


def taken_over(*more: Event, topics: tuple[str, ...] = (), kafka: str = "3.4.1") -> History:
    """The controllers took over while a broker was down."""
    down = event(EventKind.NODE_STOPPED, 8_000, "broker-0", how="killed")
    phases = [phase(10, "ZOOKEEPER"), phase(1_000, "PREPARING"), phase(12_000, "HYBRID")]
    events = [*started(*BROKERS, "controller-3000"), *phases, down, *more]
    return history(events=events, znodes=[replace(NO_TOPIC, children=topics), CLAIM], kafka=kafka)


@pytest.mark.parametrize(
    ("topics", "kafka", "bugs"),
    [((), "3.4.1", ("kmigrate-29",)), (("orders",), "3.4.1", ()), ((), "3.5.2", ())],
    ids=["no topic", "with a topic", "on a later release"],
)
def test_a_takeover_that_waits_for_no_broker_is_named(
    topics: tuple[str, ...], kafka: str, bugs: tuple[str, ...]
) -> None:
    """Where there are topics, 3.4 waits for the brokers that hold them."""
    run = taken_over(topics=topics, kafka=kafka)
    assert named(run, takeover_waits_for_every_broker.judge(run)) == bugs
    assert named_of_steps(taken_over(*failed_step(190_000, TOO_EARLY), topics=topics, kafka=kafka)) == bugs
    early = unmet(60_000, "the phase without broker 5", expected="PREPARING", observed="COPYING")
    assert named_of_expectations(taken_over(early, topics=topics, kafka=kafka)) == bugs
    other = unmet(60_000, "the phase without broker 5", expected="HYBRID", observed="COPYING")
    assert named_of_expectations(taken_over(other, topics=topics, kafka=kafka)) == ()


COPIES = "INFO Starting ZK migration (KRaftMigrationDriver)\n" * 3
ENDED = "INFO Completed migration of metadata from Zookeeper to KRaft. A total of 12 metadata records were generated.\n"
CREDENTIAL = change(5_000, "set-scram", "a:SCRAM-SHA-256", wanted={"iterations": 4096})
STUCK = "phase HYBRID: not within 180 s; last seen: phase COPYING; controller-3000 leads the quorum"


@pytest.mark.parametrize(
    ("log", "made", "reason", "bugs"),
    [
        (COPIES, [CREDENTIAL], STUCK, ("kmigrate-27",)),
        (COPIES, [], STUCK, ()),
        (COPIES + ENDED, [CREDENTIAL], STUCK, ()),
        (COPIES[: len(COPIES) // 3], [CREDENTIAL], STUCK, ()),
        (COPIES, [CREDENTIAL], STUCK.replace("COPYING", "PREPARING"), ()),
    ],
    ids=["a credential", "none", "a copy that ended", "one copy", "no copy"],
)
def test_a_copy_that_never_ends_beside_a_credential_is_named(
    log: str, made: list[Event], reason: str, bugs: tuple[str, ...]
) -> None:
    """A copy that begins again and again without one is another defect."""
    events = [*started(*BROKERS, "controller-3000"), *made, *failed_step(190_000, reason)]
    run = history(events=events, znodes=[CLAIM], logs={"controller-3000": log}, kafka="3.4.1")
    assert named_of_steps(run) == bugs


PASSWORD = "the password in the log, and as the broker reads it in ZooKeeper, after the copy"


@pytest.mark.parametrize(
    ("name", "seen", "bugs"),
    [
        (PASSWORD, {"log": "b", "zookeeper": "a"}, ("KAFKA-14801",)),
        (PASSWORD, {"log": "a", "zookeeper": None}, ("KAFKA-14801",)),
        (PASSWORD, {"log": "a", "zookeeper": "b"}, ()),
        ("the number of passwords", {"log": "b", "zookeeper": "a"}, ()),
    ],
    ids=["encoded in the log", "not to be read in ZooKeeper", "another one in ZooKeeper", "something else"],
)
def test_a_password_that_is_encoded_in_the_log_is_kafka_14801(
    name: str, seen: dict[str, str | None], bugs: tuple[str, ...]
) -> None:
    """A password that dual write changed is another defect."""
    wrong = unmet(60_000, name, expected={"log": "a", "zookeeper": "a"}, observed=seen)
    assert named_of_expectations(history(events=[wrong], znodes=[CLAIM], kafka="3.4.1")) == bugs


def died(node: str, said: str) -> Event:
    """A node that ended by itself."""
    return event(EventKind.NODE_DIED, 50_000, node, exit_code=1, said=said)


NO_NUMBER = 'ERROR Exiting Kafka / java.lang.NumberFormatException: For input string: "6.28438102E8"'
RATE = '{"version":1,"config":{"producer_byte_rate":"6.28438102E8"}}'


@pytest.mark.parametrize(
    ("data", "said", "bugs"),
    [
        (RATE, NO_NUMBER, ("kmigrate-31",)),
        (RATE.replace("6.28438102E8", "628438102"), NO_NUMBER, ()),
        (RATE, NO_NUMBER.replace("6.28438102E8", "fast"), ()),
    ],
    ids=["with an exponent", "written whole", "another text"],
)
def test_a_broker_that_ends_at_a_quota_of_dual_write_is_named(data: str, said: str, bugs: tuple[str, ...]) -> None:
    """A broker that reads something else in vain has another defect."""
    written = Transaction(40_000 * MS, 1, 7, (Write("set-data", "/config/users/a", data),))
    step = failed_step(51_000, "broker-0 died with exit code 1")
    run = history(events=[*started(*BROKERS), died("broker-0", said), *step], kafka="3.4.1")
    run = replace(run, transactions=[written])
    assert (named_of_deaths(run), named_of_steps(run)) == (bugs, bugs)


COPIED = znode(20_000, "/migration", json.dumps({"kraft_metadata_offset": 50}))
SAME_ID = "Next Producer ID from replayed record (1000) is not greater than current next Producer ID (1000)"


@pytest.mark.parametrize(
    ("log", "said", "name", "bugs"),
    [
        (COPIES, SAME_ID, "the state of orders-5 in ZooKeeper", ("kmigrate-32",)),
        ("", SAME_ID, "the state of orders-5 in ZooKeeper", ()),
        (COPIES, "out of memory", "the state of orders-5 in ZooKeeper", ()),
    ],
    ids=["copied again", "no copy", "another end"],
)
def test_a_controller_that_copies_again_is_named(log: str, said: str, name: str, bugs: tuple[str, ...]) -> None:
    """With what ZooKeeper lacks since; what brokers lack is another defect."""
    ended = [*started("controller-3000"), died("controller-3000", said)]
    run = history(events=[*ended, unmet(60_000, name, expected=True, observed=False)], kafka="3.4.1")
    run = replace(run, logs={"controller-3000": log}, znodes=[COPIED])
    assert (named_of_deaths(run), named_of_expectations(run)) == (bugs, bugs)
    before = [*ended, unmet(40_000, name, expected=True, observed=False)]
    assert named_of_expectations(history(events=before, logs={"controller-3000": log}, kafka="3.4.1")) == ()
    other = unmet(60_000, "brokers that lead", expected=[0], observed=[])
    assert named_of_expectations(history(events=[*ended, other], logs={"controller-3000": log}, kafka="3.4.1")) == ()


OTHER_LEADER = "Received request or response with leader OptionalInt[3001] and epoch 2 which is inconsistent with "
OTHER_LEADER += "current leader OptionalInt[3002] and epoch {}"


@pytest.mark.parametrize(("epoch", "bugs"), [(2, ("KAFKA-16463",)), (3, ())])
def test_a_broker_with_the_log_of_a_former_quorum_ends(epoch: int, bugs: tuple[str, ...]) -> None:
    """Of later releases only a thread does."""
    step = failed_step(51_000, "broker-0 died with exit code 1")
    run = history(events=[*started(*BROKERS), died("broker-0", OTHER_LEADER.format(epoch)), *step], kafka="3.4.1")
    assert (named_of_deaths(run), named_of_steps(run)) == (bugs, bugs)


LOST = "ERROR Had an exception in PollEvent (KRaftMigrationDriver)\n"


@pytest.mark.parametrize(
    ("log", "bugs"), [(LOST, ("KAFKA-16563",)), (LOST + "INFO Recovered migration state x\n", ()), ("", ())]
)
def test_a_driver_that_never_knew_the_state_claims_nothing(log: str, bugs: tuple[str, ...]) -> None:
    """Its controller became the active one; one that came to know the state has another defect."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, "controller-3001", controller="controller-3001")
    wrong = unmet(60_000, "who holds /controller", expected="controller-3001", observed="controller-3002")
    run = history(events=[*started("controller-3001"), elected, wrong], logs={"controller-3001": log}, kafka="3.4.1")
    assert named_of_expectations(run) == bugs


BROKEN_OFF = (
    "WARN [RequestSendThread controllerId=3002] Controller 3002 fails to send request (type=LeaderAndIsRequest, x\n"
    "java.io.IOException: Connection to 1 was disconnected before the response was read\n"
)


@pytest.mark.parametrize(
    ("times", "active", "bugs"),
    [(100, "controller-3002", ("kmigrate-33",)), (9, "controller-3002", ()), (100, "controller-3001", ())],
    ids=["again and again", "a few times", "another controller"],
)
def test_partitions_that_wait_behind_orders_to_kraft_brokers_are_named(
    times: int, active: str, bugs: tuple[str, ...]
) -> None:
    """A broker that is restarted breaks off a few connections only."""
    elected = event(EventKind.ACTIVE_CONTROLLER, 5_000, active, controller=active)
    modes = [*started(*BROKERS, mode="kraft"), *started("broker-1", mode="zookeeper", at_ms=6_000)]
    run = history(events=[*modes, elected], logs={"controller-3002": BROKEN_OFF * times}, kafka="3.4.1")
    waits = Violation("some write is acknowledged", "none was for 24.9 s", at_ns=9_000_000_000)
    late = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, violations=(waits,), count=1)
    assert named(run, late) == bugs
