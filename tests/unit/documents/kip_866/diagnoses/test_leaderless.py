"""Facts about partitions without a leader at the take-over: no state in ZooKeeper, and batches that are lost."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, event, history
from tests.unit.checkers.images import FULL, PARTITION
from tests.unit.documents.kip_866.diagnoses.naming import (
    BROKERS,
    CLAIM,
    explained_by,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    unmet,
)

BUG = ("kmigrate-36",)
BROKER, KRAFT = 3, 7
LATER_MS = 50_000


def position(offset: int) -> Write:
    """The position in ``/migration``."""
    return Write("set-data", "/migration", json.dumps({"kraft_metadata_offset": offset, "kraft_controller_id": 3000}))


def state(partition: str, epoch: int, operation: str = "set-data") -> Write:
    """A partition's state."""
    topic, _, number = partition.rpartition("-")
    path = f"/brokers/topics/{topic}/partitions/{number}/state"
    return Write(operation, path, json.dumps({"leader": 1, "leader_epoch": epoch}))


def claimed(controller: int, epoch: int) -> Write:
    """A controller takes charge."""
    return Write("create", "/controller", json.dumps({"brokerid": controller, "kraftControllerEpoch": epoch}))


def made(topic: str) -> Write:
    """The znode of a topic of one partition."""
    return Write("create", f"/brokers/topics/{topic}", json.dumps({"partitions": {"0": [1, 2]}}))


OF_ZOOKEEPER = Transaction(1_000 * MS, 1, BROKER, (claimed(0, -1),), is_multi=True)
ORDERS = Transaction(2_000 * MS, 2, BROKER, (made("orders"), state("orders-0", 4, "create")))
OTHERS = Transaction(2_100 * MS, 3, BROKER, (made("others"), state("others-0", 4, "create")))
LATE = Transaction(10_900 * MS, 5, BROKER, (made("late"),))
TAKEN = Transaction(11_000 * MS, 6, KRAFT, (claimed(3000, 1),), is_multi=True)
COPIED = Transaction(12_000 * MS, 8, KRAFT, (position(100),))
BATCH = Transaction(30_000 * MS, 20, KRAFT, (position(100), state("orders-0", 5)), is_multi=True)
REFUSED = Transaction(30_001 * MS, 21, KRAFT, is_multi=True, error=-101)
NEXT = Transaction(30_100 * MS, 22, KRAFT, (position(113),))
LOGGED = (OF_ZOOKEEPER, ORDERS, OTHERS, LATE, TAKEN, COPIED, BATCH, REFUSED, NEXT)
SENT = Transaction(40_000 * MS, 30, KRAFT, (position(113), state("orders-0", 5)), is_multi=True)
AFTER = Transaction(40_100 * MS, 31, KRAFT, (position(120),))
AGAIN = Transaction(45_000 * MS, 40, KRAFT + 1, (claimed(3000, 2),), is_multi=True)
SYNCED = Transaction(46_000 * MS, 41, KRAFT + 1, (position(120), state("others-0", 5)), is_multi=True)
HIGHER = Transaction(40_000 * MS, 30, KRAFT, (position(113), state("orders-0", 6)), is_multi=True)
DELETED = Transaction(15_000 * MS, 10, KRAFT, (Write("delete", "/brokers/topics/late"),))
REMADE = Transaction(16_000 * MS, 11, KRAFT, (made("late"),))

AT = "2026-11-30 08:51:19,944 INFO "
UNFENCED = f"{AT}The request from broker 2 to unfence has been granted because it has caught up\n"
WRITTEN = f"{AT}Made the following ZK writes when handling KRaft delta: {{UpdatePartition=1}}\n"


STARTED_AT = "2026-11-30T08:50:34+00:00"
"""With which the logged lines are of the time of ``AGAIN``."""
MADE_UP = f"{AT}Could not find partition state in ZK for late-0. Initializing this partition with ISR={{[1, 2]}}\n"
DUAL_WRITE = "3000 transitioning from KRAFT_CONTROLLER_TO_BROKER_COMM to DUAL_WRITE state\n"


