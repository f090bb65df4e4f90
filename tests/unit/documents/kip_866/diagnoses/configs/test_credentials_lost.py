"""Facts about credentials that a KRaft controller took from ZooKeeper (KAFKA-20774)."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.credentials import _spread_hash
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.documents import document
from pytest_kmigrate.judging.explaining import explained
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from tests.unit.checkers.histories import MS, Row, change, event, history, sample, snapshot
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.checks.transactions.logged import BROKER, FIRST, claim, logged, place
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, seen_at_last, started

KEY, WANTED = "al ice:SCRAM-SHA-512", {"iterations": 4570}
OTHERS = [
    change(1_000, "set-scram", "carol:SCRAM-SHA-512", wanted=WANTED),
    change(1_100, "remove-scram", "carol:SCRAM-SHA-512"),
]
OF_ANOTHER_MECHANISM = [change(1_100, "remove-scram", "carol:SCRAM-SHA-256")]
SET = change(2_000, "set-scram", KEY, wanted=WANTED)
ORDERED = ["üser", "changing-1-user-3", "carol", "dave", "User:CN=al ice", "bob", "changing-1-user-1", "al ice"]
"""The keys of a ``java.util.HashMap`` of these names, as Java 17 lists them."""


def sync(at_ms: int = 5_000, user: str = "al%20ice", session: int = FIRST, **configs: str) -> Transaction:
    """A full sync writes a user, with these configs."""
    held = json.dumps({"version": 1, "config": configs})
    return logged(at_ms, session, Write("set-data", f"/config/users/{user}", held, 2))


@pytest.mark.parametrize(
    ("events", "written", "source", "started_ms", "claimed_ms", "is_named"),
    [
        ([*OTHERS, SET], sync(), "zookeeper", 2_500, 3_000, True),
        ([*OF_ANOTHER_MECHANISM, SET], sync(), "zookeeper", 2_500, 3_000, False),
        ([SET], sync(), "zookeeper", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(**{"SCRAM-SHA-512": "digest"}), "zookeeper", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(user="bob"), "zookeeper", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(at_ms=1_900), "zookeeper", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(session=BROKER), "zookeeper", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(), "metadata-log", 2_500, 3_000, False),
        ([*OTHERS, SET], sync(), "zookeeper", 1_500, 3_000, False),
        ([*OTHERS, SET], sync(), "zookeeper", 1_050, 1_900, False),
        ([*OTHERS, SET], sync(at_ms=64_000), "zookeeper", 2_500, 3_000, False),
    ],
    ids=[
        "another was removed",
        "of another mechanism",
        "none was removed",
        "written with it",
        "another user",
        "written before",
        "by a broker",
        "lost in the log",
        "loaded before it was set",
        "in charge before it was set",
        "written long after the take-over",
    ],
)
def test_credentials_that_a_controller_takes_from_zookeeper_are_kafka_20774(
    events: list[Event], written: Transaction, source: str, started_ms: int, claimed_ms: int, *, is_named: bool
) -> None:
    """It wrote the user without the credential, and somebody else's of the same mechanism had been removed before."""
    with_it = MetadataImage("metadata-log", known=FULL.known, scram={KEY: WANTED})
    images = {"after": MetadataImage(source, known=FULL.known), "log": with_it}
    loaded = started(*CONTROLLERS, at_ms=started_ms)
    run = seen_at_last(images, *loaded, *events, transactions=[claim(claimed_ms), written])
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == bugs


WITH_IT = {"SCRAM-SHA-512": "digest"}


@pytest.mark.parametrize(
    ("writes", "held", "seen_ms", "bugs"),
    [
        ([sync(4_000, **WITH_IT), sync()], {}, 60_000, ("KAFKA-20774",)),
        ([sync()], {}, 4_500, ()),
        ([sync()], {KEY: {"iterations": 1}}, 60_000, ()),
        ([sync(), sync(30_000, **WITH_IT), sync(40_000)], {}, 60_000, ()),
    ],
    ids=["since the sync", "before the sync", "another value", "it was there again"],
)
def test_a_credential_is_lost_by_the_sync_before_the_image(
    writes: list[Transaction], held: dict[str, Row], seen_ms: int, bugs: tuple[str, ...]
) -> None:
    """What was lacking before, or is lost once more, has another cause; a wrong value is no loss."""
    images = {"after": MetadataImage("zookeeper", known=FULL.known, scram=held)}
    events = [*started(*CONTROLLERS, at_ms=2_500), *OTHERS, SET, snapshot(seen_ms, "after", 0)]
    positions = [logged(6_000, FIRST, place(7)), logged(7_000, FIRST, place(8))]
    transactions = sorted([claim(3_000), *positions, *writes], key=lambda each: each.at_ns)
    run = history(events=events, images=images, transactions=transactions)
    assert named(run, acknowledged_metadata_changes_present.judge(run, "after")) == bugs


