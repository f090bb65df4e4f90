"""Claims: who held the controller znodes in which epoch. Metrics cannot tell: no two of them are read at one moment."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.znode_changes import evidence_of, held_in, was_deleted
from pytest_kmigrate.model.history import History, ZnodeChange

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"


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


def claims(history: History) -> list[Claim]:
    """Who was active in which epoch, in ZooKeeper's epochs and in those of each life of the metadata log."""
    starts = life_starts_ns(history)
    return sorted([*_paired(history, starts), *_kraft_claims(history, starts)], key=lambda each: each.at_ns)


def epochs(history: History) -> list[Epoch]:
    """Every epoch seen. ``/controller_epoch`` outlives a revert, unless somebody deleted it for that."""
    starts = life_starts_ns(history)
    seen = [Epoch(c.at_ns, c.series, c.epoch, c.evidence) for c in _kraft_claims(history, starts)]
    seen += [epoch for _, epoch in _znode_epochs(history, starts)]
    return sorted(seen, key=lambda each: each.at_ns)


def _kraft_claims(history: History, starts: list[int]) -> Iterator[Claim]:
    """What /controller says of KRaft's own epoch; -1 is a ZooKeeper-mode controller."""
    for change in _series(history, CONTROLLER):
        controller, epoch = _claim_in(change)
        if controller is not None and epoch is not None and epoch >= 0:
            life = life_at(starts, change.at_ns) + 1
            series = f"kraftControllerEpoch in {CONTROLLER}, life {life}"
            yield Claim(change.at_ns, series, controller, epoch, evidence_of(change))


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
