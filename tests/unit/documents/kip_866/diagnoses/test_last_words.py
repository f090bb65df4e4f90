"""Facts about nodes and threads whose last words name a known bug."""

from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_866.checks.procedure.whole_way import documented_steps_end_finalized
from pytest_kmigrate.documents.kip_866.procedure import STEPS
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation, violates
from tests.unit.checkers.histories import event, history, sample
from tests.unit.documents.kip_866.diagnoses.naming import (
    failed_step,
    named,
    named_of_deaths,
    named_of_expectations,
    named_of_steps,
    started,
    unmet,
)

NO_BOOTSTRAP = (
    "ERROR Encountered fatal fault / java.lang.RuntimeException: Should not have ZK migrations enabled on a cluster "
    "running metadata.version 3.0-IV1"
)
METRIC_LEFT = "java.lang.IllegalArgumentException: A metric named 'x' already exists, can't register another one."

NO_PROTOCOL = (
    'java.lang.NullPointerException: Cannot invoke "org.apache.kafka.common.security.auth.SecurityProtocol.ordinal()" '
    'because "securityProtocol" is null'
)
OTHER_LEADER = (
    "java.lang.IllegalStateException: Received request or response with leader OptionalInt[3001] and epoch 1 which is "
    "inconsistent with current leader OptionalInt[3000] and epoch 1\n"
)
NEVER_CLOSED = (
    "ERROR Encountered fatal fault: Unable to apply BeginTransactionRecord record at offset 47 on standby controller / "
    "java.lang.RuntimeException: Can't replay a BeginTransactionRecord at 47 because the transaction at 47 was never "
    "closed."
)
RENOUNCED = (
    "WARN [QuorumController id=3002] Renouncing the leadership due to a metadata log event. We were the leader at "
    "epoch 1, but in the new epoch 30, the leader is (none). Reverting to last stable offset 45. (QuorumController)\n"
)
OLDER = "3.6.0"
CHECK_OF_ALL = "migration_begins_when_every_node_is_ready"
NO_AUTHORIZERS = (
    "ERROR Exiting Kafka due to fatal exception (kafka.Kafka$) / java.lang.IllegalArgumentException: requirement "
    "failed: ZooKeeper migration does not yet support authorizers. Remove authorizer.class.name before performing a "
    "migration."
)
ABORTED = "ERROR Encountered fatal fault: Aborting the ZK migration (ProcessTerminatingFaultHandler)"
EMPTY_ID = """\
java.lang.NumberFormatException: For input string: ""
	at java.base/java.lang.NumberFormatException.forInputString(NumberFormatException.java:67)
	at java.base/java.lang.Integer.valueOf(Integer.java:999)
	at kafka.zk.ZkMigrationClient.$anonfun$migrateBrokerConfigs$2(ZkMigrationClient.scala:200)
"""


def died(node: str = "controller-3002", said: str = NO_BOOTSTRAP) -> Event:
    """A node that ended by itself."""
    return event(EventKind.NODE_DIED, 2000, node, exit_code=1, said=said)


def thread_died(thread: str = "zk-broker-1-to-controller-alter-partition-channel-manager", **more: Any) -> Event:
    """A thread of a broker that an error ended."""
    return event(EventKind.THREAD_DIED, 2000, "broker-1", **{"thread": thread, "said": METRIC_LEFT, **more})


@pytest.mark.parametrize(
    ("deaths", "bugs"),
    [
        ([died()], ("kmigrate-3",)),
        ([died(said="ERROR out of memory")], ()),
        ([died(), died("controller-3001", "ERROR out of memory")], ()),
        ([thread_died()], ("kmigrate-8",)),
        ([thread_died("zk-broker-1-to-controller-forwarding-channel-manager")], ("kmigrate-8",)),
        ([thread_died("ReplicaFetcherThread-0-1")], ()),
        ([thread_died(said="java.lang.NullPointerException")], ()),
        ([thread_died(), died("broker-2", "ERROR out of memory")], ()),
    ],
)
def test_deaths_are_named_by_their_last_words(deaths: list[Event], bugs: tuple[str, ...]) -> None:
    """If all of them have them: another death beside them is another defect."""
    assert named_of_deaths(history(events=[*started("controller-3001", "broker-1"), *deaths])) == bugs


