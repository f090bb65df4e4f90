"""Facts about brokers in ZooKeeper mode after a lost answer (kmigrate-7): they are sent nothing any more."""

from typing import Any

import pytest

from pytest_kmigrate.checkers.clients.consumption import longest_time_without_consumption
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, history, phase, znode
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.migrated import CLAIM, settled
from tests.unit.documents.kip_866.checks.nodes import migrating
from tests.unit.documents.kip_866.checks.transactions.logged import logged
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, started
from tests.unit.documents.kip_866.diagnoses.test_answer_lost import AWAY, BACK, HELD, refused

BUG = ("kmigrate-7",)
PARTITION = {"replicas": [0], "isr": [0], "leader": 0, "leader_epoch": 0}
CREATED = change(20_000, "create-topic", "later", wanted={"partitions": 1, "replication": 1})
HALF = {"topics": {"__consumer_offsets": {"id": "x"}}, "partitions": {"__consumer_offsets-0": PARTITION}}


def made(topic: str = "__consumer_offsets", version: int = 33, at_ms: int = 13_900) -> Transaction:
    """A topic is made while ``/migration`` has a version; the batch raises it."""
    writes = [Write("check", "/migration", None, version), Write("create", f"/brokers/topics/{topic}", "{}", 0)]
    return logged(at_ms, 7, *writes)


def a_run(
    *events: Event,
    transactions: list[Transaction] | None = None,
    log: str | None = None,
    brokers: dict[str, Any] | None = None,
) -> History:
    """ZooKeeper was away, and has a topic that no broker reports; its answer was lost with the connection."""
    edges = [
        phase(0, "ZOOKEEPER"),
        phase(11_000, "HYBRID"),
        AWAY,
        BACK,
        *settled(60_000, "after", "zookeeper", "brokers"),
    ]
    begun = [*started("zookeeper-1", *CONTROLLERS), *migrating(0)]
    return history(
        events=sorted([*begun, *edges, *events], key=lambda each: each.at_ns),
        images={
            "after-log": MetadataImage("metadata-log", known=FULL.known, **HALF),
            "after-zookeeper": MetadataImage("zookeeper", known=FULL.known, **HALF),
            "after-brokers": MetadataImage("admin", known=FULL.known, **(brokers or {})),
        },
        znodes=[znode(10_000, "/controller", CLAIM), znode(14_000, "/migration", HELD, version=34)],
        transactions=[made()] if transactions is None else transactions,
        logs={"controller-3001": refused() if log is None else log},
    )


@pytest.mark.parametrize(
    ("run", "is_named"),
    [
        (a_run(), True),
        (a_run(log=""), False),
        (a_run(log=refused(34)), False),
        (a_run(transactions=[]), False),
        (a_run(transactions=[made(version=32)]), False),
        (a_run(transactions=[made(topic="another")]), False),
        (a_run(phase(50_000, "ALL_KRAFT")), False),
        (a_run(brokers={"topics": HALF["topics"]}), True),
    ],
    ids=[
        "its write was lost",
        "nothing is logged",
        "the version is right",
        "no write is known",
        "by an earlier batch",
        "another topic",
        "in KRaft mode",
        "they have half of it",
    ],
)
def test_the_topic_of_the_lost_write_is_sent_to_no_broker(run: History, *, is_named: bool) -> None:
    """ZooKeeper has it: the write took effect, and the controller failed before it sent anything."""
    verdict = metadata_equivalent.judge(run, "after-zookeeper", "after-brokers")
    assert named(run, verdict) == (BUG if is_named else ())


@pytest.mark.parametrize(
    ("run", "is_named"),
    [
        (a_run(CREATED), True),
        (a_run(CREATED, log=""), False),
        (a_run(CREATED, transactions=[made(), made("later", version=34, at_ms=20_100)]), False),
        (a_run(change(5_000, "create-topic", "later", wanted={"partitions": 1})), False),
        (a_run(CREATED, phase(50_000, "ALL_KRAFT")), False),
    ],
    ids=["since", "nothing is logged", "written later", "long before", "in KRaft mode"],
)
def test_what_is_changed_since_is_sent_to_no_broker(run: History, *, is_named: bool) -> None:
    """A change is sent after it was written."""
    verdict = brokers_are_told_of_changes.judge(run)
    if verdict.outcome is Outcome.VIOLATES:
        assert named(run, verdict) == (BUG if is_named else ())
    else:
        assert not is_named


@pytest.mark.parametrize(
    ("run", "is_named"),
    [
        (a_run(), True),
        (a_run(log=""), False),
        (a_run(brokers=HALF), False),
        (a_run(phase(50_000, "ALL_KRAFT")), False),
    ],
    ids=["no broker has it", "nothing is logged", "they have it", "in KRaft mode"],
)
def test_consumers_wait_for_the_topic_of_offsets(run: History, *, is_named: bool) -> None:
    """Without it there is no coordinator of any group."""
    waited = Violation("read in time", "waited", 14_500 * MS)
    verdict = Verdict(
        longest_time_without_consumption.name, Outcome.VIOLATES, Kind.LIVENESS, violations=(waited,), count=1
    )
    assert named(run, verdict) == (BUG if is_named else ())
