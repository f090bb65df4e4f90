"""Check of the znode ``/migration``, in which the KRaft controllers keep how far ZooKeeper has caught up."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.controllers.znode_changes import evidence_of, held_in, since_controllers, was_deleted
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of, healed_ns, targets_of, when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import History, Write, ZnodeChange
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

MIGRATION = "/migration"
_SEEN_WITHIN_NS = 10_000_000_000  # an election included
STILL_NS = 20_000_000_000  # by then a controller that goes on has written


@dataclass(frozen=True)
class _Position:
    """A place in the metadata log up to which ZooKeeper has everything; positions compare only within one series."""

    series: tuple[int, int]
    epoch: int
    offset: int
    change: ZnodeChange

    def __str__(self) -> str:
        return f"offset {self.offset} of epoch {self.epoch}"

    @property
    def place(self) -> tuple[int, int]:
        return self.epoch, self.offset


def offset_in(change: ZnodeChange | Write) -> int | None:
    """The offset that ``/migration`` held, or that was written to it; None if it held none."""
    offset = held_in(change).get("kraft_metadata_offset")
    return offset if isinstance(offset, int) else None


def writer_in(change: ZnodeChange | Write) -> str:
    """The controller that ``/migration`` names as the one that wrote it."""
    return f"controller-{held_in(change).get('kraft_controller_id')}"


def held_by_migration(history: History) -> list[ZnodeChange]:
    """What ``/migration`` held, in the order in which it was seen."""
    return [each for each in history.znodes if each.path == MIGRATION and each.data]


def has_place(change: ZnodeChange | Write) -> bool:
    """Whether ``/migration`` held the place of a copy that was made: its offset is -1 before."""
    offset = offset_in(change)
    return offset is not None and offset >= 0


def holds_position(history: History) -> bool:
    """Whether ``/migration`` was ever there."""
    return any(change.path == MIGRATION and change.data is not None for change in history.znodes)


@checker(
    "K866-ZNODE-migration-monotonic",
    in_every_run=holds_position,
    anomaly="migration znode moves back",
    needs=[Capability.ZNODES],
)
def migration_znode_never_moves_back(history: History) -> Verdict:
    """The position in the metadata log that ``/migration`` holds (epoch and offset) only rises.

    -1 in both, before the first copy, is the lowest of all. A revert begins a new log, and a deletion of the znode
    begins anew; so do the first KRaft controllers, whatever it held before.
    """
    seen = list(_positions(history))
    if not seen:
        return inconclusive(Kind.VACUOUS, f"{MIGRATION} was never seen to hold a position")
    found = [
        _moved_back(history, before, after)
        for before, after in itertools.pairwise(seen)
        if after.series == before.series and after.place < before.place
    ]
    if found:
        text = f"{MIGRATION} moved back {counted(len(found), 'time')}; {found[0].observed}"
        return violates(Kind.SAFETY, found, text, sightings=len(seen))
    if all(after.series != before.series for before, after in itertools.pairwise(seen)):
        text = f"{MIGRATION} was seen to hold {seen[-1]}, and no position that it could have moved back from"
        return inconclusive(Kind.VACUOUS, text)
    text = f"{counted(len(seen), 'position')} seen in {MIGRATION}, none below the one before; the last is {seen[-1]}"
    return conforms(text, sightings=len(seen))


def is_given_up_at(history: History, taken_ns: int, seen_within_ns: int = _SEEN_WITHIN_NS) -> bool:
    """Whether a controller that is active still has not written to ``/migration`` since ZooKeeper was there again.

    What is seen within ``seen_within_ns`` was written before.
    """
    there_ns = _there_again_ns(history, taken_ns)
    if there_ns is None:
        return False
    # What came after taken_ns says nothing: a successor writes again.
    written_ns = [each.at_ns for each in history.znodes if each.path == MIGRATION and each.at_ns < taken_ns]
    taken_over_ns = [each.at_ns for each in history.of(ActiveControllerChanged) if each.at_ns < taken_ns]
    # A watcher that lost ZooKeeper, too, sees the last write a little later.
    is_still = all(at_ns < there_ns + seen_within_ns for at_ns in written_ns)
    return is_still and all(at_ns < there_ns for at_ns in taken_over_ns) and taken_ns > there_ns + STILL_NS


def expired_sessions(history: History) -> list[Recorded[FaultApplied]]:
    """The faults by which ZooKeeper ended the session of a KRaft controller."""
    return _of_controllers(history, "expire-session(")


def faults_between(history: History, controller: str, from_ns: int, to_ns: int) -> list[Recorded[FaultApplied]]:
    """The faults of a controller or of ZooKeeper that were in force at any time between two instants."""
    in_force = {each.what.fault_id for each in faults_begun_of(history, from_ns, to_ns)}
    applied = [each for each in history.of(FaultApplied) if each.what.fault_id in in_force]
    return [each for each in applied if controller in targets_of(each) or _servers_of(each)]


def healed_since_ns(history: History, controller: str, from_ns: int, to_ns: int) -> int | None:
    """Since when none is in force any more of the faults between two instants; None: one lasts until the end."""
    healed = healed_ns(history)
    faults = [each.what.fault_id for each in faults_between(history, controller, from_ns, to_ns)]
    return None if any(each not in healed for each in faults) else max([from_ns, *(healed[each] for each in faults)])


def _of_controllers(history: History, *kinds: str) -> list[Recorded[FaultApplied]]:
    """The faults of some kinds that hit a KRaft controller."""
    of_kinds = {each.what.fault_id for each in history.of(FaultBegan) if each.what.fault.startswith(kinds)}
    applied = [each for each in history.of(FaultApplied) if each.what.fault_id in of_kinds]
    return [each for each in applied if any(node.startswith("controller-") for node in targets_of(each))]


def _there_again_ns(history: History, taken_ns: int) -> int | None:
    """When a fault of it was healed last, or left a majority of its servers; None: there was none, or it is away.

    For a controller whose session it ended, or that does not find it by its name, it is away as well.
    """
    nameless = [event.seq for event in _of_controllers(history, "misname(")]
    away_from_one = [*nameless, *(event.seq for event in expired_sessions(history))]
    applied = [event for event in history.of(FaultApplied) if event.at_ns < taken_ns]
    touched = [event for event in applied if _servers_of(event) or event.seq in away_from_one]
    healed = {each.what.fault_id: each.at_ns for each in history.of(FaultHealed) if each.at_ns < taken_ns}
    lasting = [event for event in touched if event.what.fault_id not in healed]
    away = {each for event in lasting for each in _servers_of(event)}
    ensemble = [node for node, role in roles(history).items() if role == "zookeeper"]
    if (away and 2 * len(away) >= len(ensemble)) or any(event.seq in nameless for event in lasting):
        return None
    return max((healed.get(event.what.fault_id, event.at_ns) for event in touched), default=None)


def _servers_of(applied: Recorded[FaultApplied]) -> set[str]:
    return {each for each in targets_of(applied) if each.startswith("zookeeper-")}


def _positions(history: History) -> Iterator[_Position]:
    starts, deleted = life_starts_ns(history), 0
    former: ZnodeChange | None = None
    for change in since_controllers(history, (each for each in history.znodes if each.path == MIGRATION)):
        deleted += was_deleted(change, former)
        former = change
        held = _held(change)
        if held is not None:
            yield _Position((life_at(starts, change.at_ns), deleted), *held, change)


def _held(change: ZnodeChange) -> tuple[int, int] | None:
    """Epoch and offset; None when the znode is gone or holds something else."""
    held = held_in(change)
    try:
        return int(held["kraft_metadata_epoch"]), int(held["kraft_metadata_offset"])
    except (ValueError, KeyError, TypeError):
        return None


def _moved_back(history: History, before: _Position, after: _Position) -> Violation:
    expected = f"{MIGRATION} stays at {before} or goes on from there"
    observed = f"it went back from {before} to {after} {when(history, after.change.at_ns)}"
    return violation_at(
        history, expected, observed, after.change.at_ns, evidence_of(before.change), evidence_of(after.change)
    )