@pytest.mark.parametrize(
    ("deaths", "bugs"),
    [
        ([thread_died(said=NO_PROTOCOL)], ("kmigrate-20",)),
        ([thread_died("ReplicaFetcherThread-0-1", said=NO_PROTOCOL)], ()),
        ([thread_died(said=NO_PROTOCOL), thread_died()], ()),
    ],
)
def test_a_channel_without_a_protocol_is_kmigrate_20(deaths: list[Event], bugs: tuple[str, ...]) -> None:
    """If that is all that ended."""
    assert named_of_deaths(history(events=[*started("broker-1"), *deaths], kafka=OLDER)) == bugs


@pytest.mark.parametrize(
    ("said", "log", "epoch", "bugs"),
    [
        (NEVER_CLOSED, RENOUNCED, 30, ("kmigrate-25",)),
        ("ERROR out of memory", RENOUNCED, 30, ()),
        (NEVER_CLOSED, "", 30, ()),
        (NEVER_CLOSED, RENOUNCED.replace("offset 45", "offset 47"), 30, ()),
        (NEVER_CLOSED, RENOUNCED, 1, ("kmigrate-25",)),
        (NEVER_CLOSED, RENOUNCED, 0, ()),
        (NEVER_CLOSED.replace("Record at 47", "Record at 60"), RENOUNCED, 1, ()),
    ],
    ids=[
        "met",
        "another reason",
        "still the leader",
        "begin was committed",
        "its own begin came back",
        "of a leader before",
        "a begin inside its own transaction",
    ],
)
def test_a_transaction_that_stays_open_is_kmigrate_25(said: str, log: str, epoch: int, bugs: tuple[str, ...]) -> None:
    """The controller's end, and the step that waits for it."""
    node = "controller-3002"
    read = event(EventKind.RAFT_LOG, 200_000, node, batches=[[44, 45, 1, 7, None], [46, 48, epoch, 7, None]])
    events = [*started("controller-3001", "broker-1"), died(node, said), *failed_step(180_000, PHASE_LATE), read]
    run = history(events=events, logs={node: log}, kafka="3.7.2")
    assert (named_of_deaths(run), named_of_steps(run)) == (bugs, bugs)


@pytest.mark.parametrize(
    ("thread", "log", "bugs"),
    [
        ("kafka-raft-io-thread", OTHER_LEADER, ("KAFKA-16463",)),
        ("kafka-raft-io-thread", OTHER_LEADER.replace("[3000] and epoch 1", "[3000] and epoch 2"), ()),
        ("kafka-raft-io-thread", "", ()),
        ("kafka-scheduler-1", OTHER_LEADER, ()),
    ],
    ids=["met", "another epoch", "no log", "another thread"],
)
def test_the_log_of_a_former_quorum_is_kafka_16463(thread: str, log: str, bugs: tuple[str, ...]) -> None:
    """The thread's end, what the step waits for, and a phase that was expected."""
    late = unmet(180_000, "the phase with every controller", expected="HYBRID", observed="PREPARING")
    lost = unmet(180_000, "the topics", expected=["a"], observed=[])
    events = [*started("controller-3001", "broker-1"), thread_died(thread, said="FaultHandlerException")]
    logs = {"broker-1": log}
    run = history(events=[*events, late, *failed_step(180_000, PHASE_LATE)], logs=logs, kafka=OLDER)
    assert (named_of_deaths(run), named_of_steps(run), named_of_expectations(run)) == (bugs, bugs, bugs)
    assert named_of_expectations(history(events=[*events, lost], logs=logs, kafka=OLDER)) == ()
    late_and_early = [violates(kind, [Violation("a", "b")]).by(CHECK_OF_ALL) for kind in (Kind.LIVENESS, Kind.SAFETY)]
    assert [named(run, verdict) for verdict in late_and_early] == [bugs, ()]


PHASE_LATE = "phase HYBRID: not within 180 s; last seen: phase PREPARING"
NOT_IN_SYNC = "the replicas of broker-2 back in sync after its restart: not within 180 s; last seen: 3 partitions"


