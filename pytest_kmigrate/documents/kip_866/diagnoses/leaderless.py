"""kmigrate-36: partitions without a leader at the take-over get no state in ZooKeeper; changes with theirs are lost."""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.znode_changes import held_in
from pytest_kmigrate.checkers.evidence.expectations import lists_in
from pytest_kmigrate.checkers.evidence.logs import log_of, logs_of, was_logged_between
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.checkers.metadata.wrong import Wrong, wrong_in
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.clients.answers import OF_ZOOKEEPER_MODE
from pytest_kmigrate.documents.kip_866.checks.clients.same_metadata import clients_are_told_the_same
from pytest_kmigrate.documents.kip_866.checks.procedure.availability import partitions_stay_available
from pytest_kmigrate.documents.kip_866.checks.procedure.rolling import AS_SOON_AS, brokers_are_rolled_one_by_one
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    Claimed,
    claims,
    kraft_sessions,
    position_set,
    sets_place,
)
from pytest_kmigrate.documents.kip_866.diagnoses.log_records import (
    is_equal_at,
    lacks_only_the_last,
    last_log,
    log_at,
    log_beside,
    offsets_of,
)
from pytest_kmigrate.documents.kip_866.diagnoses.stale_migration_znode import hears_nothing
from pytest_kmigrate.documents.kip_866.diagnoses.windows import is_of_a_sync, since_the_takeover
from pytest_kmigrate.documents.kip_866.driver_log import CHANGE_FAILED, NO_STATE, TO_DUAL_WRITE
from pytest_kmigrate.documents.kip_866.expectations import LED_BY_THE_DEAD
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_NO_NODE = -101
_SOON_NS = 20_000_000_000
"""A broker that dies is fenced by then, with which its partitions get other leaders."""
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
_SAME = re.compile(r"both brokers report the same topic (\S+)")
_REPORTS = re.compile(r"(?:^|; )broker-\d+ in (ZooKeeper|KRaft) mode reports ")
_REPORTED = re.compile(r"(?:^|[; ])(\d+) replicas=\S* isr=\S* leader=\S+ leader_epoch=(\d+)")
_DUAL_WRITE = re.compile(f"(?m)^.* {TO_DUAL_WRITE}")
_COMES_NS = 300_000_000_000
"""So long after its claim a controller may come to dual write. Short of 15 minutes, as no log says its time zone."""
_WRITABLE = re.compile(r"some write to (\S+) is acknowledged ")
_WRITABLE_AGAIN = re.compile(r"writes to (\S+) are acknowledged again " + AS_SOON_AS.format(r"\S+"))
_MADE_UP_EPOCH = 0
"""Of the leader that a partition without a state has by the copy."""


@dataclass(frozen=True)
class _Loss:
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


@diagnosis("kmigrate-36", windows=since_the_takeover)
def partitions_without_a_leader_at_the_takeover_have_no_state(history: History, verdict: Verdict) -> bool:
    """A topic was in ZooKeeper when KRaft took over, and states of its partitions were not, nor were they ever made.

    It explains that ZooKeeper lacks just these states. A controller was refused later for a znode that is not there,
    and passed the position of that batch over: that explains the leaders that brokers in ZooKeeper mode do not know,
    if the batch has changed them and no later one was sent, and that such partitions take no writes. By the records of
    the metadata log it explains also what ZooKeeper lacks of the batch, whatever it is, if ZooKeeper has what the log
    had before it.
    """
    if verdict.is_of(clients_are_told_the_same):
        return _is_late(verdict) and all(_is_unknown(history, each) for each in verdict.violations)
    if verdict.is_of(partitions_stay_available, brokers_are_rolled_one_by_one):
        return _is_late(verdict) and all(_is_unwritable(history, each) for each in verdict.violations)
    wrong = wrong_in(history, verdict)
    if wrong is None:
        return all_unmet(history, verdict, lambda event: _is_led_by_the_dead(history, event))
    return _lacks_states_alone(history, wrong, verdict) or _lacks_lost_batches(history, wrong, verdict)


