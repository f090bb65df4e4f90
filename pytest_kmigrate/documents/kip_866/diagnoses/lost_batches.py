"""Batches of changes that brokers in ZooKeeper mode were never sent, as a partition in them has no state there."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of, was_logged_between
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    Claimed,
    claims,
    kraft_sessions,
    lacks_its_znode,
    position_set,
    sets_place,
)
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_FAILED, NO_STATE, TO_DUAL_WRITE
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.keeping import kept

_TOPIC = re.compile(r"/brokers/topics/([^/]+)")
_STATE = re.compile(r"/brokers/topics/([^/]+)/partitions/(\d+)/state")
_FAILED = re.compile(
    rf"(?m)^(\S+ \S+),\d+ .*{CHANGE_FAILED}(?:\{{provenance=MetadataProvenance\(lastContainedOffset=(\d+),)?"
)
"""A change that was not written; since 3.7 with the offset of its last record."""
_SENT = re.compile(f"Made the following ZK writes when handling KRaft|KRAFT_CONTROLLER_TO_BROKER_COMM {TO_DUAL_WRITE}")
"""Before it brokers were sent a batch, or all there is."""
_UNFENCED = re.compile(r"(?m)^(\S+ \S+),\d+ .*The request from broker (\d+) to unfence has been granted")
_AT_ONCE_S = 10
"""So soon a controller comes to the batch that unfences a broker."""
_DUAL_WRITE = re.compile(f"(?m)^.* {TO_DUAL_WRITE}")
_COMES_NS = 300_000_000_000
"""So long after its claim a controller may come to dual write. Short of 15 minutes, as no log says its time zone."""


@dataclass(frozen=True)
class Loss:
    """A batch of changes that a controller could not write, of which it wrote a part, and sent nothing to brokers."""

    at_ns: int
    first: int
    """The first transaction that may be the batch's; the last is the one that ZooKeeper refused."""
    last: int
    until_ns: int
    """When another controller, or this one again, took over and came to dual write: it sends brokers all there is."""
    unfenced: frozenset[str] = frozenset()
    """Brokers that the controller had unfenced since the batch before: they were to be sent all there is."""
    after: int = -1
    """The offset up to which other batches go, by ``/migration`` or as they failed, too; -1: not known."""
    upto: int | None = None
    """The offset of its last record; None: not logged."""

    def has(self, offset: int) -> bool:
        """Whether a record of the metadata log is of this batch."""
        return self.upto is not None and 0 <= self.after < offset <= self.upto

    def holds(self, at_ns: int) -> bool:
        """Whether brokers were still without the batch then."""
        return self.at_ns <= at_ns < self.until_ns


@dataclass(frozen=True)
class _Failed:
    """A batch that a controller could not write, by its log."""

    offset: int | None
    """Of its last record; None: not logged."""
    unfenced: frozenset[str]

    def lies_between(self, before: int, after: int) -> bool:
        """Whether it lies between two positions, or may, where no offset is logged."""
        return self.offset is None or before < self.offset < after


@dataclass
class _Batch:
    """What a controller wrote since it had last put another position into ``/migration``."""

    position: int
    first: int
    refused: list[Transaction] = field(default_factory=list)


def leaderless(history: History, at_ns: int) -> frozenset[str]:
    """Partitions for which the copy made up a leader, without a state in this run, whose topic is there still."""
    return frozenset(key for key, deleted_ns in _made_up(history).items() if at_ns < deleted_ns)


@kept
def states_written(history: History) -> dict[str, list[tuple[Transaction, int]]]:
    """By partition, each state that was written, with the epoch of the leader in it."""
    found = dict[str, list[tuple[Transaction, int]]]()
    for each in history.transactions:
        for write in each.changes:
            match = _STATE.fullmatch(write.path)
            epoch = held_in(write).get("leader_epoch") if match else None
            if match and isinstance(epoch, int):
                found.setdefault(f"{match[1]}-{match[2]}", []).append((each, epoch))
    return found


def is_lost(history: History, written: Transaction) -> bool:
    """Whether a transaction is of a batch that brokers were not sent."""
    return any(loss.first <= written.zxid <= loss.last for loss in losses(history))


@kept
def losses(history: History) -> list[Loss]:
    """The batches that controllers could not write while there were partitions without a state."""
    kraft = [each for each in claims(history) if each.is_kraft]
    found = list[Loss]()
    for session in kraft_sessions(history):
        claim = next((each for each in kraft if each.transaction.session == session), None)
        if claim is None or not _made_up(history):
            continue
        failed = list(_failed(log_of(history, f"controller-{claim.controller}")))
        own = [each for each in history.transactions if each.session == session and each.zxid > claim.transaction.zxid]
        for batch, position in _batches(own):
            passed_over = [each for each in failed if each.lies_between(batch.position, position)]
            if passed_over and batch.refused and leaderless(history, batch.refused[-1].at_ns):
                last = batch.refused[-1]
                all_of_them = Loss(last.at_ns, batch.first, last.zxid, _ended_ns(history, kraft, last))
                found += list(_one_by_one(all_of_them, batch.position, passed_over)) or [all_of_them]
    return found


