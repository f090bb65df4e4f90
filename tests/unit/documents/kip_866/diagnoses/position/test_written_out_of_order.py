"""Facts about a topic whose last write came first: ZooKeeper has a partition of it without a state."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, phase, znode
from tests.unit.checkers.images import FULL, PARTITION
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, seen_at_last, started

NO_NODE, SESSION = -101, 7
LAST = Transaction(27_916 * MS, 40, SESSION, is_multi=True, error=NO_NODE)
MADE = Transaction(27_920 * MS, 41, SESSION, (Write("create", "/brokers/topics/orders/partitions/5"),), is_multi=True)
STATE = Transaction(27_990 * MS, 42, SESSION, (Write("create", "/brokers/topics/orders/partitions/5/state"),))
TOPIC = Transaction(
    27_920 * MS, 41, SESSION, (Write("create", "/brokers/topics/orders", '{"partitions": {"5": [0]}}'),)
)
EARLIER = Transaction(27_910 * MS, 39, SESSION, TOPIC.changes)
OF_ANOTHER = Transaction(27_916 * MS, 40, SESSION + 1, is_multi=True, error=NO_NODE)
BUG = ("kmigrate-24",)
FAULT = (
    "ERROR Encountered zk migration fault: Unhandled error in MetadataChangeEvent (LoggingFaultHandler)\n"
    "java.lang.IllegalStateException: Should only see a SetData operation on /migration in the last request.\n"
)


def refused(version: int) -> str:
    """What a controller logs of each write since."""
    return (
        f"java.lang.RuntimeException: Conditional update on KRaft Migration ZNode failed. Sent zkVersion = {version}. "
    )


def image(source: str, *, state: bool = True, rate: float = 1024.0) -> MetadataImage:
    """One side: whether orders-5 has a state, and a quota."""
    stateless = {**PARTITION, "leader": None, "isr": None, "leader_epoch": None}
    partitions = {"orders-0": PARTITION, "orders-5": PARTITION if state else stateless}
    quotas = {"user=u": {"producer_byte_rate": rate}}
    return MetadataImage(source, topics=FULL.topics, partitions=partitions, quotas=quotas)


SET = change(58_000, "set-quota", "user=u", wanted={"producer_byte_rate": 1024.0})


def run_with(
    in_zookeeper: MetadataImage,
    log: str = FAULT,
    logged: Sequence[Transaction] = (LAST, MADE),
    at: str = "HYBRID",
    changes: Sequence[Event] = (SET,),
) -> History:
    """A run in which both sides are looked at, and ``/migration`` has version 140 since before."""
    images = {"log": image("metadata-log"), "after": in_zookeeper}
    events = [*started(*CONTROLLERS), phase(5, at), *changes]
    held = znode(57_600, "/migration", json.dumps({"kraft_controller_id": 3002}), version=140)
    logs = {"controller-3002": log}
    return seen_at_last(images, *events, transactions=logged, znodes=[held], logs=logs)


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(image("zookeeper", state=False)), BUG),
        (run_with(image("zookeeper", state=False), logged=[LAST, TOPIC]), BUG),
        (run_with(image("zookeeper", state=False), logged=[EARLIER, LAST]), ()),
        (run_with(image("zookeeper", state=False), log=""), ()),
        (run_with(image("zookeeper", state=False), logged=[MADE]), ()),
        (run_with(image("zookeeper", state=False), logged=[OF_ANOTHER, MADE]), ()),
        (run_with(image("zookeeper", state=False), logged=[LAST, MADE, STATE]), ()),
        (run_with(image("zookeeper", rate=1.0)), ()),
        (run_with(image("zookeeper", rate=1.0), log=FAULT + refused(140)), ()),
        (run_with(image("zookeeper", rate=1.0), log=FAULT + refused(139)), BUG),
        (run_with(image("zookeeper", rate=1.0), log=refused(139)), ()),
        (run_with(image("zookeeper", rate=1.0), log=FAULT + refused(17)), ()),
        (run_with(image("zookeeper", rate=1.0), log=FAULT + refused(139), changes=()), ()),
    ],
    ids=[
        "a state",
        "the last partitions",
        "made before",
        "no fault",
        "no refusal",
        "another session",
        "it has one",
        "more",
        "in time",
        "since",
        "no cause",
        "long before",
        "never changed",
    ],
)
def test_what_zookeeper_lacks_is_named_by_the_order_of_writes(run: History, bugs: tuple[str, ...]) -> None:
    """A partition that was made without its state, or anything once the controller has lost the version."""
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


@pytest.mark.parametrize("check", ["lag_is_the_distance", "brokers_are_rolled_one_by_one", "partitions_stay_available"])
@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (run_with(image("zookeeper"), log=FAULT + refused(139)), BUG),
        (run_with(image("zookeeper"), log=FAULT), ()),
        (run_with(image("zookeeper"), log=FAULT + refused(139), at="ALL_KRAFT"), ()),
    ],
    ids=["it stands still", "it goes on", "no broker is in ZooKeeper mode"],
)
def test_what_stands_still_since_is_named(check: str, run: History, bugs: tuple[str, ...]) -> None:
    """The controller sends a version below that which its own write had left."""
    for at_ns, found in ((59_000 * MS, bugs), (57_000 * MS, ())):
        verdict = Verdict(check, Outcome.VIOLATES, Kind.LIVENESS, violations=(Violation("a", "b", at_ns),), count=1)
        assert named(run, verdict) == found


def test_what_goes_on_once_another_controller_writes_has_another_cause() -> None:
    """It knows the version; what began while the one before stood still ends soon."""
    run = run_with(image("zookeeper"), log=FAULT + refused(139))
    held = znode(70_000, "/migration", json.dumps({"kraft_controller_id": 3001}), version=141)
    run = replace(run, znodes=[*run.znodes, held])
    for ended_ms, bugs in ((80_000, BUG), (200_000, ())):
        found = Violation("a", "b", 59_000 * MS, awaited=(59_000 * MS, ended_ms * MS))
        verdict = Verdict("partitions_stay_available", Outcome.VIOLATES, Kind.LIVENESS, violations=(found,), count=1)
        assert named(run, verdict) == bugs