def _is_late(verdict: Verdict) -> bool:
    return verdict.kind is Kind.LIVENESS and verdict.count == len(verdict.violations) > 0


def _lacks_states_alone(history: History, wrong: Wrong, verdict: Verdict) -> bool:
    """Whether the image of ZooKeeper has these partitions without a state, and nothing else is wrong."""
    behind = [label for label in verdict.listed("images") if history.images[label].source == "zookeeper"]
    taken = snapshot(history, behind[0]) if len(behind) == 1 else None
    if taken is None or any(wrong.lost.values()):
        return False
    held = history.images[behind[0]].partitions
    stateless = {key for key in _leaderless(history, taken.at_ns) if key in held and held[key].get("isr") is None}
    is_all = all(family == "partitions" and key in stateless for family, key in wrong.places)
    return bool(wrong.places) and is_all


def _lacks_lost_batches(history: History, wrong: Wrong, verdict: Verdict) -> bool:
    """Whether ZooKeeper lacks of each place its last changes only, and the log has their records in lost batches.

    Such a batch has a change of a partition without a state, for which it was refused. Other sides are as the log is.
    """
    labels, behind = verdict.listed("images"), wrong.behind(history, "zookeeper")
    taken, places = snapshot(history, behind or ""), wrong.places | {each.place for each in wrong.all_lost}
    log = log_beside(history, behind, labels) if behind else None
    if behind is None or taken is None or log is None:
        return False
    stale, others = history.images[behind], [history.images[each] for each in labels if each != behind]
    lost = [each for each in _losses(history) if each.holds(taken.at_ns) and _has_a_stateless(history, log, each)]
    return bool(places) and all(
        lacks_only_the_last(log, stale, place, lambda offset: any(each.has(offset) for each in lost))
        and all(is_equal_at(log, each, place) for each in others)
        for place in places
    )


def _has_a_stateless(history: History, log: MetadataImage, loss: _Loss) -> bool:
    """Whether a lost batch has a change of a partition that the copy made up a leader for."""
    keys = _leaderless(history, loss.at_ns)
    return any(loss.has(offset) for key in keys for offset in offsets_of(log, ("partitions", key)))


def _is_unknown(history: History, violation: Violation) -> bool:
    """Whether a broker in ZooKeeper mode lacks the epochs of leaders that are named, as a batch with them was lost."""
    topic, at_ns = _SAME.match(violation.expected), violation.at_ns
    if topic is None or at_ns is None or OF_ZOOKEEPER_MODE not in violation.observed:
        return False
    lost = [each for each in _losses(history) if each.holds(at_ns)]
    if any(hears_nothing(violation.observed, _still_ignorant(history, each, at_ns)) for each in lost if each.unfenced):
        return True
    both = _epochs(violation.observed)
    return both is not None and all(
        any(_was_kept_from_brokers(history, f"{topic[1]}-{number}", each, at_ns) for each in lost)
        and _is_later(epoch, both[0][number], _sent(history, f"{topic[1]}-{number}", at_ns))
        for number, epoch in both[1].items()
    )


def _epochs(observed: str) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """By partition, the epochs of a broker in ZooKeeper mode, and the later ones of another; None: it is not so."""
    _, *parts = _REPORTS.split(observed)
    sides = [(mode, dict(_REPORTED.findall(said))) for mode, said in zip(parts[::2], parts[1::2], strict=True)]
    if len(sides) != 2 or not sides[0][1] or sides[0][1].keys() != sides[1][1].keys():
        return None
    both = [(mode, {number: int(epoch) for number, epoch in said.items()}) for mode, said in sides]
    for (mode, earlier), (_, later) in (both, both[::-1]):
        if mode == "ZooKeeper" and all(earlier[number] < later[number] for number in later):
            return earlier, later
    return None


