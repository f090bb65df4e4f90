"""Facts about a former controller that writes when its successor has read ``/migration``."""

import json
from dataclasses import replace

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import migration_znode_never_moves_back
from pytest_kmigrate.model.history import History, ZnodeChange
from tests.unit.checkers.histories import MS, history, znode
from tests.unit.documents.kip_866.diagnoses.naming import CONTROLLERS, named, named_of_expectations, started, unmet

CHECK_FAILED = "ERROR Check op on KRaft Migration ZNode failed. Expected zkVersion = 17. (KRaftMigrationDriver)\n"
UPDATE_FAILED = CHECK_FAILED.replace("Check op", "Conditional update")
FORMER, SUCCESSOR = 3000, 3001


def position(at_ms: int, offset: int, version: int, owner: int, epoch: int) -> ZnodeChange:
    """What a controller wrote to ``/migration``."""
    held = {"kraft_metadata_offset": offset, "kraft_metadata_epoch": 2, "kraft_controller_id": owner}
    return znode(at_ms, "/migration", json.dumps({**held, "kraft_controller_epoch": epoch}), version=version)


def claim(at_ms: int, owner: int) -> ZnodeChange:
    """A controller took ``/controller``."""
    return znode(at_ms, "/controller", json.dumps({"brokerid": owner, "kraftControllerEpoch": 4}))


SINCE = [position(20_000, 61, 30, SUCCESSOR, 4), position(25_000, 62, 31, FORMER, 5)]
"""The successor got over it, and another controller wrote later."""
WRITTEN = [position(10_000, 57, 17, FORMER, 2), position(15_000, 60, 18, FORMER, 2)]


def lacking(
    log: str, *znodes: ZnodeChange, name: str = "topics that ZooKeeper lacks", observed: object = ("after",)
) -> History:
    """A run in which a topic did not come to ZooKeeper."""
    events = [*started(*CONTROLLERS), unmet(60_000, name, expected=[], observed=observed)]
    return history(events=events, znodes=znodes, logs={f"controller-{SUCCESSOR}": log}, kafka="3.6.0")


@pytest.mark.parametrize(
    ("run", "bugs"),
    [
        (lacking(CHECK_FAILED, *WRITTEN, claim(16_000, SUCCESSOR)), ("KAFKA-16171",)),
        (lacking(UPDATE_FAILED, *WRITTEN, claim(16_000, SUCCESSOR)), ("KAFKA-16171",)),
        (lacking("", *WRITTEN, claim(16_000, SUCCESSOR)), ()),
        (lacking(CHECK_FAILED, *WRITTEN, claim(16_000, FORMER)), ()),
        (lacking(CHECK_FAILED, WRITTEN[0], claim(16_000, SUCCESSOR)), ()),
        (lacking(CHECK_FAILED, *WRITTEN, claim(16_000, SUCCESSOR), position(17_000, 61, 19, SUCCESSOR, 4)), ()),
        (lacking(CHECK_FAILED, *WRITTEN, *SINCE, claim(26_000, SUCCESSOR)), ()),
        (lacking(CHECK_FAILED, *WRITTEN), ()),
        (lacking(CHECK_FAILED, *WRITTEN, claim(16_000, SUCCESSOR), observed="after"), ()),
        (lacking(CHECK_FAILED, *WRITTEN, claim(16_000, SUCCESSOR), name="requests that were refused"), ()),
    ],
    ids=[
        "stuck at other writes",
        "stuck at its own",
        "nothing is logged",
        "the former one is in charge",
        "no newer version",
        "it wrote since",
        "it wrote since, and another one",
        "no claim",
        "no list",
        "a list of something else",
    ],
)
def test_what_a_stuck_successor_does_not_write_is_named(run: History, bugs: tuple[str, ...]) -> None:
    """By who is in charge, who wrote last, and the version that the log says was expected."""
    assert named_of_expectations(run) == bugs


def test_a_position_of_long_ago_was_not_read_at_the_claim() -> None:
    """As the first one, which the znode held until the migration began."""
    first = position(1_000, 1, 16, FORMER, 2)
    fallen = position(17_000, 1, 19, SUCCESSOR, 4)
    later = [replace(each, at_ns=each.at_ns + 20_000 * MS) for each in (claim(16_000, SUCCESSOR), fallen)]
    run = history(events=started(*CONTROLLERS), znodes=[first, *WRITTEN, *later])
    assert named(run, migration_znode_never_moves_back.judge(run)) == ()


@pytest.mark.parametrize(
    ("fallen_to", "bugs"),
    [
        (position(17_000, 57, 19, SUCCESSOR, 4), ("kmigrate-18",)),
        (position(17_000, 50, 19, SUCCESSOR, 4), ()),
        (position(17_000, 57, 19, FORMER, 4), ()),
        (position(17_000, 57, 19, SUCCESSOR, 2), ()),
    ],
    ids=["the one that it read", "one that never was", "the same controller", "no later epoch"],
)
def test_a_position_that_a_successor_puts_back_is_named(fallen_to: ZnodeChange, bugs: tuple[str, ...]) -> None:
    """It is one that the znode held before, and the writer is another, of a later epoch."""
    run = history(events=started(*CONTROLLERS), znodes=[*WRITTEN, claim(16_000, SUCCESSOR), fallen_to])
    assert named(run, migration_znode_never_moves_back.judge(run)) == bugs
