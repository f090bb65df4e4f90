"""Facts about a migration that no controller continues, since its controller died at the end of the copy."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.checkers.metadata.acknowledged import acknowledged_metadata_changes_present
from pytest_kmigrate.checkers.metadata.metadata import metadata_equivalent
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.verdict import Kind, Violation, violates
from tests.unit.checkers.histories import MS, change, znode
from tests.unit.checkers.images import FULL
from tests.unit.documents.kip_866.diagnoses.naming import (
    CLAIM,
    CONTROLLERS,
    named,
    named_of_expectations,
    seen_at_last,
    started,
    unmet,
)

GIVEN_UP = "ERROR KRaft controller indicates an active migration, but the ZK state does not. (KRaftMigrationDriver)\n"


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
    return seen_at_last(images, *events, znodes=[CLAIM, position], logs={"controller-3000": log})


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (compared(GIVEN_UP, -1), ("kmigrate-17",)),
        (compared("", -1), ()),
        (compared(GIVEN_UP, 61), ()),
        (compared(GIVEN_UP, -1, lacking="log"), ()),
    ],
    ids=["given up", "nothing is logged", "a position came", "the log lacks it"],
)
def test_what_zookeeper_lacks_is_named(run: History, bugs: tuple[str, ...]) -> None:
    """By what a controller found, and by ``/migration`` without a position."""
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


@pytest.mark.parametrize(("log", "bugs"), [(GIVEN_UP, ("kmigrate-17",)), ("", ())])
def test_what_brokers_report_that_hear_of_no_controller_is_named(log: str, bugs: tuple[str, ...]) -> None:
    """Brokers in ZooKeeper mode hear nothing."""
    unlike = violates(
        Kind.LIVENESS, [Violation("the same", "broker-0 in ZooKeeper mode reports nothing", 60_000 * MS)]
    ).by("clients_are_told_the_same")
    assert named(compared(log, -1), unlike) == bugs
