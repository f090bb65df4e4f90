"""Replicas: when too few brokers with a copy of a partition ran for any write to it to be acknowledged."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.moments import took_ns
from pytest_kmigrate.checkers.evidence.taken import cut_off, without_a_disk
from pytest_kmigrate.model.event import EventKind, is_a
from pytest_kmigrate.model.events.nodes import NodePaused, NodeStarted
from pytest_kmigrate.model.events.workloads import ClientsBegan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.topology import Role

Spans = Sequence[tuple[int, int]]
"""From when to when, in nanoseconds; in order, without overlaps."""

_OF_ROLES = ("broker", "combined")
_ENDS = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)
_PARTITION = re.compile(r"(\d+) replicas=([\d,]*) isr=([\d,]*)(?: leader=(-?\d+))?")
"""As a broker's answer to clients is recorded."""
_ONE = 1


_Away = Mapping[int, Sequence[tuple[int, int]]]
"""By id of a broker, when it did not run."""


@dataclass(frozen=True)
class _Copies:
    """The brokers that have a copy of one partition, those in sync, and the leader, as a broker answered."""

    at_ns: int
    replicas: frozenset[int]
    in_sync: frozenset[int]
    leader: int | None


def unserved(history: History, place: str) -> Spans:
    """When no write to a partition could be acknowledged, whatever Kafka did.

    Fewer brokers ran with a copy of it than a write needs, or none of those in sync. A broker does not run from the
    beginning of its stop to when it is ready again, nor while it is paused. Nor does it count while a fault has cut it
    off from the others, or taken one of its disks, on which its copy may be. Of a partition whose replicas no broker
    has reported nothing is known, and none of its time is left out.
    """
    return _unserved(history, place, _least_in_sync(history))


def unreadable(history: History, place: str) -> Spans:
    """When no record of a partition could be read: as ``unserved``, where one replica in sync is enough."""
    return _unserved(history, place, _ONE)


@kept
def _unserved(history: History, place: str, least: int) -> Spans:
    answers = _answered(history).get(place, ())
    if not answers:
        return ()
    away = _away(history)
    times = {at for spans in away.values() for span in spans for at in span} | {each.at_ns for each in answers}
    marks = [at for at in sorted(times) if answers[0].at_ns <= at < history.end_ns]
    found: list[tuple[int, int]] = []
    for began_ns, ended_ns in zip(marks, [*marks[1:], history.end_ns], strict=True):
        if _is_unserved(answers, away, began_ns, least):
            joins = bool(found) and found[-1][1] == began_ns
            found[-1:] = [(found[-1][0], ended_ns)] if joins else [*found[-1:], (began_ns, ended_ns)]
    return tuple(found)


def can_be_served(history: History, place: str, at_ns: int) -> bool:
    """Whether a write to a partition could be acknowledged at an instant; False if nothing is known of its replicas."""
    answers = _answered(history).get(place, [])
    is_known = bool(answers) and answers[0].at_ns <= at_ns
    return is_known and not any(since <= at_ns < to for since, to in unserved(history, place))


def leader_since(history: History, place: str, at_ns: int) -> tuple[int, int] | None:
    """The id of the broker that leads a partition at an instant, and since when the answers agree on that.

    None before any answer, and where answers name no leader.
    """
    until = [each for each in _answered(history).get(place, ()) if each.at_ns <= at_ns]
    if not until or until[-1].leader is None:
        return None
    since = next((number for number in range(len(until), 0, -1) if until[number - 1].leader != until[-1].leader), 0)
    return until[-1].leader, until[since].at_ns


def never_in_sync(history: History, broker: int, before_ns: int, from_ns: int, to_ns: int) -> list[str]:
    """The partitions of which a broker was in sync at ``before_ns``, and in no answer from ``from_ns`` to ``to_ns``.

    It has a copy of them by all of these answers. Nothing without an answer in the last tenth of that time.
    """
    last = [each.at_ns for each in history.client_metadata if each.at_ns <= to_ns]
    if max(last, default=0) < to_ns - (to_ns - from_ns) // 10:
        return []
    found = []
    for place, answers in _answered(history).items():
        until = [each for each in answers if each.at_ns <= before_ns]
        since = [each for each in answers if from_ns < each.at_ns <= to_ns]
        seen = [_last(answers, from_ns), *since]
        is_out = all(broker in each.replicas and broker not in each.in_sync for each in seen)
        if until and broker in until[-1].in_sync and is_out:
            found.append(place)
    return sorted(found)