def _is_later(epoch: int, reported: int, sent: int | None) -> bool:
    """Whether brokers were sent an earlier epoch of a leader last; where none is known they may have been sent it."""
    return sent is not None and reported <= sent < epoch


def _still_ignorant(history: History, loss: _Loss, at_ns: int) -> Sequence[str]:
    """Those that were unfenced in vain, and not started since: no name at all, if none is left."""
    since = {str(each.node) for each in history.of(NodeStarted) if loss.at_ns < each.at_ns <= at_ns}
    return sorted(loss.unfenced - since) or ["none"]


def _is_unwritable(history: History, violation: Violation) -> bool:
    """Whether a partition is without writes from about the loss of a batch on that had changed it."""
    at_ns = violation.at_ns
    if at_ns is None:
        return False
    if stopped := _WRITABLE_AGAIN.match(violation.expected):
        lost = [each for each in _losses(history) if each.holds(at_ns)]
        return any(
            _was_kept_from_brokers(history, stopped[1], each, at_ns)
            and _leads_unaware(history, stopped[1], each, at_ns)
            for each in lost
        )
    partition = _WRITABLE.match(violation.expected)
    near = [each for each in _losses(history) if at_ns <= each.at_ns <= at_ns + _SOON_NS or each.holds(at_ns)]
    return partition is not None and any(_was_kept_from_brokers(history, partition[1], each, at_ns) for each in near)


def _leads_unaware(history: History, partition: str, loss: _Loss, at_ns: int) -> bool:
    """Whether a lost batch made a broker in ZooKeeper mode the leader: one in KRaft mode reads the log itself."""
    return any(
        each.name == f"broker-{leader}" and each.mode == "zookeeper"
        for leader in _elected_in(history, partition, loss)
        for each in brokers_at(history, at_ns)
    )


def _elected_in(history: History, partition: str, loss: _Loss) -> list[object]:
    """The leader that a partition has by the records of a lost batch, in a later epoch than before it; or none."""
    log, place = last_log(history), ("partitions", partition)
    offsets = [each for each in offsets_of(log, place) if loss.has(each)]
    if log is None or not offsets or not _has_a_stateless(history, log, loss):
        return []
    before, after = (log_at(log, each).partitions.get(partition, {}) for each in (loss.after, offsets[-1]))
    former, epoch = before.get("leader_epoch"), after.get("leader_epoch")
    is_later = isinstance(former, int) and isinstance(epoch, int) and epoch > former
    return [after["leader"]] if is_later else []


def _is_led_by_the_dead(history: History, event: Recorded[ExpectationEnded]) -> bool:
    """Whether brokers report former leaders of just such partitions as a lost batch had changed."""
    places, both = LED_BY_THE_DEAD.places_in(event.what), lists_in(event)
    if places is None or both is None or both[0]:
        return False
    lost = [each for each in _losses(history) if each.holds(event.at_ns)]
    return bool(both[1]) and all(
        any(_was_kept_from_brokers(history, f"{places['topic']}-{number}", each, event.at_ns) for each in lost)
        for number in both[1]
    )


def _was_kept_from_brokers(history: History, partition: str, loss: _Loss, at_ns: int) -> bool:
    """Whether a lost batch had changed a partition, and brokers were sent no later state of it until then."""
    own = _states(history).get(partition, ())
    since = [each for each, _ in own if each.zxid > loss.last and each.at_ns <= at_ns]
    return _was_changed_in(history, partition, loss) and all(_is_lost(history, each) for each in since)


def _is_lost(history: History, written: Transaction) -> bool:
    """Whether a transaction is of a batch that brokers were not sent."""
    return any(loss.first <= written.zxid <= loss.last for loss in _losses(history))


