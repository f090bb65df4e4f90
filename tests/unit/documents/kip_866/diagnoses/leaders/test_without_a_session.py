"""Facts about a leader whose ZooKeeper session had expired as it was elected, and that never takes over."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.dual_write.acceptance import (
    admin_requests_to_zookeeper_brokers_are_carried_out,
)
from pytest_kmigrate.documents.kip_866.checks.dual_write.forwarding import brokers_are_told_of_changes
from pytest_kmigrate.documents.kip_866.checks.znodes.elections import kraft_takes_both_controller_znodes
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Sample, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Named, Outcome, Verdict, Violation
from tests.unit.checkers.histories import MS, change, event, history, phase, sample, znode
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.migrated import CLAIM as IN_CHARGE
from tests.unit.documents.kip_866.checks.migrated import settled
from tests.unit.documents.kip_866.checks.nodes import broker, migrating
from tests.unit.documents.kip_866.diagnoses.naming import (
    CONTROLLERS,
    explained_by,
    failed_step,
    named,
    named_of_expectations,
    named_of_steps,
    seen_at_last,
    started,
    timed,
    unmet,
)

ENDED = "INFO [ZooKeeperClient KRaft Migration] Session expired. (kafka.zookeeper.ZooKeeperClient)\n"
DRIVER = "INFO [KRaftMigrationDriver id=3001] "
AT_IT = "2026-11-30 08:00:20,500 "
FAILED = (
    f"{AT_IT}{DRIVER}Encountered ZooKeeper error during event KRaftLeaderEvent. Will retry. (KRaftMigrationDriver)\n"
)
WENT_ON = f"{DRIVER}3001 transitioning from INACTIVE to WAIT_FOR_CONTROLLER_QUORUM state (KRaftMigrationDriver)\n"
STUCK = ENDED + FAILED
ELECTED_MS = 20_000


def active(at_ms: int, node: str) -> Event:
    """A node that was seen to become the active controller."""
    return event(EventKind.ACTIVE_CONTROLLER, at_ms, node, controller=node)


ELECTIONS = [active(1_000, "controller-3000"), active(ELECTED_MS, "controller-3001")]
SUCCEEDED = [*ELECTIONS, active(40_000, "controller-3002")]
CLAIM = znode(21_000, "/controller", json.dumps({"brokerid": 3001, "kraftControllerEpoch": 5}))
HOLDER = unmet(50_000, "x", expected="controller-3001", observed="controller-3000")
NOT_ITS = unmet(50_000, "x", expected="controller-3002", observed="controller-3000")
NO_ONE = unmet(50_000, "x", expected="controller-3001", observed="None")
MEANWHILE, LONG_BEFORE = (change(at, "alter-config", "broker:1", wanted={"a": "2"}) for at in (30_000, 5_000))
HAS = MetadataImage("metadata-log", known=FULL.known, configs={"broker:1": {"a": "2"}})
LACKS = MetadataImage("zookeeper", known=FULL.known)
BUG = ("kmigrate-35",)


def a_run(
    events: Sequence[Event],
    log: str = STUCK,
    log_image: MetadataImage = HAS,
    zookeeper: MetadataImage = LACKS,
    **more: Any,
) -> History:
    """A run at whose end ZooKeeper is looked at beside the log."""
    images = {"log": log_image, "zookeeper": zookeeper}
    return timed(seen_at_last(images, *started(*CONTROLLERS), *events, logs={"controller-3001": log}, **more))


def failed_at(time: str) -> str:
    """A log in which the event fails at that time, after the session ended."""
    return STUCK.replace("08:00:20,500", time)


ONCE_BEFORE = [active(5_000, "controller-3001"), active(10_000, "controller-3002"), ELECTIONS[1]]


@pytest.mark.parametrize(
    ("events", "log", "claims", "bugs"),
    [
        ([*ELECTIONS, HOLDER], STUCK, [], BUG),
        ([*ELECTIONS, HOLDER], FAILED, [], ()),
        ([*ELECTIONS, HOLDER], ENDED, [], ()),
        ([*ELECTIONS, HOLDER], STUCK + WENT_ON, [], ()),
        ([*ELECTIONS, HOLDER], STUCK, [CLAIM], ()),
        ([*SUCCEEDED, HOLDER], STUCK, [], ()),
        ([*ELECTIONS, NOT_ITS], STUCK, [], ()),
        ([*ELECTIONS, NO_ONE], STUCK, [], ()),
        ([*ELECTIONS, HOLDER, NOT_ITS], STUCK, [], ()),
        ([*ONCE_BEFORE, HOLDER], failed_at("08:00:06,000"), [], ()),
        ([*ONCE_BEFORE, HOLDER], failed_at("08:00:06,000") + STUCK, [], BUG),
        ([*ELECTIONS, HOLDER], failed_at("08:00:16,000"), [], BUG),
        ([*ELECTIONS, HOLDER], failed_at("08:00:49,000"), [], BUG),
        ([*ELECTIONS, HOLDER], failed_at("08:01:21,000"), [], ()),
        ([*ELECTIONS, HOLDER], STUCK.replace(AT_IT, ""), [], ()),
    ],
    ids=[
        "it never claims",
        "no session ended",
        "its event did not fail",
        "it went on",
        "it claimed",
        "another one leads by then",
        "another one was to claim",
        "no one is in charge",
        "another expectation is unmet as well",
        "it failed in a former reign",
        "it failed in both reigns",
        "the reign was seen late",
        "it waited for a connection",
        "much later",
        "at no time",
    ],
)
def test_a_claim_that_never_comes_is_named(
    events: list[Event], log: str, claims: list[Any], bugs: tuple[str, ...]
) -> None:
    """The controller leads, its event failed with the session, and its driver did not go on."""
    assert named_of_expectations(a_run(events, log, znodes=claims)) == bugs


@pytest.mark.parametrize(
    ("events", "log", "beside", "is_named"),
    [
        ([*ELECTIONS, MEANWHILE], STUCK, {}, True),
        ([*ELECTIONS, LONG_BEFORE], STUCK, {}, False),
        ([*ELECTIONS, MEANWHILE], STUCK + WENT_ON, {}, False),
        ([*SUCCEEDED, MEANWHILE], STUCK, {}, False),
        ([*ELECTIONS, MEANWHILE], STUCK, {"acls": {"Topic:LITERAL:a": ["b"]}}, False),
        ([MEANWHILE], STUCK, {}, False),
    ],
    ids=["meanwhile", "long before", "it went on", "another one leads", "another object is lost", "never elected"],
)
def test_what_was_acknowledged_meanwhile_is_lost_by_it(
    events: list[Event], log: str, beside: dict[str, Any], *, is_named: bool
) -> None:
    """What ZooKeeper lacks was acknowledged when this controller led; what it lost before, or beside it, stays red."""
    with_it = MetadataImage("metadata-log", known=FULL.known, configs=HAS.configs, **beside)
    run = a_run(sorted(events, key=lambda each: each.at_ns), log, with_it)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == (BUG if is_named else ())
    if not beside:
        found = acknowledged_metadata_changes_present.judge(run, "zookeeper")
        assert named(run, found) == (BUG if is_named else ())


def test_what_the_log_lacks_is_another_defect() -> None:
    """The driver writes to ZooKeeper, which has here what was acknowledged, and the log has not."""
    with_it = MetadataImage("zookeeper", known=FULL.known, configs=HAS.configs)
    run = a_run([*ELECTIONS, MEANWHILE], STUCK, MetadataImage("metadata-log", known=FULL.known), with_it)
    assert explained_by(run, metadata_equivalent.judge(run, "log", "zookeeper")) == ()


def test_what_came_to_zookeeper_and_went_again_is_another_defect() -> None:
    """ZooKeeper's own log has the write."""
    write = Transaction(31_000 * MS, 50, 7, (Write("set-data", "/config/brokers/1", "{}"),))
    run = a_run([*ELECTIONS, MEANWHILE], transactions=[write])
    assert explained_by(run, metadata_equivalent.judge(run, "log", "zookeeper")) == ()