@pytest.mark.parametrize(
    ("events", "reason", "bugs"),
    [
        ([died()], PHASE_LATE, ("kmigrate-3",)),
        ([died()], "controller-3002 died with exit code 1; its last lines:", ("kmigrate-3",)),
        ([], PHASE_LATE, ()),
        ([died(), *started("controller-3002", at_ms=9_000)], PHASE_LATE, ()),
        ([died(), *started("controller-3002", at_ms=170_000)], PHASE_LATE, ("kmigrate-3",)),
        ([died(), *started("controller-3001", at_ms=9_000)], PHASE_LATE, ("kmigrate-3",)),
        ([died(said="ERROR out of memory")], PHASE_LATE, ()),
        ([died()], NOT_IN_SYNC, ()),
        ([thread_died()], NOT_IN_SYNC, ("kmigrate-8",)),
        ([], NOT_IN_SYNC, ()),
        ([thread_died()], PHASE_LATE, ()),
        ([thread_died("zk-broker-1-to-controller-forwarding-channel-manager")], NOT_IN_SYNC, ()),
        ([thread_died(said="java.lang.OutOfMemoryError")], NOT_IN_SYNC, ()),
    ],
)
def test_a_step_that_waited_for_the_dead_is_named(events: list[Event], reason: str, bugs: tuple[str, ...]) -> None:
    """The same wait that failed for no death, for another one, or for something else, is not."""
    run = history(events=[*started("controller-3001", "broker-1"), *events, *failed_step(180_000, reason)])
    assert named_of_steps(run) == bugs
    assert named(run, documented_steps_end_finalized.judge(run)) == bugs


@pytest.mark.parametrize(
    ("reason", "lacking", "bugs"),
    [
        (NOT_IN_SYNC, {"broker-1": 3, "broker-0": 0}, ("kmigrate-8",)),
        (NOT_IN_SYNC, {"broker-1": 3, "broker-0": 2}, ()),
        (NOT_IN_SYNC, {"broker-1": 0, "broker-0": 3}, ()),
        (NOT_IN_SYNC.replace("broker-2", "broker-1"), {}, ()),
    ],
    ids=["what it leads", "what another leads, too", "what another leads", "it was restarted itself"],
)
def test_a_channel_that_ended_keeps_what_its_broker_leads_out_of_sync(
    reason: str, lacking: dict[str, int], bugs: tuple[str, ...]
) -> None:
    """Other brokers change the ISRs of theirs: what is not in sync there has another cause."""
    samples = [sample(179_000, node, UnderReplicatedPartitions=count) for node, count in lacking.items()]
    events = [*started("controller-3001", "broker-1"), thread_died(), *failed_step(180_000, reason)]
    assert named_of_steps(history(events=events, samples=samples)) == bugs


@pytest.mark.parametrize(
    ("deaths", "reason", "bugs"),
    [
        ([died("broker-0", NO_AUTHORIZERS)], "broker-0 died with exit code 1: ERROR", ("KAFKA-15098",)),
        ([died("broker-0", NO_AUTHORIZERS), died("broker-1", "ERROR x")], "broker-0 died with exit code 1: ERROR", ()),
        ([died("broker-0", "ERROR out of memory")], "broker-0 died with exit code 1: ERROR", ()),
        ([died("broker-0", NO_AUTHORIZERS)], NOT_IN_SYNC, ()),
    ],
    ids=["met", "another death", "another reason", "another wait"],
)
def test_a_broker_whose_authorizer_cannot_migrate_is_kafka_15098(
    deaths: list[Event], reason: str, bugs: tuple[str, ...]
) -> None:
    """Its end, and the step that restarted it."""
    events = [*started("controller-3001", "broker-0"), *deaths, *failed_step(180_000, reason)]
    run = history(events=events, kafka="3.5.0")
    assert named_of_steps(run) == bugs
    assert named(run, documented_steps_end_finalized.judge(run)) == bugs
    assert named_of_deaths(run) == (bugs if reason != NOT_IN_SYNC else ("KAFKA-15098",))
    assert named_of_steps(history(events=events, kafka="3.5.1")) == ()


@pytest.mark.parametrize(
    ("said", "log", "bugs"),
    [
        (ABORTED, EMPTY_ID, ("apache/kafka#14237",)),
        (ABORTED, EMPTY_ID.replace('""', '"x"'), ()),
        (ABORTED, EMPTY_ID.replace("migrateBrokerConfigs", "migrateTopics"), ()),
        (ABORTED, "", ()),
        ("ERROR out of memory", EMPTY_ID, ()),
    ],
    ids=["met", "another id", "another place", "no log", "another end"],
)
def test_a_copy_that_stumbles_over_the_default_broker_is_14237(said: str, log: str, bugs: tuple[str, ...]) -> None:
    """The controller's end, and the step that waits for the copy."""
    dead = died("controller-3001", said)
    events = [*started("controller-3001", "broker-0"), dead, *failed_step(180_000, PHASE_LATE)]
    run = history(events=events, logs={"controller-3001": log}, kafka="3.5.1")
    assert (named_of_deaths(run), named_of_steps(run)) == (bugs, bugs)
    assert named(run, documented_steps_end_finalized.judge(run)) == bugs