def failed(offset: int = 112) -> str:
    """What the driver logs of a batch that was refused."""
    of = f"{{provenance=MetadataProvenance(lastContainedOffset={offset}, lastContainedEpoch=1), isSnapshot=false}}"
    return f"{AT}Encountered ZooKeeper error during event MetadataChangeEvent{of}. Will retry.\n"


UNNUMBERED = f"{AT}Encountered ZooKeeper error during event MetadataChangeEvent. Will retry.\n"


def image(source: str, *, stateless: Sequence[str] = (), rate: float = 1024.0) -> MetadataImage:
    """One side: which partitions have no state, and a quota."""
    nothing = {**PARTITION, "leader": None, "isr": None, "leader_epoch": None}
    topics = {"late": {"id": "x2"}, "orders": {"id": "x1"}}
    partitions = {f"{topic}-0": nothing if f"{topic}-0" in stateless else PARTITION for topic in topics}
    quotas = {"user=u": {"producer_byte_rate": rate}}
    return MetadataImage(source, topics={**FULL.topics, **topics}, partitions=partitions, quotas=quotas)


def run_with(logged: Sequence[Transaction] = LOGGED, log: str = "", *more: Event, made_up: str = MADE_UP) -> History:
    """A run with a take-over, in which a batch is refused."""
    events, logs = [*started("controller-3000", *BROKERS), *more], {"controller-3000": made_up + log}
    run = history(events=events, znodes=[CLAIM], transactions=logged, logs=logs)
    return replace(run, header=replace(run.header, started_at=STARTED_AT))


def compared(in_zookeeper: MetadataImage, logged: Sequence[Transaction], made_up: str = MADE_UP) -> History:
    """Such a run, after which both sides are looked at."""
    images, logs = {"log": image("metadata-log"), "after": in_zookeeper}, {"controller-3000": made_up}
    return seen_at_last(images, *started("controller-3000"), znodes=[CLAIM], transactions=logged, logs=logs)


@pytest.mark.parametrize(
    ("in_zookeeper", "logged", "bugs"),
    [
        (image("zookeeper", stateless=["late-0"]), LOGGED, BUG),
        (image("zookeeper", stateless=["late-0"]), (OF_ZOOKEEPER, TAKEN, replace(LATE, zxid=7), COPIED), BUG),
        (image("zookeeper", stateless=["late-0"]), (OF_ZOOKEEPER, TAKEN, COPIED, replace(LATE, zxid=9)), ()),
        (image("zookeeper", stateless=["late-0"]), (LATE, TAKEN, COPIED), ()),
        (
            image("zookeeper", stateless=["late-0"]),
            (*LOGGED, Transaction(31_000 * MS, 25, KRAFT, (state("late-0", 1, "create"),))),
            (),
        ),
        (image("zookeeper", stateless=["late-0"]), (*LOGGED, DELETED, REMADE), ()),
        (image("zookeeper", stateless=["late-0", "orders-0"]), LOGGED, ()),
        (image("zookeeper", stateless=["late-0"], rate=1.0), LOGGED, ()),
        (image("zookeeper", rate=1.0), LOGGED, ()),
    ],
    ids=[
        "made before",
        "made after the claim",
        "made after the copy",
        "no take-over",
        "it has one",
        "deleted, and made by KRaft",
        "another lacks it",
        "a quota",
        "a quota alone",
    ],
)
def test_states_that_the_copy_made_up_are_named(
    in_zookeeper: MetadataImage, logged: Sequence[Transaction], bugs: tuple[str, ...]
) -> None:
    """If they are all that is wrong, were never made, and the topic was copied."""
    run = compared(in_zookeeper, logged)
    verdict = metadata_equivalent.judge(run, "log", "after")
    assert (named(run, verdict) if bugs else explained_by(run, verdict)) == bugs
    unlogged = compared(in_zookeeper, logged, MADE_UP.replace("late-0", "late-1"))
    assert explained_by(unlogged, metadata_equivalent.judge(unlogged, "log", "after")) == ()


def unlike(observed: str, at_ms: int = LATER_MS, kind: Kind = Kind.LIVENESS, topic: str = "orders") -> Verdict:
    """Brokers report different metadata of a topic."""
    found = (Violation(f"both brokers report the same topic {topic}", observed, at_ms * MS),)
    return Verdict("clients_are_told_the_same", Outcome.VIOLATES, kind, "", found, count=1)


