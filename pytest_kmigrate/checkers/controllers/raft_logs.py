"""Checks of the metadata logs of all nodes: one leader for each epoch, one log, nothing committed is gone."""

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.controllers.lives import life_starts_ns, processes
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.evidence import RaftLogRead
from pytest_kmigrate.model.history import Batch, History, Sample
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

_EPOCH = "RaftCurrentEpoch"
_NEEDS = [Capability.METADATA_LOG, Capability.METRICS]


@dataclass(frozen=True)
class Log:
    """What one node had of the metadata log at the end of a run."""

    node: str
    batches: Sequence[Batch]
    at_ns: int
    evidence: str

    @property
    def end(self) -> int:
        """The offset behind its last record."""
        return self.batches[-1].last + 1


@dataclass(frozen=True)
class Committed:
    """A node reported that everything below an offset is committed, in this epoch or an earlier one."""

    node: str
    below: int
    epoch: int
    at_ns: int


def high_watermark(sample: Sample) -> float:
    """The first offset that is not committed; -1 while the process does not know, as a new leader for a moment."""
    known = sample.values.get("RaftHighWatermark")
    return -1 if known is None else known


@kept
def logs(history: History) -> list[Log]:
    """The log of each node that had one; none of a run in which all controllers were emptied."""
    if life_starts_ns(history):
        return []
    return [
        Log(str(event.node), [_batch(*row) for row in event.what.batches], event.at_ns, f"event {event.seq}")
        for event in history.of(RaftLogRead)
        if event.what.batches
    ]


def _batch(*row: Any) -> Batch:
    return Batch(*row)


@kept
def committed(history: History) -> list[Committed]:
    """Each high watermark that a process reported, with the epoch that it was in at the next sample at the latest."""
    return list(_committed(history))


def _committed(history: History) -> Iterator[Committed]:
    for role in (Role.CONTROLLER, Role.BROKER):
        for samples in processes(history, role):
            telling = [each for each in samples if _is_telling(each)]
            for sample, after in itertools.pairwise(telling):
                below, epoch = high_watermark(sample), after.values[_EPOCH] or 0
                yield Committed(sample.node, int(below), int(epoch), sample.at_ns)


def _is_telling(sample: Sample) -> bool:
    return high_watermark(sample) > 0 and sample.values.get(_EPOCH) is not None


def _names_leaders(history: History) -> bool:
    """Whether a log makes a leader known."""
    return any(batch.leader is not None for log in logs(history) for batch in log.batches)


def _is_comparable(history: History) -> bool:
    """Whether two nodes have a batch of one place of which they know that it is committed."""
    seen = set[int]()
    for _, batches in _committed_batches(history):
        firsts = {each.first for each in batches}
        if not seen.isdisjoint(firsts):
            return True
        seen |= firsts
    return False


def _has_reported(history: History) -> bool:
    """Whether there are logs, and nodes reported what is committed."""
    return bool(logs(history)) and bool(committed(history))


@checker(in_every_run=_names_leaders, anomaly="two leaders in one epoch of the log", needs=_NEEDS)
def one_leader_per_epoch_in_the_logs(history: History) -> Verdict:
    """Over the metadata logs of all nodes, no epoch has two leaders."""
    first: dict[int, tuple[Log, Batch]] = {}
    found = []
    for log in logs(history):
        for batch in log.batches:
            if batch.leader is None:
                continue
            other, its = first.setdefault(batch.epoch, (log, batch))
            if its.leader != batch.leader:
                leaders = f"{its.leader} in the log of {other.node}, {batch.leader} in that of {log.node}"
                found.append(_violation(history, log, f"epoch {batch.epoch} has one leader", leaders, other.evidence))
    if not first:
        return inconclusive(Kind.VACUOUS, "no log of the run names a leader")
    if found:
        return violates(Kind.SAFETY, found, f"{len(found)} x two leaders; {found[0].observed}")
    return conforms(f"{counted(len(first), 'epoch')} in the logs, each with one leader", epochs=len(first))