def _was_changed_in(history: History, partition: str, loss: _Loss) -> bool:
    """Whether a partition got another leader in a batch that brokers were not sent.

    The controller had written the state before it was refused, or the next one to take over finds it to be written; or
    the log has it among the records of the batch.
    """
    own = _states(history).get(partition, ())
    before = [epoch for each, epoch in own if each.zxid < loss.first]
    in_it = [epoch for each, epoch in own if loss.first <= each.zxid <= loss.last]
    after = next((pair for pair in own if pair[0].zxid > loss.last), None)
    is_synced = after is not None and after[0].at_ns >= loss.until_ns and is_of_a_sync(history, after[0])
    later = in_it or ([after[1]] if after is not None and is_synced else [])
    return bool(before and later and later[0] > before[-1]) or bool(_elected_in(history, partition, loss))


def _sent(history: History, partition: str, at_ns: int) -> int | None:
    """The latest epoch of a partition's leader that brokers were sent: those of lost batches they were not.

    Of a partition without a state that is the one that the copy made up: each later change of it is lost.
    """
    if partition in _leaderless(history, at_ns):
        return _MADE_UP_EPOCH
    own = _states(history).get(partition, ())
    sent = [epoch for each, epoch in own if each.at_ns <= at_ns and not _is_lost(history, each)]
    return sent[-1] if sent else None


def _leaderless(history: History, at_ns: int) -> frozenset[str]:
    """Partitions for which the copy made up a leader, without a state in this run, whose topic is there still."""
    return frozenset(key for key, deleted_ns in _made_up(history).items() if at_ns < deleted_ns)


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
    return {key: until_ns for key, until_ns in listed.items() if key in logged and key not in _states(history)}


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


@kept
def _states(history: History) -> dict[str, list[tuple[Transaction, int]]]:
    """By partition, each state that was written, with the epoch of the leader in it."""
    found = dict[str, list[tuple[Transaction, int]]]()
    for each in history.transactions:
        for write in each.changes:
            match = _STATE.fullmatch(write.path)
            epoch = held_in(write).get("leader_epoch") if match else None
            if match and isinstance(epoch, int):
                found.setdefault(f"{match[1]}-{match[2]}", []).append((each, epoch))
    return found


@kept
def _losses(history: History) -> list[_Loss]:
    """The batches that controllers could not write while there were partitions without a state."""
    kraft = [each for each in claims(history) if each.is_kraft]
    found = list[_Loss]()
    for session in kraft_sessions(history):
        claim = next((each for each in kraft if each.transaction.session == session), None)
        if claim is None or not _made_up(history):
            continue
        failed = list(_failed(log_of(history, f"controller-{claim.controller}")))
        own = [each for each in history.transactions if each.session == session and each.zxid > claim.transaction.zxid]
        for batch, position in _batches(own):
            passed_over = [each for each in failed if each.lies_between(batch.position, position)]
            if passed_over and batch.refused and _leaderless(history, batch.refused[-1].at_ns):
                last = batch.refused[-1]
                all_of_them = _Loss(last.at_ns, batch.first, last.zxid, _ended_ns(history, kraft, last))
                found += list(_one_by_one(all_of_them, batch.position, passed_over)) or [all_of_them]
    return found


def _one_by_one(all_of_them: _Loss, position: int, failed: Iterable[_Failed]) -> Iterator[_Loss]:
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
    log, begun_ns = log_of(history, f"controller-{claim.controller}"), claim.transaction.at_ns
    end_ns = min(until_ns, begun_ns + _COMES_NS)
    came = any(was_logged_between(history, each, begun_ns, end_ns) for each in _DUAL_WRITE.findall(log))
    return came or not log or not history.header.started_at


def _batches(own: Iterable[Transaction]) -> Iterator[tuple[_Batch, int]]:
    """What a controller wrote between one position in ``/migration`` and the next, with that one."""
    batch = _Batch(-1, 0)
    for each in own:
        position = position_set(each)
        if each.is_multi and each.error == _NO_NODE:
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
