"""Check of /migration: the position that ZooKeeper has caught up to only rises, within one log and one znode."""

import json

import pytest

from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import (
    MIGRATION,
    is_given_up_at,
    migration_znode_never_moves_back,
)
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Outcome
from tests.unit.checkers.histories import event, fault, history, phase, znode


def at(at_ms: int, offset: int, epoch: int = 1, version: int = -1) -> ZnodeChange:
    """What the znode held from then on."""
    held = {"version": 0, "kraft_controller_id": 3000, "kraft_controller_epoch": epoch}
    held |= {"kraft_metadata_offset": offset, "kraft_metadata_epoch": epoch}
    return znode(at_ms, MIGRATION, json.dumps(held), version=version)


CAUGHT_UP = [znode(0, MIGRATION, None), at(1, -1, -1), at(2, 49), at(3, 49), at(4, 60), at(9, 12, epoch=3)]


def test_a_position_that_only_rises_conforms() -> None:
    """Conforming: nothing copied yet, then on and on; an offset of a later epoch is further, whatever its number."""
    verdict = migration_znode_never_moves_back.judge(history(znodes=CAUGHT_UP))
    assert (verdict.outcome, verdict.facts["sightings"]) == (Outcome.CONFORMS, 5)
    assert verdict.summary.endswith("the last is offset 12 of epoch 3")


@pytest.mark.parametrize("back", [at(1400, 11, epoch=3), at(1400, 99, epoch=2), at(1400, -1, -1)])
def test_a_position_that_falls_violates(back: ZnodeChange) -> None:
    """Violating: a lower offset, an earlier epoch, or nothing copied at all; reported with time and evidence."""
    events = [phase(0, "HYBRID"), *fault(200)]
    verdict = migration_znode_never_moves_back.judge(history(events=events, znodes=[*CAUGHT_UP, back, at(1500, 13, 3)]))
    assert (verdict.outcome, verdict.kind, verdict.count) == (Outcome.VIOLATES, Kind.SAFETY, 1)
    (reported,) = verdict.violations
    assert reported.observed.startswith("it went back from offset 12 of epoch 3 to offset ")
    assert reported.observed.endswith("1.2 s after kill(active-controller) began, in HYBRID")
    assert reported.evidence[0] == f"znode {MIGRATION} version -1"


@pytest.mark.parametrize("znodes", [[], [znode(1, MIGRATION, None)], [znode(1, MIGRATION, "[]")], [at(1, 49)]])
def test_a_history_without_a_position_shows_nothing(znodes: list[ZnodeChange]) -> None:
    """Vacuous: the znode was never there, or never held a position, or one only."""
    verdict = migration_znode_never_moves_back.judge(history(znodes=znodes))
    assert (verdict.outcome, verdict.kind) == (Outcome.INCONCLUSIVE, Kind.VACUOUS)


def test_a_position_from_before_the_controllers_is_none_of_theirs() -> None:
    """Conforming: an earlier attempt left a later position, and the first controllers begin at their own."""
    started = event(EventKind.NODE_STARTED, 5, "controller-3000", role="controller")
    znodes = [at(1, 900, epoch=7), at(6, -1, -1), at(7, 49)]
    assert migration_znode_never_moves_back.judge(history(events=[started], znodes=znodes)).outcome is Outcome.CONFORMS


def test_a_new_log_begins_anew() -> None:
    """A revert takes the log away, and the znode with it if the operator follows the manual."""
    reverted = event(EventKind.STEP_ENDED, 20, step="deprovision-controllers", outcome="done")
    kept = history(events=[reverted], znodes=[*CAUGHT_UP, at(30, 40)])
    deleted = history(znodes=[*CAUGHT_UP, znode(25, MIGRATION, None), at(30, -1, -1), at(31, 40)])
    assert migration_znode_never_moves_back.judge(kept).outcome is Outcome.CONFORMS
    unseen = history(znodes=[at(1, 60, version=1), at(30, -1, -1, version=0), at(31, 40, version=1)])
    written = history(znodes=[at(1, 60, version=1), at(30, -1, -1, version=2)])
    assert migration_znode_never_moves_back.judge(deleted).outcome is Outcome.CONFORMS
    assert migration_znode_never_moves_back.judge(unseen).outcome is Outcome.CONFORMS
    assert migration_znode_never_moves_back.judge(written).outcome is Outcome.VIOLATES