def test_a_credential_that_was_removed_is_no_loss() -> None:
    """What is wrong then is that the log still has it."""
    events = [*OTHERS, SET, change(3_000, "remove-scram", KEY)]
    with_it = MetadataImage("metadata-log", known=FULL.known, scram={KEY: WANTED})
    images = {"after": MetadataImage("zookeeper", known=FULL.known), "log": with_it}
    loaded = started(*CONTROLLERS, at_ms=2_500)
    run = seen_at_last(images, *loaded, *events, transactions=[claim(3_500), sync()])
    assert named(run, metadata_equivalent.judge(run, "log", "after")) == ()


def _broker(
    *events: Event,
    removed: bool = True,
    mode: str = "kraft",
    ready_ms: int = 4_000,
    lacks: object = None,
    set_ms: int = 3_000,
) -> History:
    """A broker that was started again at 2.5 s; after the image of the log it lacks a credential, or has another."""
    before = OTHERS if removed else OF_ANOTHER_MECHANISM
    begun = [*started("broker-2", mode=mode, at_ms=2_500), event(EventKind.NODE_READY, ready_ms, "broker-2", took_ms=1)]
    last = change(set_ms, "set-scram", KEY, wanted=WANTED)
    in_order = sorted([*before, *events, *begun, last], key=lambda each: each.at_ns)
    seen = {"iterations": {"broker-0": 4570, "broker-2": lacks}}
    last_of = {each.data["subject"]: each.data["change"] for each in in_order if "subject" in each.data}
    there = {subject: WANTED for subject, change_ in last_of.items() if change_ == "set-scram" and subject != KEY}
    images = {
        "after-log": MetadataImage("metadata-log", known=FULL.known, scram={**there, KEY: WANTED}),
        "after-brokers": MetadataImage("admin", known=FULL.known, scram={**there, KEY: seen}),
    }
    loads = "[BrokerMetadataPublisher id=2] Publishing initial metadata at offset OffsetAndEpoch(offset=428, epoch=2)"
    return seen_at_last(images, *in_order, logs={"broker-2": loads})


@pytest.mark.parametrize(
    ("side", "others", "is_named"),
    [
        (WANTED, [], True),
        ({"iterations": 1}, [], False),
        (WANTED, started("broker-0", mode="kraft", at_ms=2_600), False),
    ],
    ids=["all loaded it so", "another value is missing", "one did not load it so"],
)
def test_a_credential_that_no_broker_has_was_lost_by_each(side: Row, others: list[Event], *, is_named: bool) -> None:
    """The sides of the controllers have it as it was set last, and every broker lost it as it loaded its log."""
    run = _broker(*others)
    images = {
        "after-zookeeper": MetadataImage("zookeeper", known=FULL.known, scram={KEY: side}),
        "after-brokers": MetadataImage("admin", known=FULL.known),
    }
    run = replace(run, images=images)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-zookeeper", "after-brokers")) == bugs


@pytest.mark.parametrize(
    ("is_synced", "logged_iterations", "is_beside", "bugs"),
    [
        (True, 4570, True, ("KAFKA-20774",)),
        (False, 4570, True, ()),
        (True, 1, True, ()),
        (True, 4570, False, ()),
    ],
    ids=["each by its own cause", "ZooKeeper by none", "the log has another value", "no log beside"],
)
def test_two_sides_may_lack_a_credential_by_causes_of_their_own(
    logged_iterations: int, bugs: tuple[str, ...], *, is_synced: bool, is_beside: bool
) -> None:
    """What the log that was looked at with them holds is what brokers lost; ZooKeeper lacks it since a full sync."""
    both = "al ice:SCRAM-SHA-512"
    events = [*started(*CONTROLLERS, at_ms=2_600), _of("bob", 1_900)]
    run = _broker(*events, set_ms=2_500)
    images = {
        "log": MetadataImage("metadata-log", known=FULL.known, scram={both: {"iterations": logged_iterations}}),
        "zk": MetadataImage("zookeeper", known=FULL.known, scram={"bob:SCRAM-SHA-512": WANTED}),
        "brokers": MetadataImage("admin", known=FULL.known, scram={}),
    }
    settled = event(EventKind.SETTLED, 61_000, label="after", images=list(images if is_beside else ()), took_s=1.0)
    taken = [snapshot(60_000, label, 0) for label in images]
    others = [each for each in run.events if each.kind is not EventKind.SNAPSHOT]
    synced = [claim(3_000), sync()] if is_synced else [claim(3_000)]
    run = replace(run, events=[*others, *taken, settled], images=images, transactions=synced)
    assert named(run, metadata_equivalent.judge(run, "zk", "brokers")) == bugs