@kept
def _made_up(history: History) -> dict[str, int]:
    """Partitions that topics had when they were copied, as ``orders-0``, and when their topic was deleted.

    Such as ever have a state are none, nor such as no controller's log names: it had found no state of them.
    """
    copied = _copied(history)
    if copied is None:
        return {}
    has, deleted_ns = dict[str, frozenset[str]](), defaultdict[str, int](lambda: sys.maxsize)
    for each in history.transactions:
        for write in each.changes:
            if each.zxid < copied.zxid:
                has |= _partitions_after(write)
            elif write.operation == "delete" and (match := _TOPIC.fullmatch(write.path)):
                deleted_ns.setdefault(match[1], each.at_ns)
    listed = {f"{topic}-{number}": deleted_ns[topic] for topic, numbers in has.items() for number in numbers}
    logged = {key for _, log in logs_of(history, "controller") for key in NO_STATE.findall(log)}
    return {key: until_ns for key, until_ns in listed.items() if key in logged and key not in states_written(history)}


def _copied(history: History) -> Transaction | None:
    """The first position that is put into ``/migration``, if a ZooKeeper controller was in charge in this run before.

    A broker may make a topic when KRaft has claimed already: it is copied, and has no leader either.
    """
    was_zookeeper = any(not each.is_kraft for each in claims(history)[:1])
    return next(filter(sets_place, history.transactions), None) if was_zookeeper else None


def _partitions_after(write: Write) -> dict[str, frozenset[str]]:
    """What a write leaves of the partitions of a topic; nothing for one that is not about a topic's own znode."""
    match = _TOPIC.fullmatch(write.path)
    return {match[1]: frozenset(map(str, held_in(write).get("partitions", ())))} if match else {}


def _one_by_one(all_of_them: Loss, position: int, failed: Iterable[_Failed]) -> Iterator[Loss]:
    """Each batch that failed since a position: only that with a partition without a state is lost by it.

    Without a position none is known to begin where another ended: that one may be of an earlier time in charge.
    """
    unfenced = defaultdict[int, frozenset[str]](frozenset)
    for each in failed:
        if each.offset is not None:
            unfenced[each.offset] |= each.unfenced
    for after, upto in pairwise([position, *sorted(unfenced)]):
        yield replace(all_of_them, unfenced=unfenced[upto], after=after if position >= 0 else -1, upto=upto)


def _ended_ns(history: History, kraft: Sequence[Claimed], last: Transaction) -> int:
    """When the next controller took over that came to dual write after a batch: that of another may have failed."""
    later = [each for each in kraft if each.transaction.zxid > last.zxid]
    ends = [each.transaction.at_ns for each in later[1:]] + [sys.maxsize]
    came = (
        each.transaction.at_ns
        for each, end_ns in zip(later, ends, strict=False)
        if _came_to_dual_write(history, each, end_ns)
    )
    return next(came, sys.maxsize)


def _came_to_dual_write(history: History, claim: Claimed, until_ns: int) -> bool:
    """Whether a controller came to dual write by its log, or may have, where no log or no time was recorded."""
    node, begun_ns = f"controller-{claim.controller}", claim.transaction.at_ns
    log = log_of(history, node)
    end_ns = min(until_ns, begun_ns + _COMES_NS)
    came = any(was_logged_between(history, each, begun_ns, end_ns, node) for each in _DUAL_WRITE.findall(log))
    return came or not log or not history.header.started_at


def _batches(own: Iterable[Transaction]) -> Iterator[tuple[_Batch, int]]:
    """What a controller wrote between one position in ``/migration`` and the next, with that one."""
    batch = _Batch(-1, 0)
    for each in own:
        position = position_set(each)
        if lacks_its_znode(each):
            batch.refused.append(each)
        if position is not None and position != batch.position:
            yield batch, position
            batch = _Batch(position, each.zxid + 1)
    yield batch, sys.maxsize


def _failed(log: str) -> Iterator[_Failed]:
    """The batches that a controller could not write, by its log, each with the brokers it had unfenced just before."""
    begin = 0
    for each in _FAILED.finditer(log):
        since_sent = _SENT.split(log[begin : each.start()])[-1]
        soon = [number for at, number in _UNFENCED.findall(since_sent) if _seconds(at, each[1]) <= _AT_ONCE_S]
        yield _Failed(int(each[2]) if each[2] else None, frozenset(f"broker-{number}" for number in soon))
        begin = each.end()


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
