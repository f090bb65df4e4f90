"""Facts about a migration that no controller continues, since its controller died at the end of the copy."""

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Violation, violates
from tests.unit.checkers.histories import MS, change, znode
from tests.unit.checkers.images import FULL, PARTITION
from tests.unit.documents.kip_866.diagnoses.naming import (
    CLAIM,
    CONTROLLERS,
    explained_by,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    timed,
    unmet,
)

GIVEN_UP = (
    "2026-11-30 08:00:22,000 ERROR KRaft controller indicates an active migration, but the ZK state does not. "
    "(KRaftMigrationDriver)\n"
)
LATER = GIVEN_UP.replace("08:00:22", "08:01:22")
BEFORE = GIVEN_UP.replace("08:00:22", "08:00:05")


def compared(log: str, offset: int, lacking: str = "zookeeper") -> History:
    """A run in which a config was changed after the copy, and one side lacks it."""
    images = {
        source: MetadataImage(
            {"log": "metadata-log", "zookeeper": "zookeeper"}[source],
            topics=FULL.topics,
            configs={"broker:1": {"a": "1" if source == lacking else "2"}},
        )
        for source in ("log", "zookeeper")
    }
    events = [*started(*CONTROLLERS), change(25_000, "alter-config", "broker:1", wanted={"a": "2"})]
    position = znode(20_000, "/migration", json.dumps({"kraft_metadata_offset": offset, "kraft_controller_id": 3002}))
    return timed(seen_at_last(images, *events, znodes=[CLAIM, position], logs={"controller-3000": log}))


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (compared(GIVEN_UP, -1), ("kmigrate-17",)),
        (compared("", -1), ()),
        (compared(GIVEN_UP, 61), ()),
        (compared(GIVEN_UP, -1, lacking="log"), ()),
        (compared(LATER, -1), ()),
        (compared(BEFORE, -1), ()),
        (compared(GIVEN_UP.partition(",000 ")[2], -1), ()),
    ],
    ids=[
        "given up",
        "nothing is logged",
        "a position came",
        "the log lacks it",
        "given up afterwards",
        "given up before the take-over",
        "at no time",
    ],
)
def test_what_zookeeper_lacks_is_named(run: History, bugs: tuple[str, ...]) -> None:
    """By what a controller found, and by ``/migration`` without a position."""
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


def unchanged(**sides: dict[str, Any]) -> History:
    """A run without any change, in which the migration was given up; its sides hold this."""
    run = compared(GIVEN_UP, -1)
    images = {label: replace(each, configs={}, **sides[label]) for label, each in run.images.items()}
    events = [each for each in run.events if each.kind is not EventKind.METADATA_CHANGE]
    return replace(run, images=images, events=events)


def test_what_no_change_since_the_takeover_explains_is_another_defect() -> None:
    """Such as a quota that was copied with another value."""
    log, zookeeper = ({"quotas": {"user=a": {"producer_byte_rate": rate}}} for rate in (1.0, 7.0))
    run = unchanged(log=log, zookeeper=zookeeper)
    assert explained_by(run, metadata_equivalent.judge(run, "log", "zookeeper")) == ()


@pytest.mark.parametrize(("held", "bugs"), [(1000, ("kmigrate-17",)), (3000, ())], ids=["earlier", "later"])
def test_ids_of_producers_go_on_in_the_log(held: int, bugs: tuple[str, ...]) -> None:
    """ZooKeeper stays at an earlier one."""
    log, zookeeper = ({"producer_ids": {"next": each}} for each in (2000, held))
    run = unchanged(log=log, zookeeper=zookeeper)
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


OLDER, NEWER = ({**PARTITION, "leader": 2, "leader_epoch": epoch} for epoch in (3, 5))


@pytest.mark.parametrize(
    ("held", "bugs"),
    [(OLDER, ("kmigrate-17",)), (NEWER, ()), ({**PARTITION, "replicas": [9]}, ())],
    ids=["older", "newer", "other replicas"],
)
def test_partitions_have_the_leaders_of_the_copy(held: dict[str, Any], bugs: tuple[str, ...]) -> None:
    """ZooKeeper has those; later ones, or other replicas, have another cause."""
    run = unchanged(log={"partitions": {"orders-0": PARTITION}}, zookeeper={"partitions": {"orders-0": held}})
    assert named(run, metadata_equivalent.judge(run, "log", "zookeeper")) == bugs


def test_an_acknowledged_change_that_zookeeper_lacks_is_named() -> None:
    """As what both sides differ in is."""
    run = compared(GIVEN_UP, -1)
    assert named(run, acknowledged_metadata_changes_present.judge(run, "zookeeper")) == ("kmigrate-17",)


@pytest.mark.parametrize(
    ("name", "log", "offset", "bugs"),
    [
        ("whether /migration holds a position", GIVEN_UP, -1, ("kmigrate-17",)),
        ("whether /migration holds a position", "", -1, ()),
        ("whether /migration holds a position", GIVEN_UP, 61, ()),
        ("whether /controller holds a position", GIVEN_UP, -1, ()),
    ],
)
def test_a_position_that_does_not_come_is_named(name: str, log: str, offset: int, bugs: tuple[str, ...]) -> None:
    """By the same evidence."""
    run = compared(log, offset)
    events = [*run.events, unmet(60_000, name, expected=True, observed=False)]
    assert named_of_expectations(replace(run, events=events)) == bugs


def test_a_controller_of_kraft_is_given_to_clients_by_another_defect() -> None:
    """A broker that hears of no controller gives one of ZooKeeper, or none."""
    for gives, bugs in (("broker-1, which is away", ("kmigrate-17",)), ("controller-3000", ())):
        violation = Violation("a broker that lives", f"broker-0 in ZooKeeper mode gives {gives}", 50_000 * MS)
        verdict = violates(Kind.LIVENESS, [violation]).by("clients_are_told_of_brokers_only")
        assert named(compared(GIVEN_UP, -1), verdict) == bugs


@pytest.mark.parametrize(("log", "bugs"), [(GIVEN_UP, ("kmigrate-17",)), ("", ()), (LATER, ())])
def test_what_brokers_report_that_hear_of_no_controller_is_named(log: str, bugs: tuple[str, ...]) -> None:
    """Brokers in ZooKeeper mode hear nothing."""
    unlike = violates(
        Kind.LIVENESS, [Violation("the same", "broker-0 in ZooKeeper mode reports nothing", 60_000 * MS)]
    ).by("clients_are_told_the_same")
    assert named(compared(log, -1), unlike) == bugs
