"""Check of consumption: how long acknowledged records waited until a consumer group had read them."""

import math
from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import chosen, violated, violation_at
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import faults_during, meanwhile, phase_at, when
from pytest_kmigrate.checkers.evidence.replicas import Spans, unreadable
from pytest_kmigrate.checkers.evidence.stretches import Stretch, stretches, topics_of
from pytest_kmigrate.checkers.evidence.wording import listed, span
from pytest_kmigrate.checkers.kernels.waits import Times
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


@dataclass(frozen=True)
class _Group:
    """A consumer group, what it has to read, and when it was there to do so."""

    name: str
    topics: set[str]
    present: tuple[tuple[int, int], ...]
    """(began, ended) of the stretches in which it was."""
    reads: int


@dataclass(frozen=True)
class _Wait:
    """The record of one partition that waited longest for one group."""

    group: str
    place: str
    record: str
    since_ns: int
    until_ns: int
    was_read: bool
    judged_ns: int
    """How long it waited while it could be read."""

    @property
    def length_ns(self) -> int:
        return self.until_ns - self.since_ns


@checker(needs=[Capability.TRAFFIC])
def longest_time_without_consumption(history: History, at_most_s: float | None = None) -> Verdict:
    """The longest time that an acknowledged record waited for a consumer group; above ``at_most_s`` it violates.

    Each partition is looked at by itself, and each group has to read all topics of the workloads it reads of. A record
    waits while it can be read: it is acknowledged and was finally read, no transaction that may lie before it is open,
    a workload runs, and brokers with a copy in sync do. Without a limit this only measures. Clients without a group are
    not looked at.
    """
    operations = history.operations
    acked = len(chosen(operations, OperationKind.PRODUCE))
    groups = _groups(history) if acked else []
    if not groups:
        text = "no consumer group read or committed anything" if acked else "no record was acknowledged"
        return inconclusive(Kind.VACUOUS, f"{text}, so none can have waited for a reader")
    waits, doubtful = _waits(history, groups)
    if not waits:
        return inconclusive(Kind.VACUOUS, "no acknowledged record was finally read, so none must have been")
    limit_s = math.inf if at_most_s is None else at_most_s
    text = f"longest time that a record waited for its readers: {_told(history, waits[0])}"
    facts = _facts(history, waits[0])
    long = [each for each in waits if each.judged_ns > limit_s * 1e9]
    if long:
        examples = [_violation(history, each, limit_s) for each in long]
        return violated(Kind.LIVENESS, f"{text}; allowed are {limit_s:g} s", examples, len(long), **facts)
    idle = [each.name for each in groups if not each.reads]
    if idle:
        return inconclusive(Kind.VACUOUS, f"{listed(idle, 'group')} read nothing; {text}", **facts)
    unread = {each.place for each in doubtful if each.judged_ns > limit_s * 1e9}
    if unread:
        places = listed(sorted(unread), "partition")
        return inconclusive(Kind.INFRA, f"{places}: records waited that were never read back; {text}", **facts)
    return conforms(text, **facts)


def _groups(history: History) -> list[_Group]:
    """The groups that read or committed, and those that events of workloads name."""
    operations = history.operations
    is_member = (operations.kind == OperationKind.CONSUME) | (operations.kind == OperationKind.COMMIT)
    theirs = operations.where(is_member)
    found = stretches(history)
    names = set(theirs.group.tolist()).union(*(each.groups for each in found)) - {""}
    # Who wrote no row any more may be dead, whatever was recorded later.
    last_ns = int(operations.ended_ns.max())
    return [_group(name, theirs.where(theirs.group == name), found, last_ns) for name in sorted(names)]