CUT_OFF = [
    event(EventKind.FAULT_APPLIED, 1_000, fault_id="fault-1", targets=["controller-3000", "zookeeper-1"]),
    event(EventKind.FAULT_HEALED, 5_000, fault_id="fault-1"),
]
OF_A_BROKER = [
    event(EventKind.FAULT_APPLIED, 1_000, fault_id="fault-1", targets=["broker-1"]),
    event(EventKind.FAULT_HEALED, 5_000, fault_id="fault-1"),
]


def of_the_controller(kind: str) -> list[Event]:
    """Such a fault of the active controller from 1 s to 5 s, which touches no ZooKeeper."""
    began = {"fault": f"{kind}(active-controller)", "fault_id": kind}
    return [
        event(EventKind.FAULT_BEGAN, 1_000, **began, effect=kind, trigger="now"),
        event(EventKind.FAULT_APPLIED, 1_000, fault_id=kind, targets=["controller-3000"]),
        event(EventKind.FAULT_HEALED, 5_000, fault_id=kind),
    ]


ENSEMBLE = [event(EventKind.NODE_STARTED, 0, node=f"zookeeper-{each}", role="zookeeper") for each in (1, 2, 3)]
ONE_OF_THREE = [*ENSEMBLE, event(EventKind.FAULT_APPLIED, 5_000, fault_id="fault-1", targets=["zookeeper-3"])]
TWO_OF_THREE = [*ONE_OF_THREE, event(EventKind.FAULT_APPLIED, 5_000, fault_id="fault-2", targets=["zookeeper-1"])]
TAKEN_OVER = event(EventKind.ACTIVE_CONTROLLER, 6_000, controller="controller-3001")


@pytest.mark.parametrize(
    ("events", "last_written_ms", "taken_ms", "is_given_up"),
    [
        (CUT_OFF, 900, 40_000, True),
        (CUT_OFF, 6_000, 40_000, True),
        (CUT_OFF, 16_000, 40_000, False),
        (CUT_OFF, 900, 20_000, False),
        ([*CUT_OFF, TAKEN_OVER], 900, 40_000, False),
        (OF_A_BROKER, 900, 40_000, False),
        (of_the_controller("misname"), 900, 40_000, True),
        (of_the_controller("misname"), 16_000, 40_000, False),
        (of_the_controller("misname")[:2], 900, 40_000, False),
        (of_the_controller("expire-session")[:2], 900, 40_000, True),
        (of_the_controller("pause"), 900, 40_000, False),
        ([], 900, 40_000, False),
        (ONE_OF_THREE, 12_000, 40_000, True),
        (ONE_OF_THREE, 900, 20_000, False),
        (TWO_OF_THREE, 900, 40_000, False),
    ],
    ids=[
        "never again",
        "seen late",
        "again",
        "too early to say",
        "another controller",
        "another fault",
        "without names",
        "seen late without names",
        "still without names",
        "its session ended",
        "paused",
        "no fault",
        "a majority is left",
        "too early with a majority",
        "no majority is left",
    ],
)
def test_dual_write_is_given_up_if_the_same_controller_never_writes_again(
    events: list[Event], last_written_ms: int, taken_ms: int, *, is_given_up: bool
) -> None:
    """After ZooKeeper was away; a look that is early, or sees another controller or another write, cannot say so."""
    seen = history(events=events, znodes=[at(10, 3), at(last_written_ms, 7)])
    assert is_given_up_at(seen, taken_ms * 1_000_000) is is_given_up


def test_what_a_later_controller_writes_does_not_say_that_the_former_one_had_not_given_up() -> None:
    """The migration may go on after the image that lacks something, and be finalized."""
    later = event(EventKind.ACTIVE_CONTROLLER, 50_000, controller="controller-3001")
    seen = history(events=[*CUT_OFF, later], znodes=[at(10, 3), at(900, 7), at(51_000, 9, epoch=2)])
    assert is_given_up_at(seen, 40_000 * 1_000_000)