@pytest.mark.parametrize(
    ("held", "is_named"),
    [
        ({"replicas": [0, 1], "isr": [0, 1], "leader": 0, "leader_epoch": 3}, True),
        ({"replicas": [0, 1], "isr": [0, 1], "leader": 0, "leader_epoch": 9}, False),
        ({"replicas": [0, 2], "isr": [0, 1], "leader": 0, "leader_epoch": 3}, False),
        (None, False),
    ],
    ids=["older", "newer", "other replicas", "gone"],
)
def test_leaders_stay_in_zookeeper_as_they_were(held: dict[str, Any] | None, *, is_named: bool) -> None:
    """Leader and in-sync replicas change by themselves; one that is gone, or lies elsewhere, is another defect."""
    now = {"orders-0": {"replicas": [0, 1], "isr": [1], "leader": 1, "leader_epoch": 4}}
    topics = {"orders": {"id": "x"}}
    log = MetadataImage("metadata-log", topics=topics, partitions=now)
    zookeeper = MetadataImage("zookeeper", topics=topics, partitions={"orders-0": held} if held else {})
    run = a_run(ELECTIONS, STUCK, log, zookeeper)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == (BUG if is_named else ())


@pytest.mark.parametrize(
    ("at_ms", "lacking", "is_named"),
    [(30_000, ["orders-1"], True), (5_000, ["orders-1"], False), (30_000, ["other-0"], False)],
    ids=["meanwhile", "long before", "another topic"],
)
def test_partitions_that_a_topic_was_given_meanwhile_are_lost_by_it(
    at_ms: int, lacking: list[str], *, is_named: bool
) -> None:
    """Each of them is a place of its own."""
    held = {"replicas": [0, 1], "isr": [0, 1], "leader": 0, "leader_epoch": 3}
    every = dict.fromkeys(("orders-0", "orders-1", "other-0"), held)
    topics = {"orders": {"id": "x"}, "other": {"id": "y"}}
    log = MetadataImage("metadata-log", topics=topics, partitions=every)
    left = {key: each for key, each in every.items() if key not in lacking}
    zookeeper = MetadataImage("zookeeper", topics=topics, partitions=left)
    grown = change(at_ms, "add-partitions", "orders", wanted={"partitions": 2})
    run = a_run(sorted([*ELECTIONS, grown], key=lambda each: each.at_ns), STUCK, log, zookeeper)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == (BUG if is_named else ())