def is_in_sync_again(history: History, broker: int, from_ns: int) -> bool:
    """Whether a broker was out of sync in a partition that it has a copy of, and in sync by an answer after that."""
    for answers in _answered(history).values():
        seen = [_last(answers, from_ns), *(each for each in answers if each.at_ns > from_ns)]
        out = [number for number, each in enumerate(seen) if broker in each.replicas - each.in_sync]
        if out and any(broker in each.in_sync for each in seen[out[0] :]):
            return True
    return False


def unserved_together(history: History, places: Iterable[str]) -> Spans:
    """When no write to any of these partitions could be acknowledged."""
    common: Spans | None = None
    for place in places:
        mine = unserved(history, place)
        common = mine if common is None else _both(common, mine)
    return common or ()


def served_ns(began_ns: int, ended_ns: int, left_out: Spans) -> int:
    """The length of a span without the time in these."""
    return ended_ns - began_ns - sum(max(0, min(ended_ns, to) - max(began_ns, since)) for since, to in left_out)


def _is_unserved(answers: Sequence[_Copies], away: _Away, at_ns: int, least: int) -> bool:
    copies = _last(answers, at_ns)
    gone = {each: since for each in copies.replicas for since, to in away.get(each, ()) if since <= at_ns < to}
    alive = copies.replicas - gone.keys()
    return len(alive) < least or not alive & (
        copies.in_sync | _stayed(answers, away, min(gone.values(), default=at_ns))
    )


def _stayed(answers: Sequence[_Copies], away: _Away, since_ns: int) -> set[int]:
    """The replicas that were in sync when the first one left, and ran ever since: none of them may be given up."""
    return {each for each in _last(answers, since_ns).in_sync if all(to <= since_ns for _, to in away.get(each, ()))}


def _last(answers: Sequence[_Copies], at_ns: int) -> _Copies:
    """The last answer until then; the first one, if it came later."""
    return answers[max(0, bisect_right(answers, at_ns, key=lambda each: each.at_ns) - 1)]


def _both(some: Spans, others: Spans) -> Spans:
    pairs = ((max(a, c), min(b, d)) for a, b in some for c, d in others)
    return tuple((since, to) for since, to in pairs if since < to)


@kept
def _answered(history: History) -> dict[str, list[_Copies]]:
    """By partition, what brokers answered of it, in the order of time; only where it is another answer."""
    found: dict[str, list[_Copies]] = defaultdict(list)
    texts: dict[str, str] = {}
    for answer in sorted(history.client_metadata, key=lambda each: each.at_ns):
        for topic, text in answer.topics.items():
            if texts.get(topic) != text:
                texts[topic] = text
                for number, replicas, in_sync, leader in _PARTITION.findall(text):
                    copies = _Copies(answer.at_ns, _ids(replicas), _ids(in_sync), int(leader) if leader else None)
                    found[f"{topic}-{number}"].append(copies)
    return dict(found)


def _ids(text: str) -> frozenset[int]:
    return frozenset(int(each) for each in text.split(",") if each)


@kept
def _away(history: History) -> _Away:
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    since: dict[str, int] = {}
    roles: dict[str, Role] = {}
    for event in history.events:
        node = str(event.node)
        if is_a(event, NodeStarted):
            roles[node] = event.what.role
        elif event.kind in _ENDS or is_a(event, NodePaused):
            since.setdefault(node, event.at_ns - took_ns(event))
        elif event.kind in (EventKind.NODE_READY, EventKind.NODE_RESUMED) and node in since:
            found[_id_of(node)].append((since.pop(node), event.at_ns))
    for times in (without_a_disk(history), cut_off(history)):
        for node, spans in times.items():
            found[_id_of(node)] += [(began_ns, min(ended_ns, history.end_ns)) for began_ns, ended_ns in spans]
    brokers = {_id_of(node) for node, role in roles.items() if role in _OF_ROLES}
    for node, began_ns in since.items():
        found[_id_of(node)].append((began_ns, history.end_ns))
    return {each: spans for each, spans in found.items() if each in brokers}


def _id_of(node: str) -> int:
    number = node.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _least_in_sync(history: History) -> int:
    """How many replicas a write has to reach, as workloads recorded it."""
    return max((each.what.least_in_sync or _ONE for each in history.of(ClientsBegan)), default=_ONE)