STALE = (
    "broker-0 in ZooKeeper mode reports 0 replicas=1,2 isr=1,2 leader=1 leader_epoch=4; "
    "broker-1 in KRaft mode reports 0 replicas=1,2 isr=2 leader=2 leader_epoch=5, for 10 s"
)
IGNORANT = (
    "broker-0 in KRaft mode reports x1; 0 replicas=1,2 isr=1 leader=1 leader_epoch=4; "
    "broker-2 in ZooKeeper mode reports nothing more, for 10 s"
)


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(log=failed()), BUG),
        (run_with(log=UNNUMBERED), BUG),
        (run_with(log=failed(99)), ()),
        (run_with(log=failed(114)), ()),
        (run_with(), ()),
        (run_with([each for each in LOGGED if each is not REFUSED], failed()), ()),
        (run_with([each for each in LOGGED if each is not LATE], failed()), ()),
        (run_with([*LOGGED, SENT, AFTER], failed()), ()),
        (run_with([*LOGGED, AGAIN], failed() + AT + DUAL_WRITE), ()),
        (run_with([*LOGGED, AGAIN], failed() + AT.replace("51:19", "51:01") + DUAL_WRITE), BUG),
        (run_with([*LOGGED, DELETED], failed()), ()),
        (run_with(log=failed(), made_up=""), ()),
    ],
    ids=[
        *("lost", "an old release", "an earlier batch", "a later batch", "none failed", "nothing was refused"),
        *("no such topic", "sent since", "another take-over", "a take-over that failed"),
        *("deleted before", "none made up by the copy"),
    ],
)
def test_leaders_that_were_lost_with_a_batch_are_unknown_to_brokers(run: History, bugs: tuple[str, ...]) -> None:
    """Until they are sent, or a controller takes over and comes to dual write: it sends all there is."""
    assert named(run, unlike(STALE)) == bugs
    assert named(run, unlike(STALE, kind=Kind.SAFETY)) == ()
    assert named(run, unlike(STALE, at_ms=29_000)) == ()
    assert named(run, unlike(STALE.replace("leader_epoch=5", "leader_epoch=4"))) == ()
    assert named(run, unlike(STALE.replace("ZooKeeper", "KRaft"))) == ()
    assert named(run, unlike(STALE, at_ms=900_000, topic="others")) == ()
    assert named(run, unlike(STALE.replace("leader_epoch=4", "leader_epoch=5"))) == ()
    swapped = STALE.replace("ZooKeeper", "-").replace("KRaft", "ZooKeeper").replace("-0 in - mode", "-0 in KRaft mode")
    assert "broker-0 in KRaft mode reports 0" in swapped
    assert named(run, unlike(swapped)) == ()
    assert named(run, unlike(STALE.replace("reports 0", "reports 1", 1))) == ()


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(LOGGED, UNFENCED + failed()), BUG),
        (run_with(LOGGED, failed()), ()),
        (run_with(LOGGED, UNFENCED + WRITTEN + failed()), ()),
        (run_with(LOGGED, UNFENCED.replace("broker 2", "broker 1") + failed()), ()),
        (run_with(LOGGED, UNFENCED + AT + DUAL_WRITE + failed()), ()),
        (run_with(LOGGED, UNFENCED.replace("08:51:19", "08:50:59") + failed()), ()),
        (run_with(LOGGED, UNFENCED + UNNUMBERED), ()),
        (run_with(LOGGED, UNFENCED + failed(), event(EventKind.NODE_STARTED, 40_000, "broker-2", role="broker")), ()),
        (run_with([*LOGGED, AGAIN], UNFENCED + failed() + AT + DUAL_WRITE), ()),
    ],
    ids=[
        "in vain",
        "not unfenced",
        "in time",
        "another one",
        "with all there is",
        "long before",
        "no offset",
        "started since",
        "another take-over",
    ],
)
def test_a_broker_that_was_unfenced_with_such_a_batch_knows_nothing(run: History, bugs: tuple[str, ...]) -> None:
    """It was to be sent all there is, with the batch that was lost."""
    assert named(run, unlike(IGNORANT)) == bugs
    assert named(run, unlike(IGNORANT, at_ms=29_000)) == ()