COPYING, HYBRID = phase(15_000, "COPYING"), phase(90_000, "HYBRID")
SUCCEEDED_LATE = [active(1_000, "controller-3000"), active(150_000, "controller-3001")]


@pytest.mark.parametrize(
    ("events", "log", "step", "is_named"),
    [
        ([*ELECTIONS, COPYING], STUCK, {}, True),
        ([*ELECTIONS, COPYING], FAILED, {}, False),
        ([*ELECTIONS, COPYING], STUCK + WENT_ON, {}, False),
        ([*SUCCEEDED, COPYING], STUCK, {}, False),
        ([*SUCCEEDED_LATE, COPYING], STUCK, {}, False),
        ([*ELECTIONS, COPYING, HYBRID], STUCK, {}, False),
        ([*ELECTIONS, COPYING], STUCK, {"step": "roll-brokers-to-kraft"}, False),
    ],
    ids=[
        "it copies nothing",
        "no session ended",
        "it went on",
        "another one leads by then",
        "it did not lead for long",
        "all is copied",
        "another step",
    ],
)
def test_a_copy_that_it_never_makes_is_named(
    events: list[Event], log: str, step: dict[str, str], *, is_named: bool
) -> None:
    """The step into the migration waits for the copy, which the leader of the quorum has to make."""
    failed = [replace(each, data={**each.data, **step}) for each in failed_step(200_000, "phase HYBRID: not in time")]
    run = a_run(sorted([*events, *failed], key=lambda each: each.at_ns), log)
    assert named_of_steps(run) == (BUG if is_named else ())


def leads(at_ms: int, node: str = "controller-3001") -> Sample:
    """A controller says by its metrics that it leads the quorum."""
    return sample(at_ms, node, ActiveControllerCount=1)