def _group(name: str, mine: Operations, found: list[Stretch], last_ns: int) -> _Group:
    touched = {str(topic) for topic in set(mine.topic.tolist())}
    reads = len(chosen(mine, OperationKind.CONSUME))
    if not found:
        return _Group(name, touched, ((0, last_ns),), reads)
    ours = [each for each in found if name in each.groups or _is_within(mine, each)]
    events = [event for each in ours for event in each.began if event.what.group in (None, name)]
    reported = [topics_of(event) for event in events]
    # In runs without groups, a workload is this one's if it reads any of its topics.
    topics = touched.union(*(each for each in reported if not touched or touched & each))
    present = tuple((each.began_ns, min(last_ns, each.ended_ns or last_ns)) for each in ours)
    return _Group(name, topics, present, reads)


def _is_within(mine: Operations, stretch: Stretch) -> bool:
    is_before_its_end = mine.ended_ns <= (kernels.NEVER if stretch.ended_ns is None else stretch.ended_ns)
    return bool(((mine.ended_ns >= stretch.began_ns) & is_before_its_end).any())


def _waits(history: History, groups: list[_Group]) -> tuple[list[_Wait], list[_Wait]]:
    """The longest wait of each group in each partition, longest first; and those for records never read back."""
    closings = kernels.closings(history.operations)
    waits, doubtful = [], []
    for place, group in partitions(history.operations):
        left_out = unreadable(history, place)
        for reader in groups:
            if str(group.topic[0]) in reader.topics:
                found = kernels.waits(group, reader.name, closings)
                waits.append(_longest(reader, place, group, found.where(found.is_there), left_out))
                doubtful.append(_longest(reader, place, group, found.where(~found.is_there), left_out))
    reported = sorted((each for each in waits if each), key=lambda each: -each.judged_ns)
    return reported, [each for each in doubtful if each]


def _longest(reader: _Group, place: str, group: Operations, found: kernels.Waits, left_out: Spans) -> _Wait | None:
    longest: _Wait | None = None
    for began_ns, ended_ns in reader.present:
        inside = found.where(found.since_ns <= ended_ns)
        if len(inside.rows) == 0:
            continue
        since = np.maximum(inside.since_ns, began_ns)
        until = np.maximum(np.minimum(inside.until_ns, ended_ns), since)
        judged = _judged(since, until, left_out)
        at = int(np.argmax(judged))
        row, was_read = int(inside.rows[at]), int(inside.until_ns[at]) <= ended_ns
        record = f"{kernels.identity(group, row)}, at {group.offset[row]},"
        one = _Wait(reader.name, place, record, int(since[at]), int(until[at]), was_read, int(judged[at]))
        if longest is None or one.judged_ns > longest.judged_ns:
            longest = one
    return longest


def _judged(since: Times, until: Times, left_out: Spans) -> Times:
    """The lengths of waits without the time in these spans."""
    lost = [np.clip(np.minimum(until, to) - np.maximum(since, began), 0, None) for began, to in left_out]
    return until - since - np.sum(lost, axis=0, dtype=np.int64, initial=0) if lost else until - since


def _told(history: History, wait: _Wait) -> str:
    during = meanwhile(history, wait.since_ns, wait.until_ns)
    end = "" if wait.was_read else ", and was still not read at the end"
    where = f"for group {wait.group} in {wait.place}"
    return f"{span(wait.length_ns)} {where}, from {when(history, wait.since_ns)}{during}{end}"


def _facts(history: History, wait: _Wait) -> dict[str, object]:
    return {
        "longest_s": wait.length_ns / 1e9,
        "began_ns": wait.since_ns,
        "ended_ns": wait.until_ns,
        "group": wait.group,
        "place": wait.place,
        "phase": phase_at(history, wait.since_ns),
        "faults": faults_during(history, wait.since_ns, wait.until_ns),
    }


def _violation(history: History, wait: _Wait, at_most_s: float) -> Violation:
    expected = f"group {wait.group} reads every record of {wait.place} within {at_most_s:g} s"
    observed, awaited = f"{wait.record} waited {_told(history, wait)}", (wait.since_ns, wait.until_ns)
    return violation_at(history, expected, observed, wait.since_ns, awaited=awaited)
