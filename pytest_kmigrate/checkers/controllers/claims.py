"""Claims: who held the controller znodes in which epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns, roles
from pytest_kmigrate.checkers.controllers.znode_changes import (
    evidence_of,
    held_in,
    since_controllers,
    untampered,
    was_deleted,
)
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, ZnodeChange
from pytest_kmigrate.model.keeping import kept

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
_WATCHED_NS = 10_000_000_000  # by then the watch has reported what was written together with a claim
_BACK = (EventKind.NODE_STARTED, EventKind.NODE_RESUMED)
_AWAY = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)


@dataclass(frozen=True)
class Claim:
    """One sighting of an active controller; epochs compare only within one ``series``."""

    at_ns: int
    series: str
    controller: int
    epoch: int
    evidence: str


@dataclass(frozen=True)
class Epoch:
    """One sighting of an epoch that must never fall within its ``series``."""

    at_ns: int
    series: str
    epoch: int
    evidence: str


@dataclass(frozen=True)
class LoneClaim:
    """A controller took ``/controller`` alone, and ``/controller_epoch`` was seen to stay as it was."""

    at_ns: int
    controller: int
    epoch: int
    """What ``/controller_epoch`` held before, and still held afterwards."""
    stayed_ns: int
    evidence: str


def claims(history: History) -> list[Claim]:
    """Who was active in which epoch, in ZooKeeper's epochs and in those of each life of the metadata log."""
    starts = life_starts_ns(history)
    return sorted([*_paired(history, starts), *kraft_claims(history)], key=lambda each: each.at_ns)


def lone_claims(history: History) -> Iterator[LoneClaim]:
    """Controllers that took ``/controller`` without ``/controller_epoch``, which was watched for long enough.

    The watcher may miss one of the two writes, but then sees the next one. A missing or soon deleted epoch proves
    nothing, because a manual rollback deletes both znodes. Anything after a test tampered with either is ignored.
    """
    changes = untampered(history, CONTROLLER, CONTROLLER_EPOCH)
    epochs_seen = [each for each in changes if each.path == CONTROLLER_EPOCH]
    judged = {each.mzxid for each in epochs_seen} | {-1}
    for change in changes:
        controller, _ = _claim_in(change)
        if change.path != CONTROLLER or controller is None or change.mzxid in judged:
            continue
        judged.add(change.mzxid)
        before = next((each for each in reversed(epochs_seen) if each.at_ns <= change.at_ns), None)
        epoch = _number(before.data) if before is not None and 0 <= before.mzxid < change.mzxid else None
        after_ns = (each.at_ns for each in epochs_seen if each.at_ns > change.at_ns)
        stayed_ns = min(after_ns, default=_last_ns(history)) - change.at_ns
        is_watched = stayed_ns >= _WATCHED_NS and _had_zookeeper(history, change.at_ns, change.at_ns + _WATCHED_NS)
        if epoch is not None and is_watched:
            yield LoneClaim(change.at_ns, controller, epoch, stayed_ns, evidence_of(change))


def epochs(history: History) -> list[Epoch]:
    """Every epoch seen. ``/controller_epoch`` outlives a revert, unless somebody deleted it for that."""
    starts = life_starts_ns(history)
    seen = [Epoch(c.at_ns, c.series, c.epoch, c.evidence) for c in kraft_claims(history)]
    seen += [epoch for _, epoch in _znode_epochs(history, starts)]
    return sorted(seen, key=lambda each: each.at_ns)


def kraft_claims(history: History) -> Iterator[Claim]:
    """What /controller says of KRaft's own epoch, until a test tampered with it; -1 is a ZooKeeper-mode controller."""
    yield from _kraft_claims(history)


@kept
def _kraft_claims(history: History) -> list[Claim]:
    found, starts = [], life_starts_ns(history)
    for change in since_controllers(history, untampered(history, CONTROLLER)):
        controller, epoch = _claim_in(change)
        if controller is not None and epoch is not None and epoch >= 0:
            series = kraft_series(life_at(starts, change.at_ns))
            found.append(Claim(change.at_ns, series, controller, epoch, evidence_of(change)))
    return found


def kraft_series(life: int) -> str:
    """The epochs of the quorum while its metadata log is one and the same; lives are numbered from 0."""
    return f"epochs of the quorum, life {life + 1}"


def _paired(history: History, starts: list[int]) -> Iterator[Claim]:
    """Both znodes are written in one transaction at a take-over, so the same mzxid means: this one, in that epoch."""
    by_transaction = {change.mzxid: epoch for change, epoch in _znode_epochs(history, starts) if change.mzxid >= 0}
    for change in _series(history, CONTROLLER):
        controller, _ = _claim_in(change)
        epoch = by_transaction.get(change.mzxid)
        if controller is not None and epoch is not None:
            yield Claim(change.at_ns, epoch.series, controller, epoch.epoch, evidence_of(change))


def _znode_epochs(history: History, starts: list[int]) -> Iterator[tuple[ZnodeChange, Epoch]]:
    last_life, is_anew, generation = 0, False, 1
    former: ZnodeChange | None = None
    for change in _series(history, CONTROLLER_EPOCH):
        epoch, life = _number(change.data), life_at(starts, change.at_ns)
        is_anew |= was_deleted(change, former)
        former = change
        if epoch is None:
            continue
        generation += 1 if is_anew and life != last_life else 0
        last_life, is_anew = life, False
        again = f" (created {generation} times)" if generation > 1 else ""
        yield change, Epoch(change.at_ns, CONTROLLER_EPOCH + again, epoch, evidence_of(change))


def _had_zookeeper(history: History, from_ns: int, to_ns: int) -> bool:
    """Whether no ZooKeeper server was away or came back: a watch is blind until its connection stands again."""
    by_role, away = roles(history), set[str]()
    for event in history.of(*_BACK, *_AWAY):
        node = str(event.node)
        if by_role.get(node) != "zookeeper" or event.at_ns > to_ns:
            continue
        if event.at_ns >= from_ns:
            return False
        away = away - {node} if event.kind in _BACK else away | {node}
    return not away


def _last_ns(history: History) -> int:
    return max(history.end_ns, *(each.at_ns for each in history.znodes[-1:]), 0)


def _series(history: History, path: str) -> list[ZnodeChange]:
    return [change for change in history.znodes if change.path == path]


def _claim_in(change: ZnodeChange) -> tuple[int | None, int | None]:
    held = held_in(change)
    return _number(held.get("brokerid")), _number(held.get("kraftControllerEpoch"))


def _number(text: object) -> int | None:
    try:
        return int(str(text))
    except ValueError:
        return None