@pytest.mark.parametrize(
    ("samples", "log", "phase_then", "is_named"),
    [
        ([leads(20_000), leads(195_000)], STUCK, "PREPARING", True),
        ([leads(20_000), leads(195_000)], STUCK + WENT_ON, "PREPARING", False),
        ([leads(20_000), leads(195_000)], FAILED, "PREPARING", False),
        ([leads(20_000), leads(150_000, "controller-3002")], STUCK, "PREPARING", False),
        ([leads(150_000), leads(195_000)], STUCK, "PREPARING", False),
        ([leads(20_000), leads(195_000)], STUCK, "HYBRID", False),
        ([leads(20_000, "controller-3002")], STUCK, "PREPARING", False),
    ],
    ids=[
        "it copies nothing",
        "it went on",
        "no session ended",
        "another one leads by then",
        "it did not lead for long",
        "all is copied",
        "it never led",
    ],
)
def test_before_the_copy_who_leads_the_quorum_says_so_by_its_metrics(
    samples: list[Sample], log: str, phase_then: str, *, is_named: bool
) -> None:
    """The active controller is still a broker, which no event of KRaft replaces."""
    failed = failed_step(200_000, "phase HYBRID: not in time")
    run = a_run([active(1_000, "broker-0"), phase(15_000, phase_then), *failed], log, samples=samples)
    assert named_of_steps(run) == (BUG if is_named else ())


def test_of_what_shows_a_reign_the_last_counts() -> None:
    """Its metrics alone show that it leads again, as its event has failed in the reign before only."""
    elections = [active(5_000, "controller-3001"), active(10_000, "controller-3002")]
    lost = sample(10_000, "controller-3001", ActiveControllerCount=0)
    samples = [leads(5_000), lost, leads(10_000, "controller-3002"), leads(20_000)]
    run = a_run([*elections, HOLDER], failed_at("08:00:06,000"), samples=samples)
    assert named_of_expectations(run) == ()
    assert named_of_expectations(replace(run, logs={"controller-3001": STUCK})) == BUG


def test_of_3_4_it_is_not_named() -> None:
    """Its event reads nothing of ZooKeeper."""
    assert named_of_expectations(a_run([*ELECTIONS, HOLDER], kafka="3.4.1")) == ()


@pytest.mark.parametrize(
    ("later", "log", "is_named"),
    [([], STUCK, True), ([active(25_000, "controller-3002")], STUCK, False), ([], STUCK + WENT_ON, False)],
    ids=["it leads", "another one leads by then", "it went on"],
)
def test_brokers_in_zookeeper_mode_are_sent_nothing_by_it(later: list[Event], log: str, *, is_named: bool) -> None:
    """What they do not report was acknowledged when this controller had to send it."""
    edges = [phase(0, "ZOOKEEPER"), phase(11_000, "HYBRID"), *settled(30_000, "after", "brokers")]
    created = change(24_000, "create-topic", "orders", wanted={"partitions": 2, "replication": 2})
    events = [*started(*CONTROLLERS), *ELECTIONS, *later, *edges, created, *migrating(0)]
    lacking = MetadataImage("admin", known=FULL.known)
    run = history(
        events=sorted(events, key=lambda each: each.at_ns),
        images={"after-brokers": lacking},
        znodes=[znode(10_000, "/controller", IN_CHARGE)],
        logs={"controller-3001": log},
    )
    run = timed(run)
    assert named(run, brokers_are_told_of_changes.judge(run)) == (BUG if is_named else ())


LISTED = {"replicas": [0, 1], "isr": [0, 1], "leader": 0}
AT_ONE = {**LISTED, "replicas": {"broker-1": None, "broker-2": [0, 1]}}
AT_OTHER = {**LISTED, "replicas": {"broker-1": [0, 1], "broker-2": None}}


