"""Check of what ``/controller`` and ``/migration`` hold: their schema, who wrote, how far ZooKeeper has caught up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.controllers.znode_changes import (
    evidence_of,
    held_in,
    since_controllers,
    untampered,
)
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import phase_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.log_images import log_images
from pytest_kmigrate.documents.kip_866.checks.settled import is_inherited
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION, holds_position
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStopped
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.verdict import Verdict, Violation

_SCHEMA, _EXISTS = "K866-ZNODE-migration-schema", "K866-ZNODE-migration-exists"
_INITIAL, _VALUES = "K866-ZNODE-migration-initial", "K866-ZNODE-migration-values"
_CONDITIONAL = "K866-ZNODE-migration-conditional"
_CONTROLLER_SCHEMA, _PERSISTENT = "K866-ZNODE-controller-schema-v2", "K866-ZNODE-controller-persistent"
_SCHEMAS = {
    CONTROLLER: (2, ("brokerid", "kraftControllerEpoch")),
    MIGRATION: (
        0,
        ("kraft_controller_id", "kraft_controller_epoch", "kraft_metadata_offset", "kraft_metadata_epoch"),
    ),
}
"""The version that each znode's JSON has, and its whole numbers."""


@dataclass(frozen=True)
class _Claim:
    """A KRaft controller took ``/controller``."""

    change: ZnodeChange
    life: int
    controller: int
    epoch: int


@dataclass(frozen=True)
class _Position:
    """A KRaft controller wrote to ``/migration``; -1 everywhere is what the znode is created with."""

    change: ZnodeChange
    life: int
    controller: int
    controller_epoch: int
    offset: int
    epoch: int


@dataclass(frozen=True)
class _Mistake:
    """What a znode should have held, and what is wrong with what it did; ``row``: the requirement that says so."""

    row: str
    change: ZnodeChange
    expected: str
    observed: str


@checker(
    _SCHEMA,
    _EXISTS,
    _INITIAL,
    _VALUES,
    _CONDITIONAL,
    _CONTROLLER_SCHEMA,
    _PERSISTENT,
    in_every_run=holds_position,
    anomaly="wrong controller znode",
    needs=[Capability.ZNODES],
)
def controller_znodes_tell_who_and_how_far(history: History) -> Verdict:
    """``/controller`` and ``/migration`` have their schema, and name a controller in office and a place after the copy.

    The writer of ``/migration`` took ``/controller`` with that epoch; no other took it later. It has no place in the
    metadata log before the copy, none before the end of the copy afterwards, and is not deleted in between. Neither
    goes with a session. The time in ``/controller`` may be a text of digits, as in version 1 of its schema. What a
    znode held before the first KRaft controller started is not judged, nor is anything after a test tampered with it.
    """
    starts, controllers = life_starts_ns(history), roles(history)
    changes = {path: since_controllers(history, untampered(history, path)) for path in _SCHEMAS}
    by_kraft = [each for each in changes[CONTROLLER] if controllers.get(_holder(each)) == "controller"]
    written = [each for each in changes[MIGRATION] if each.data is not None]
    claims = [_Claim(each, life_at(starts, each.at_ns), *_numbers(each)) for each in by_kraft if not _wrong(each)]
    places = [_Position(each, life_at(starts, each.at_ns), *_numbers(each)) for each in written if not _wrong(each)]
    rows = ByRequirement(*controller_znodes_tell_who_and_how_far.requirements)
    rows.looked_at(_SCHEMA, len(written))
    rows.looked_at(_EXISTS, sum(each.is_ephemeral is not None for each in written))
    rows.looked_at(_INITIAL, sum(each.version == 0 for each in written))
    rows.looked_at(_VALUES, _moves(places))
    rows.looked_at(_CONDITIONAL, _superseded(history, claims))
    rows.looked_at(_CONTROLLER_SCHEMA, len(by_kraft))
    rows.looked_at(_PERSISTENT, sum(each.is_ephemeral is not None for each in by_kraft))
    for mistake in (
        *_malformed([*by_kraft, *written]),
        *_passing([*by_kraft, *written]),
        *(mistake for each in places for mistake in chain(_of_another(claims, each), _too_late(claims, each))),
        *_impossible(history, places),
        *_deleted(history, claims, changes[MIGRATION]),
    ):
        rows.violated(mistake.row, _violation(history, mistake))
    reported = (
        f"{counted(len(claims), 'controller')} took {CONTROLLER}, {counted(len(places), 'content')} of {MIGRATION}"
    )
    return rows.verdict(f"{reported}, each as it must be", "no KRaft controller was seen to write to ZooKeeper")


def _moves(places: Sequence[_Position]) -> int:
    """How often the offset was raised: one that never moves is no place of what was written last."""
    pairs = [(a, b) for a, b in pairwise(places) if a.life == b.life and a.offset >= 0]
    return sum(b.offset > a.offset for a, b in pairs)


def _superseded(history: History, claims: Sequence[_Claim]) -> int:
    """How many controllers lived on when another one had taken ``/controller``, and so might have written since.

    Who held it when the cluster came from a checkpoint had ended before.
    """
    return sum(
        not any(each.node == f"controller-{a.controller}" and each.at_ns <= b.change.at_ns for each in _ended(history))
        for a, b in pairwise(claims[1:] if is_inherited(history) else claims)
        if a.controller != b.controller and a.life == b.life
    )


