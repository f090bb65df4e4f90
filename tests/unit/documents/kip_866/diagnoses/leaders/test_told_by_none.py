"""Facts about brokers in ZooKeeper mode that heard of KRaft from no leader before one led that never takes over."""

from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.clients.brokers_only import clients_are_told_of_brokers_only
from pytest_kmigrate.documents.kip_866.checks.transactions.following import zookeeper_follows_the_log
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Named, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, phase
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.nodes import broker
from tests.unit.documents.kip_866.diagnoses.leaders.test_without_a_session import (
    BUG,
    DRIVER,
    ELECTED_MS,
    STUCK,
    SUCCEEDED,
    WENT_ON,
    active,
)
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, explained_by, named, seen_at_last, started, timed

ELECTIONS = [active(500, "broker-0"), active(1_000, "controller-3000"), active(ELECTED_MS, "controller-3001")]
LATE = change(1_500, "create-topic", "late", "indefinite", wanted={"partitions": 1})
"""Its creation ended, without an answer, when the copy had begun."""
SYNCED = f"{DRIVER}3000 transitioning from ZK_MIGRATION to SYNC_KRAFT_TO_ZK state (KRaftMigrationDriver)\n"
SENT = f"{DRIVER}3000 transitioning from SYNC_KRAFT_TO_ZK to KRAFT_CONTROLLER_TO_BROKER_COMM state (Driver)\n"
COPYING_MS = 900


def a_run(
    events: list[Event] | None = None, log: str = STUCK, former: str = SYNCED, images: dict[str, Any] | None = None
) -> History:
    """Controller 3001 leads without a session since 20 s; ``former``: the log of the leader before."""
    elections = ELECTIONS if events is None else events
    ended = phase(60_000, "HYBRID")
    begun = sorted([*started(*CONTROLLERS), *elections, ended], key=lambda each: each.at_ns)
    return timed(seen_at_last(images or {}, *begun, logs={"controller-3000": former, "controller-3001": log}))


def violated(check: Named, *observed: str, at_ms: int = 50_000, kind: Kind = Kind.LIVENESS) -> Verdict:
    """What a check found."""
    violations = tuple(Violation("x", each, at_ms * MS) for each in observed)
    return Verdict(check.name, Outcome.VIOLATES, kind, "x", violations, len(violations))


ALWAYS = "broker-1 in ZooKeeper mode gives {} in all of 49 answers"


@pytest.mark.parametrize(
    ("observed", "run", "at_ms", "bugs"),
    [
        (ALWAYS.format(0), a_run(), 50_000, BUG),
        (ALWAYS.format(1), a_run(), 50_000, ()),
        (ALWAYS.format(0), a_run(former=SYNCED + SENT), 50_000, ()),
        (ALWAYS.format(0), a_run(log=STUCK + WENT_ON), 50_000, ()),
        (ALWAYS.format(0), a_run(SUCCEEDED), 50_000, ()),
        (ALWAYS.format(0), a_run(), 15_000, ()),
        ("broker-1 in ZooKeeper mode gives controller-3000", a_run(), 50_000, ()),
        ("broker-1 in KRaft mode gives 0 in all of 49 answers", a_run(), 50_000, ()),
    ],
    ids=["the former", "another", "sent before", "it went on", "another leads", "before", "a controller", "KRaft mode"],
)
def test_brokers_that_were_told_of_no_controller_give_the_former(
    observed: str, run: History, at_ms: int, bugs: tuple[str, ...]
) -> None:
    """The broker that was the controller of ZooKeeper, to every client."""
    assert explained_by(run, violated(clients_are_told_of_brokers_only, observed, at_ms=at_ms)) == bugs
    beside = violated(clients_are_told_of_brokers_only, observed, "broker-2 in ZooKeeper mode gives none", at_ms=at_ms)
    assert explained_by(run, beside) == ()


LEFT = "16 of 16 writes leave the offset as it was, which {} later ones raise"


@pytest.mark.parametrize(
    ("observed", "run", "at_ms", "bugs"),
    [
        (LEFT.format(0), a_run(), 15_000, BUG),
        (LEFT.format(3), a_run(), 15_000, ()),
        (LEFT.format(0), a_run(former=SYNCED + SENT), 15_000, ()),
        (LEFT.format(0), a_run([*ELECTIONS, active(40_000, "controller-3002")]), 15_000, ()),
        (LEFT.format(0), a_run(), 30_000, ()),
    ],
    ids=["the former's", "raised", "it was at its end", "another leads", "written later"],
)
def test_a_synchronization_that_nobody_ends_is_named(
    observed: str, run: History, at_ms: int, bugs: tuple[str, ...]
) -> None:
    """The leader before began it, and this one has to, and does not."""
    verdict = violated(zookeeper_follows_the_log, observed, at_ms=at_ms, kind=Kind.SAFETY)
    assert explained_by(run, verdict) == bugs


ID, REPLICAS = "pM28S", [0, 2]


def asked(*, topic: Any = ID, silent: Any = None, beside: Any = REPLICAS) -> MetadataImage:
    """What brokers 0 and 2 report: the second nothing, unless it is said."""
    return MetadataImage(
        "admin",
        known=FULL.known,
        topics={"orders": {"id": {"broker-0": topic, "broker-2": silent}}},
        partitions={"orders-0": {"replicas": {"broker-0": beside, "broker-2": silent and beside}}},
    )


@pytest.mark.parametrize(
    ("image", "ready_ms", "mode", "former", "lacking", "is_named"),
    [
        (asked(), 2_000, "zookeeper", SYNCED, "", True),
        (asked(), 2_000, "zookeeper", SYNCED, "late", True),
        (asked(), 2_000, "zookeeper", SYNCED, "early", False),
        (asked(), 2_000, "zookeeper", SYNCED + SENT, "", False),
        (asked(), 100, "zookeeper", SYNCED, "", False),
        (asked(), 2_000, "kraft", SYNCED, "", False),
        (asked(beside=[0, 1]), 2_000, "zookeeper", SYNCED, "", False),
        (asked(silent="other"), 2_000, "zookeeper", SYNCED, "", False),
    ],
    ids=[
        "it knows nothing",
        "nor does any a late topic",
        "nor does any an early topic",
        "sent before",
        "ready before the copy",
        "KRaft mode",
        "another one is wrong",
        "it knows something",
    ],
)
def test_a_broker_that_was_ready_after_the_copy_began_knows_nothing(
    image: MetadataImage, ready_ms: int, mode: str, former: str, lacking: str, *, is_named: bool
) -> None:
    """Neither a controller of ZooKeeper nor one of KRaft sent it anything; the others have what was sent before."""
    topics = {"orders": {"id": ID}, **({lacking: {"id": "y"}} if lacking else {})}
    partitions = {"orders-0": {"replicas": REPLICAS}}
    zookeeper = MetadataImage("zookeeper", known=FULL.known, topics=topics, partitions=partitions)
    nodes = [*broker(0, 0), *broker(0, 2, mode, ready_ms)]
    created = {"early": change(700, "create-topic", "early", wanted={"partitions": 1}), "late": LATE}
    events = [*ELECTIONS, *nodes, phase(0, "PREPARING"), phase(COPYING_MS, "COPYING")]
    events += [created[lacking]] if lacking else []
    run = a_run(events, former=former, images={"zk": zookeeper, "brokers": image})
    assert named(run, metadata_equivalent.judge(run, "zk", "brokers")) == (BUG if is_named else ())