def test_all_steps_are_explained_only_if_steps_failed() -> None:
    """A migration that is not finalized, though every step was done, is another defect."""
    done = [event(EventKind.STEP_ENDED, 100, step=each.name, outcome="done", reason="") for each in STEPS]
    run = history(events=[*started("controller-3001", "broker-1"), died(), *done])
    assert named(run, documented_steps_end_finalized.judge(run)) == ()


DUMP = """\
INFO Terminating process due to signal SIGTERM (org.apache.kafka.common.utils.LoggingSignalHandler)
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"controller-3002-migration-driver-event-handler" #37 prio=5 tid=0x00007f waiting on condition
   java.lang.Thread.State: TIMED_WAITING (parking)
	at org.apache.kafka.metadata.migration.KRaftMigrationDriver$MigrateMetadataEvent.run(KRaftMigrationDriver.java:782)

"kafka-shutdown-hook" #21 prio=5 tid=0x00007f in Object.wait()
	at org.apache.kafka.metadata.migration.KRaftMigrationDriver.close(KRaftMigrationDriver.java:385)

"""
HUNG = event(EventKind.NODE_STOPPED, 40_000, "controller-3002", how="hung", said="ERROR before", took_ms=30_000)

HUNG_AGAIN = replace(HUNG, at_ns=HUNG.at_ns + 90_000_000_000)


@pytest.mark.parametrize(
    ("events", "log", "bugs"),
    [
        ([HUNG], DUMP, ("kmigrate-19",)),
        ([HUNG], DUMP.replace("MigrateMetadataEvent", "PollEvent"), ()),
        ([HUNG], DUMP.replace("KRaftMigrationDriver.close", "SocketServer.close"), ()),
        ([HUNG, died("controller-3001", "ERROR out of memory")], DUMP, ()),
        ([replace(HUNG, data={**HUNG.data, "how": "controlled"})], DUMP, ()),
        ([HUNG, HUNG_AGAIN], DUMP + DUMP, ("kmigrate-19",)),
        ([HUNG, HUNG_AGAIN], DUMP, ()),
        ([HUNG, HUNG_AGAIN], DUMP.replace("MigrateMetadataEvent", "PollEvent") + DUMP, ()),
    ],
    ids=[
        *("in the copy", "not copying", "waiting for something else", "another death", "it ended"),
        *("twice", "once of two times", "the second time only"),
    ],
)
def test_a_controller_that_hangs_when_it_is_stopped_in_the_copy_is_kmigrate_19(
    events: list[Event], log: str, bugs: tuple[str, ...]
) -> None:
    """By what its threads were doing when it was to be killed."""
    run = history(events=[*started("controller-3001", "controller-3002"), *events], logs={"controller-3002": log})
    assert named_of_deaths(run) == bugs


OF_A_CHANNEL = """\
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"zk-broker-0-to-controller-forwarding-channel-manager" #43 prio=5 tid=0x00007f runnable
\tat org.apache.kafka.common.network.Selector.poll(Selector.java:485)
\tat kafka.server.NodeToControllerRequestThread.doWork(NodeToControllerChannelManager.scala:377)

"kafka-shutdown-hook" #20 prio=5 tid=0x00007f waiting on condition
\tat org.apache.kafka.server.util.InterBrokerSendThread.shutdown(InterBrokerSendThread.java:85)

"""


@pytest.mark.parametrize(
    ("log", "bugs"),
    [
        (OF_A_CHANNEL, ("kmigrate-23",)),
        (OF_A_CHANNEL.replace("Selector.poll", "Object.wait"), ()),
        (OF_A_CHANNEL.replace("InterBrokerSendThread", "SocketServer"), ()),
    ],
    ids=["met", "another wait", "another shutdown"],
)
def test_a_broker_that_hangs_for_a_channel_when_it_is_stopped_is_kmigrate_23(log: str, bugs: tuple[str, ...]) -> None:
    """By what its threads were doing when it was to be killed."""
    hung = replace(HUNG, node="broker-1")
    run = history(events=[*started("controller-3001", "broker-1"), hung], logs={"broker-1": log})
    assert named_of_deaths(run) == bugs
    late = Violation("broker-1 ends when it is stopped", "it was still there 30.1 s later, and was killed")
    other = Violation("broker-2 is stopped", "two brokers were away")
    checks = [
        Verdict("brokers_are_rolled_one_by_one", Outcome.VIOLATES, violations=(late, *more), count=1 + len(more))
        for more in ((), (other,))
    ]
    assert [named(run, each) for each in checks] == [bugs, ()]