def _of(user: str, at_ms: int, change_: str = "set-scram") -> Event:
    """Another credential of the same mechanism is set, or removed."""
    return change(at_ms, change_, f"{user}:SCRAM-SHA-512", wanted=WANTED if change_ == "set-scram" else {})


@pytest.mark.parametrize(
    ("set_ms", "events", "is_named"),
    [
        (3_000, [], True),
        (500, [], True),
        (1_050, [], True),
        (3_000, [_of("bob", 1_050)], True),
        (3_000, [_of("changing-1-user-3", 2_000)], False),
        (3_000, [_of("changing-1-user-3", 3_500)], True),
        (3_000, [_of("changing-1-user-3", 1_050, "remove-scram")], True),
        (3_500, [_of("changing-1-user-3", 1_050, "remove-scram"), _of("changing-1-user-3", 3_000)], False),
    ],
    ids=[
        "before the load ended",
        "before the removal",
        "between",
        "beside one that comes later",
        "beside one that comes first",
        "beside one that may be set later",
        "beside a removed one that comes first",
        "beside one that was set again before it",
    ],
)
def test_a_broker_that_loads_its_log_loses_credentials_alike(
    set_ms: int, events: list[Event], *, is_named: bool
) -> None:
    """Whichever was changed first: one that was removed is the first that the load comes to."""
    run = _broker(*events, set_ms=set_ms)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


@pytest.mark.parametrize(
    ("later", "is_named"),
    [
        ([change(5_000, "set-scram", KEY, "indefinite", wanted={"iterations": 1})], True),
        ([change(5_000, "remove-scram", KEY, "indefinite")], True),
        ([change(5_000, "set-scram", KEY, wanted={"iterations": 1})], False),
        ([change(5_000, "remove-scram", KEY)], False),
        ([change(5_000, "set-scram", KEY, wanted=WANTED), change(6_000, "remove-scram", KEY, "indefinite")], False),
    ],
    ids=[
        "unanswered",
        "an unanswered removal",
        "acknowledged",
        "an acknowledged removal",
        "acknowledged when the load was over",
    ],
)
def test_a_change_that_came_to_nothing_hides_no_loss(later: list[Event], *, is_named: bool) -> None:
    """Others have the credential as it was set before: what had no answer was not done, what had one is lost."""
    run = _broker(*later)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


def test_a_removal_that_came_to_nothing_is_not_the_first_of_a_load() -> None:
    """By its own removal a credential would be gone everywhere; by its name it is the first that a load comes to."""
    later = [change(3_500, "remove-scram", KEY, "indefinite")]
    run = _broker(*later, removed=False)
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == ()


@pytest.mark.parametrize(("removed_ms", "is_named"), [(3_500, True), (4_500, False)], ids=["coming up", "ready"])
def test_what_is_removed_while_a_broker_comes_up_is_part_of_its_load(removed_ms: int, *, is_named: bool) -> None:
    """It loads what is committed by then; what is removed later comes by itself."""
    run = _broker(_of("carol", 2_000), _of("carol", removed_ms, "remove-scram"), removed=False, set_ms=500)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