@pytest.mark.parametrize(
    ("logged", "topic", "bugs"),
    [
        (LOGGED, "orders", BUG),
        (LOGGED, "others", ()),
        ((*LOGGED, AGAIN, SYNCED), "orders", BUG),
        ((*LOGGED, AGAIN, SYNCED), "others", BUG),
        (LOGGED[:-3], "orders", ()),
    ],
    ids=["written", "not known to be changed", "written, and synced", "synced", "nothing was refused"],
)
def test_partitions_of_a_lost_batch_keep_a_dead_leader_and_take_no_writes(
    logged: Sequence[Transaction], topic: str, bugs: tuple[str, ...]
) -> None:
    """The batch had changed them, by what was written of it, or by what the next controller has to write."""
    name = f"partitions of {topic} led by a dead broker, as another reports them"
    asked = unmet(44_000, name, expected=[], observed=[0])
    log = failed() + AT + DUAL_WRITE
    assert named_of_expectations(run_with(logged, log, asked)) == bugs
    assert named_of_expectations(run_with(logged, log, replace(asked, at_ns=29_000 * MS))) == ()

    found = Violation(f"some write to {topic}-0 is acknowledged every 20 s while writers try", "none", 22_000 * MS)
    verdict = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, "", (found,), count=1)
    assert named(run_with(logged, log), verdict) == bugs
    early = replace(found, at_ns=9_000 * MS)
    assert named(run_with(logged, log), replace(verdict, violations=(early,))) == ()


@pytest.mark.parametrize(
    ("more", "at_ms", "bugs"),
    [
        ([], 600_000, BUG),
        ([HIGHER, AFTER], 39_000, BUG),
        ([HIGHER, AFTER], 600_000, ()),
        ([DELETED], 39_000, ()),
        ([AGAIN, replace(SYNCED, writes=(position(120), state("orders-0", 5)))], 600_000, ()),
    ],
    ids=["never sent", "not sent yet", "sent a later state", "the topic had been deleted", "a take-over"],
)
def test_a_lost_batch_explains_nothing_once_brokers_are_sent_a_later_state(
    more: Sequence[Transaction], at_ms: int, bugs: tuple[str, ...]
) -> None:
    """Nor one that was refused for another reason, as the topic without states was gone."""
    logged, log = [*LOGGED, *more], failed() + AT + DUAL_WRITE
    asked = unmet(
        at_ms, "partitions of orders led by a dead broker, as another reports them", expected=[], observed=[0]
    )
    assert named_of_expectations(run_with(logged, log, asked)) == bugs

    found = Violation("some write to orders-0 is acknowledged every 20 s while writers try", "none", at_ms * MS)
    verdict = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, "", (found,), count=1)
    assert named(run_with(logged, log), verdict) == bugs


@pytest.mark.parametrize("more", [[AGAIN, SYNCED], [HIGHER, AFTER]], ids=["a take-over", "a later state"])
def test_a_partition_that_takes_no_writes_long_after_brokers_were_sent_it_has_another_cause(
    more: Sequence[Transaction],
) -> None:
    """It began with the batch that was lost, and goes on."""
    logged, log = [*LOGGED, *more], failed() + AT + DUAL_WRITE
    for ended_ms, bugs in ((55_000, BUG), (300_000, ())):
        expected = "some write to orders-0 is acknowledged every 20 s while writers try"
        found = Violation(expected, "none", 22_000 * MS, awaited=(22_000 * MS, ended_ms * MS))
        verdict = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, "", (found,), count=1)
        assert named(run_with(logged, log), verdict) == bugs


def test_what_a_later_batch_of_the_next_controller_changes_was_not_lost() -> None:
    """Only what it writes before it raises the position in ``/migration`` is what the one before had lost."""
    raised = Transaction(47_000 * MS, 42, KRAFT + 1, (position(130),))
    later = Transaction(48_000 * MS, 43, KRAFT + 1, (position(130), state("others-0", 5)), is_multi=True)
    first = replace(SYNCED, writes=(position(120),))
    logged = [*LOGGED, AGAIN, first, raised, later]
    asked = unmet(
        44_000, "partitions of others led by a dead broker, as another reports them", expected=[], observed=[0]
    )
    assert named_of_expectations(run_with(logged, failed() + AT + DUAL_WRITE, asked)) == ()