def _ended(history: History) -> list[Event]:
    return history.of(NodeStopped, NodeDied)


def _holder(change: ZnodeChange) -> str:
    """The name that a KRaft controller of the id in ``/controller`` would have."""
    return f"controller-{held_in(change).get('brokerid')}"


def _numbers(change: ZnodeChange) -> tuple[int, ...]:
    held = held_in(change)
    return tuple(held[key] for key in _SCHEMAS[change.path][1])


def _wrong(change: ZnodeChange) -> str | None:
    """What is wrong with the schema of what a znode holds."""
    held, (version, keys) = held_in(change), _SCHEMAS[change.path]
    if not held or held.get("version") != version:
        return f"version {version} was expected"
    wrong = [key for key in keys if type(held.get(key)) is not int]
    if change.path == CONTROLLER and not str(held.get("timestamp")).isdecimal():
        wrong.append("timestamp")
    return f"{', '.join(wrong)}: a whole number was expected" if wrong else None


def _malformed(changes: Sequence[ZnodeChange]) -> Iterator[_Mistake]:
    for each in changes:
        if wrong := _wrong(each):
            row = _SCHEMA if each.path == MIGRATION else _CONTROLLER_SCHEMA
            yield _Mistake(row, each, f"{each.path} has its schema", f"{wrong}, and it held {each.data}")


def _passing(changes: Sequence[ZnodeChange]) -> Iterator[_Mistake]:
    for each in changes:
        if each.is_ephemeral:
            row, observed = (
                _EXISTS if each.path == MIGRATION else _PERSISTENT,
                "it was ephemeral: it goes with a session",
            )
            yield _Mistake(row, each, f"{each.path} outlives who wrote it", observed)


def _of_another(claims: Sequence[_Claim], place: _Position) -> Iterator[_Mistake]:
    """An epoch that was not seen to begin says nothing: a watch may miss a change."""
    holders = {each.controller for each in claims if (each.life, each.epoch) == (place.life, place.controller_epoch)}
    if holders - {place.controller}:
        named = f"names controller {place.controller} in epoch {place.controller_epoch}, which is {min(holders)}'s"
        yield _Mistake(_VALUES, place.change, f"{MIGRATION} names who holds {CONTROLLER}", named)


def _too_late(claims: Sequence[_Claim], place: _Position) -> Iterator[_Mistake]:
    """ZooKeeper's transaction ids show which of two writes was first, whenever they were seen."""
    for claim in claims:
        is_after = 0 <= claim.change.mzxid < place.change.mzxid
        if claim.life == place.life and is_after and claim.epoch > place.controller_epoch:
            who = f"{place.controller} wrote in epoch {place.controller_epoch}"
            observed = f"{who} after {claim.controller} had taken {CONTROLLER} in epoch {claim.epoch}"
            yield _Mistake(_CONDITIONAL, place.change, f"no former controller writes to {MIGRATION}", observed)


def _impossible(history: History, places: Sequence[_Position]) -> Iterator[_Mistake]:
    """A znode that was forgotten at a revert holds a place of the former log: that is no mistake of who goes on."""
    copied_at = {log.life: log.copied.offset for log in log_images(history) if log.copied}
    begun_anew = set[int]()
    for place in places:
        where = f"it holds offset {place.offset} of epoch {place.epoch}"
        if place.change.version == 0 and (place.offset, place.epoch) != (-1, -1):
            yield _Mistake(_INITIAL, place.change, f"{MIGRATION} is created without a place in the log", where)
        if (place.offset < 0) is not (place.epoch < 0):
            yield _Mistake(_VALUES, place.change, f"{MIGRATION} holds both offset and epoch, or neither", where)
        if place.offset < 0:
            begun_anew.add(place.life)
        if place.life in begun_anew and place.epoch > place.controller_epoch:
            yield _Mistake(
                _VALUES, place.change, f"{MIGRATION} holds no place of an epoch after its controller's", where
            )
        if place.life in begun_anew and 0 <= place.offset < copied_at.get(place.life, 0):
            observed = f"{where}, and the copy ended at offset {copied_at[place.life]}"
            yield _Mistake(_VALUES, place.change, f"{MIGRATION} holds no place before the end of the copy", observed)


def _deleted(history: History, claims: Sequence[_Claim], changes: Sequence[ZnodeChange]) -> Iterator[_Mistake]:
    """Whoever reverts the migration deletes it once the controllers are gone, and their log with them."""
    starts = life_starts_ns(history)
    for change in changes:
        in_office = [e for e in claims if e.change.at_ns < change.at_ns and e.life == life_at(starts, change.at_ns)]
        if change.data is None and in_office and phase_at(history, change.at_ns) != Phase.FINALIZED.name:
            observed = f"it was gone while controller {in_office[-1].controller} held {CONTROLLER}"
            yield _Mistake(_EXISTS, change, f"{MIGRATION} stays until the migration is finalized", observed)


def _violation(history: History, mistake: _Mistake) -> Violation:
    change = mistake.change
    return timed_violation(history, mistake.expected, mistake.observed, change.at_ns, evidence_of(change))