EXPIRED_AS_IT_ENDS = """\
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode):

"main" #1 prio=5 tid=0x00007f waiting on condition
\tat org.apache.kafka.server.util.KafkaScheduler.shutdown(KafkaScheduler.java:140)
\tat kafka.zookeeper.ZooKeeperClient.close(ZooKeeperClient.scala:343)

"zk-client-Kafkaserver-reinit-0" #84 daemon prio=5 tid=0x00007f waiting on condition
\tat kafka.controller.QueuedEvent.awaitProcessing(ControllerEventManager.scala:64)
\tat kafka.controller.KafkaController$$anon$1.beforeInitializingSession(KafkaController.scala:218)

"""
GOES_ON = EXPIRED_AS_IT_ENDS + '"controller-event-thread" #42 prio=5 tid=0x00007f runnable\n\n'
EXPIRED_AS_IT_STOPS = EXPIRED_AS_IT_ENDS.replace('"main"', '"kafka-shutdown-hook"')
NEVER_READY = "broker-1 ready: not within 180 s; last seen: no answer yet"


@pytest.mark.parametrize(
    ("log", "reason", "bugs"),
    [
        (EXPIRED_AS_IT_ENDS, NEVER_READY, ("kmigrate-38",)),
        (EXPIRED_AS_IT_ENDS.replace("ZooKeeperClient.close", "SocketServer.close"), NEVER_READY, ()),
        (EXPIRED_AS_IT_ENDS.replace("beforeInitializingSession", "afterInitializingSession"), NEVER_READY, ()),
        (GOES_ON, NEVER_READY, ()),
        (EXPIRED_AS_IT_ENDS + "Full thread dump\n\n", NEVER_READY, ()),
        (EXPIRED_AS_IT_ENDS, NEVER_READY.replace("broker-1", "broker-2"), ()),
        (EXPIRED_AS_IT_ENDS, "phase HYBRID: not within 180 s", ()),
        (EXPIRED_AS_IT_STOPS, NEVER_READY, ()),
    ],
    ids=[
        "met",
        "closes another",
        "another handler",
        "goes on",
        "no longer",
        "another broker",
        "waits for another thing",
        "stuck elsewhere, until it was asked to stop",
    ],
)
def test_a_broker_that_never_ends_as_its_session_expired_is_kmigrate_38(
    log: str, reason: str, bugs: tuple[str, ...]
) -> None:
    """By what its threads were doing when a step had waited for its start in vain."""
    run = history(events=[*started("broker-1", "broker-2"), *failed_step(200_000, reason)], logs={"broker-1": log})
    assert named_of_steps(run) == bugs


@pytest.mark.parametrize(
    ("log", "bugs"),
    [
        (EXPIRED_AS_IT_STOPS, ("kmigrate-38",)),
        (EXPIRED_AS_IT_ENDS, ("kmigrate-38",)),
        (EXPIRED_AS_IT_STOPS.replace("-reinit-0", "-watch-0"), ()),
        (EXPIRED_AS_IT_STOPS.replace("ZooKeeperClient.close", "SocketServer.close"), ()),
        (GOES_ON, ()),
        (GOES_ON.replace('"main"', '"kafka-shutdown-hook"'), ()),
    ],
    ids=["met", "as its start failed", "another thread waits", "closes another", "goes on", "goes on as it is stopped"],
)
def test_a_broker_that_is_stopped_and_never_ends_as_its_session_expired_is_kmigrate_38(
    log: str, bugs: tuple[str, ...]
) -> None:
    """As one whose start failed; and only if the thread that its handler waits for has ended."""
    hung = replace(HUNG, node="broker-1")
    run = history(events=[*started("controller-3001", "broker-1"), hung], logs={"broker-1": log})
    assert named_of_deaths(run) == bugs