@pytest.mark.parametrize(
    ("id_", "partition", "bugs"),
    [
        ({"broker-1": None, "broker-2": "x"}, AT_ONE, BUG),
        ({"broker-1": "x", "broker-2": None}, AT_OTHER, ()),
        (None, None, ()),
    ],
    ids=["the broker in ZooKeeper mode", "the other", "both"],
)
def test_what_a_broker_in_kraft_mode_does_not_report_is_another_defect(
    id_: dict[str, str | None] | None, partition: dict[str, Any] | None, bugs: tuple[str, ...]
) -> None:
    """It reads the log, which every controller writes."""
    edges = [phase(0, "ZOOKEEPER"), phase(11_000, "HYBRID"), *settled(30_000, "after", "brokers")]
    created = change(24_000, "create-topic", "orders", wanted={"partitions": 1, "replication": 2})
    nodes = [*started(*CONTROLLERS), *migrating(0), *broker(0, 2, "kraft")]
    held = MetadataImage(
        "admin",
        known=FULL.known,
        topics={"orders": {"id": id_}} if id_ else {},
        partitions={"orders-0": partition} if partition else {},
    )
    run = history(
        events=sorted([*nodes, *ELECTIONS, *edges, created], key=lambda each: each.at_ns),
        images={"after-brokers": held},
        znodes=[znode(10_000, "/controller", IN_CHARGE)],
        logs={"controller-3001": STUCK},
    )
    run = timed(run)
    assert named(run, brokers_are_told_of_changes.judge(run)) == bugs


LISTS = "broker-0 in ZooKeeper mode lists broker-{0} and broker-2 in ZooKeeper mode does not"
LISTS_NONE = "; ".join(LISTS.format(each) for each in range(3))
KNOWS_NOTHING = "broker-0 in ZooKeeper mode reports 0 leader=2; broker-2 in ZooKeeper mode reports nothing more"
SAYS_OTHERWISE = "broker-0 in ZooKeeper mode reports 0 leader=2; broker-2 in ZooKeeper mode reports 0 leader=1"


def missed(check: Named, *observed: str, at_ms: int = 50_000, kind: Kind = Kind.LIVENESS, count: int = 0) -> Verdict:
    """What a check found that did not come in time."""
    violations = tuple(Violation("x", each, at_ms * MS) for each in observed)
    return Verdict(check.name, Outcome.VIOLATES, kind, "x", violations, count or len(violations))


@pytest.mark.parametrize(
    "check", [kraft_takes_both_controller_znodes, admin_requests_to_zookeeper_brokers_are_carried_out]
)
def test_what_waits_for_the_take_over_never_comes(check: Named) -> None:
    """In its time only, of liveness only, and where nothing was left out; not once its driver went on."""
    run = a_run(ELECTIONS)
    assert explained_by(run, missed(check, "x")) == BUG
    assert explained_by(run, missed(check, "x", at_ms=19_000)) == ()
    assert explained_by(run, missed(check, "x", kind=Kind.SAFETY)) == ()
    assert explained_by(run, missed(check, "x", count=2)) == ()
    assert explained_by(a_run(ELECTIONS, STUCK + WENT_ON), missed(check, "x")) == ()
    assert explained_by(a_run(SUCCEEDED), missed(check, "x")) == ()


@pytest.mark.parametrize(
    ("observed", "broker", "at_ms", "bugs"),
    [
        ([LISTS_NONE, KNOWS_NOTHING], 2, 15_000, BUG),
        ([LISTS_NONE, SAYS_OTHERWISE], 2, 15_000, ()),
        ([LISTS_NONE, KNOWS_NOTHING], 1, 15_000, ()),  # another one was started
        ([LISTS_NONE, KNOWS_NOTHING], 2, 9_000, ()),  # long before
        ([LISTS.format(1)], 2, 15_000, ()),  # it lists itself
    ],
)
def test_a_broker_that_starts_meanwhile_knows_nothing(
    observed: list[str], broker: int, at_ms: int, bugs: tuple[str, ...]
) -> None:
    """It was sent nothing, so that it lists no broker, not even itself, and no topic."""
    begun = migrating(at_ms, broker)
    assert explained_by(a_run([*begun, *ELECTIONS]), missed(clients_are_told_the_same, *observed)) == bugs