@pytest.mark.parametrize(
    ("node", "from_ms", "to_ms", "is_named"),
    [
        ("broker-2", 2_950, 8_000, True),
        ("broker-0", 2_950, 8_000, False),
        ("broker-2", 3_200, 8_000, False),
        ("broker-2", 2_950, 3_300, False),
    ],
    ids=["cut off", "another broker", "after the removal", "until it was set"],
)
def test_a_broker_that_was_cut_off_reads_a_removal_and_a_credential_at_once(
    node: str, from_ms: int, to_ms: int, *, is_named: bool
) -> None:
    """It had loaded its log long before, so that it loses what came while its high watermark stood still."""
    others = [_of("carol", 3_000), _of("carol", 3_100, "remove-scram")]
    run = _broker(*others, removed=False, ready_ms=2_900, set_ms=3_500)
    times = [2_900, from_ms, (from_ms + to_ms) // 2, to_ms, 9_000]
    watermarks = zip(times, (100, 200, 200, 200, 300), strict=True)
    run = replace(run, samples=[sample(at_ms, node, RaftHighWatermark=read) for at_ms, read in watermarks])
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


def _seen_at(run: History, at_ms: int) -> History:
    """The same run, whose images were taken at this time."""
    events = [each if each.kind is not EventKind.SNAPSHOT else _taken(each, at_ms) for each in run.events]
    return replace(run, events=sorted(events, key=lambda each: each.at_ns))


def _taken(taken: Event, at_ms: int) -> Event:
    return replace(taken, at_ns=at_ms * MS, data={**taken.data, "began_ns": at_ms * MS})


@pytest.mark.parametrize(("seen_ms", "is_named"), [(60_000, True), (2_200, False)], ids=["afterwards", "before"])
def test_a_load_explains_nothing_that_was_lacking_before_it(seen_ms: int, *, is_named: bool) -> None:
    """The broker lacked it already when it was asked, and was started again later."""
    earlier = [*started("broker-2", mode="kraft"), event(EventKind.NODE_READY, 100, "broker-2", took_ms=1)]
    run = _seen_at(_broker(*earlier, set_ms=1_500), seen_ms)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


@pytest.mark.parametrize("change_", ["set-scram", "remove-scram"])
@pytest.mark.parametrize(("later_ms", "is_named"), [(50_000, True), (30_000, False)], ids=["afterwards", "before"])
def test_a_change_after_brokers_were_asked_hides_no_loss(change_: str, later_ms: int, *, is_named: bool) -> None:
    """What was acknowledged before they were asked, and is on no broker, has another cause."""
    run = _seen_at(_broker(change(later_ms, change_, KEY, wanted={"iterations": 1})), 40_000)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


@pytest.mark.parametrize(
    ("again_ms", "seen_ms", "is_named"),
    [(None, 60_000, True), (None, 7_000, False), (20_000, 60_000, False), (20_000, 15_000, True)],
    ids=["it caught up", "it still lags", "it was started again", "it was started again afterwards"],
)
def test_a_broker_that_caught_up_lost_it_until_it_is_started_again(
    again_ms: int | None, seen_ms: int, *, is_named: bool
) -> None:
    """One that lags has not read it yet; one that is started again loads all its log, and what it lost is there."""
    others = [_of("carol", 3_000), _of("carol", 3_100, "remove-scram")]
    if again_ms is not None:
        ready = event(EventKind.NODE_READY, again_ms + 1_000, "broker-2", took_ms=1)
        others += [_of("carol", 9_500), *started("broker-2", mode="kraft", at_ms=again_ms), ready]
    run = _broker(*others, removed=False, ready_ms=2_900, set_ms=3_500)
    read = [sample(at_ms, "broker-2", RaftHighWatermark=at_ms // 2_950) for at_ms in (2_900, 2_950, 5_000, 5_890)]
    read += [sample(8_000, "broker-2", RaftHighWatermark=1), sample(9_000, "broker-2", RaftHighWatermark=3)]
    run = _seen_at(replace(run, samples=read), seen_ms)
    bugs = ("KAFKA-20774",) if is_named else ()
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == bugs


@pytest.mark.parametrize("profile", ["kip-500", "kip-778"])
def test_a_quorum_without_zookeeper_has_it_too(profile: str) -> None:
    """A broker that was killed by a schedule lost a credential so."""
    run = _broker()
    verdict = metadata_equivalent.judge(run, "after-log", "after-brokers")
    (found,) = explained(run, [verdict], document(profile).diagnoses)
    assert found.known_bugs == ("KAFKA-20774",)


def test_the_order_of_users_is_that_of_a_hash_map() -> None:
    """Java's own listing is the measure."""
    assert sorted(ORDERED, key=lambda user: _spread_hash(user) % 16) == ORDERED


@pytest.mark.parametrize(
    "changes",
    [{"removed": False}, {"mode": "zookeeper"}, {"ready_ms": 2_900}, {"lacks": 1}],
    ids=["none was removed", "in ZooKeeper mode", "ready before it was set", "another value"],
)
def test_a_broker_that_lacks_a_credential_otherwise_has_another_bug(changes: dict[str, Any]) -> None:
    """It did not load both at once, or did not lose it."""
    run = _broker(**changes)
    assert named(run, metadata_equivalent.judge(run, "after-log", "after-brokers")) == ()