@checker(in_every_run=_is_comparable, anomaly="different metadata logs", needs=_NEEDS)
def one_metadata_log(history: History) -> Verdict:
    """What two nodes know to be committed is the same on both: offset, epoch and checksum of every batch.

    A node knows it of what lies below its own high watermark. What is above may be taken back, and is not compared.
    """
    first: dict[int, tuple[Log, Batch]] = {}
    found, compared = [], 0
    for log, batches in _committed_batches(history):
        for batch in batches:
            other, its = first.setdefault(batch.first, (log, batch))
            compared += other is not log
            if its != batch:
                observed = f"{_shown(other, its)}; {_shown(log, batch)}"
                found.append(_violation(history, log, "nodes have one log", observed, other.evidence))
                break
    if found:
        return violates(Kind.SAFETY, found, f"{counted(len(found), 'log')} unlike others; {found[0].observed}")
    if not compared:
        return inconclusive(Kind.VACUOUS, "no two nodes had committed the same part of the metadata log")
    return conforms(f"{counted(compared, 'batch', 'batches')} on more than one node, each the same on all")


@checker(in_every_run=_has_reported, anomaly="committed metadata lost", needs=_NEEDS)
def committed_metadata_is_kept(history: History) -> Verdict:
    """What lay below a high watermark is in the logs at the end, and no later leader wrote something else there.

    Whoever replaces what was committed does so in a later epoch. What lies below a high watermark was written in the
    epoch in which it was reported, or in an earlier one; so no log may hold a later one there.
    """
    ends, reported = logs(history), committed(history)
    if not ends or not reported:
        return inconclusive(Kind.VACUOUS, "no node reported a high watermark that could be compared with logs")
    highest, longest = max(reported, key=lambda each: each.below), max(ends, key=lambda each: each.end)
    found = []
    if longest.end < highest.below:
        observed = f"the longest log, that of {longest.node}, ends at {longest.end}"
        expected = f"what {highest.node} reported as committed below {highest.below} is there"
        found.append(_violation(history, longest, expected, observed))
    earliest = _earliest(reported)
    found += [each for log in ends for each in _replaced(history, log, earliest)]
    if found:
        return violates(Kind.SAFETY, found, f"committed metadata are gone; {found[0].observed}")
    return conforms(f"all metadata below {highest.below} are in the logs as they were committed")


def _earliest(reported: Sequence[Committed]) -> list[Committed]:
    """By high watermark, those in the earliest epoch for everything below them; both rise."""
    kept: list[Committed] = []
    for each in sorted(reported, key=lambda one: (-one.below, one.epoch)):
        if not kept or each.epoch < kept[-1].epoch:
            kept.append(each)
    return kept[::-1]


def _replaced(history: History, log: Log, earliest: Sequence[Committed]) -> Iterator[Violation]:
    """The first batch of a log that was written in a later epoch than what had been committed there."""
    below = [each.below for each in earliest]
    for batch in log.batches:
        place = bisect_right(below, batch.last)
        if place < len(earliest) and batch.epoch > earliest[place].epoch:
            said = earliest[place]
            expected = f"{said.node} reported everything below {said.below} as committed in epoch {said.epoch}"
            yield _violation(history, log, expected, _shown(log, batch))
            return


@kept
def _committed_batches(history: History) -> list[tuple[Log, list[Batch]]]:
    """Of each log, what lies below the highest high watermark that its node reported."""
    highest: dict[str, int] = {}
    for each in committed(history):
        highest[each.node] = max(highest.get(each.node, 0), each.below)
    return [(log, [each for each in log.batches if each.last < highest.get(log.node, 0)]) for log in logs(history)]


def _shown(log: Log, batch: Batch) -> str:
    return f"{log.node} has offsets {batch.first} to {batch.last} of epoch {batch.epoch}, checksum {batch.digest:08x}"


def _violation(history: History, log: Log, expected: str, observed: str, *more: str) -> Violation:
    return violation_at(history, expected, observed, log.at_ns, log.evidence, *more)
