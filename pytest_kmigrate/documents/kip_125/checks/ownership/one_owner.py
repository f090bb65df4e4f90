"""Check that no partition is read by two members at the same time, and none is owned by two."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.ownership import Partition
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.evidence.wording import span as length
from pytest_kmigrate.checkers.kernels import different
from pytest_kmigrate.documents.kip_125.evidence.held import was_closed
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.mixes import is_naive, is_unsupported
from pytest_kmigrate.documents.kip_125.evidence.outages import stood_still
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Verdict, Violation

_ROW, _CONTROL = "K125-OWN-exactly-one", "K125-CTRL-naive-mix"
_SLACK_NS = 1_000_000_000
"""A line of a member that prints no time of its own is as late as it was read."""


@checker(_ROW, in_every_run=has_members, anomaly="two readers of a partition")
def one_owner_at_a_time(history: History) -> Verdict:
    """No member reads a partition after another has begun to own it and before it owns it anew.

    Judged when records are handed to the application, not by who claims to own: a member may read on after its claim
    is gone. No member reads what it does not claim, and no two claim a partition for longer than a moment, whether or
    not both read it; a member that stood still, or whose session ZooKeeper had closed, gives its claim up late. Clocks
    of one machine are the same. What plain KafkaConsumers and members that may follow ZooKeeper read at the same time
    is counted, and violates nothing: the document does not support such a group.
    """
    rows = ByRequirement(_ROW)
    known = lives(history)
    reads = history.operations.of(OperationKind.CONSUME)
    reads = reads.where(np.isin(reads.client, list(known)))
    handovers = unsupported = 0
    for partition, those in spans(history).items():
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        handovers += len(those) if len({each.client for each in those}) > 1 else 0
        for one, other, at_ns, found in (
            *_overlaps(history, known, those, mine),
            *_claimed_twice(history, known, those),
        ):
            if is_unsupported(history, one, other, at_ns):
                unsupported += 1
            else:
                rows.violated(_ROW, found)
        for found in _not_claimed(history, known, partition, those, mine):
            rows.violated(_ROW, found)
    rows.looked_at(_ROW, handovers)
    text = f"{counted(handovers, 'span')} of ownership in partitions of several members, none read by another meanwhile"
    verdict = rows.verdict(
        text, "no partition had two owners, one after the other", spans=handovers, unsupported=unsupported
    )
    return verdict.about_each(())


@checker(_CONTROL, in_every_run=is_naive)
def naive_mix_is_detected(history: History) -> Verdict:
    """Plain KafkaConsumers and older members, without any that migrate, read partitions twice, and it is seen.

    A control of ``one_owner_at_a_time``: a run of such a group in which it counts nothing violates this.
    """
    rows = ByRequirement(_CONTROL)
    count = int(str(one_owner_at_a_time.judge(history).facts.get("unsupported", 0)))
    rows.looked_at(_CONTROL, int(is_naive(history)))
    if is_naive(history) and not count:
        end_ns = max(event.at_ns for event in history.events)
        expected = "a group without members that migrate reads partitions twice"
        rows.violated(_CONTROL, timed_violation(history, expected, "no overlap was detected", end_ns))
    return rows.verdict(f"{counted(count, 'span')} overlapped with what another member read", "no such group")


_Overlap = tuple[int, int, int, Violation]
"""Two clients, since when they overlap, and what is wrong with it."""


def _overlaps(history: History, known: dict[int, Life], those: list[Span], reads: Operations) -> Iterator[_Overlap]:
    """Clients that read between a member's first and last record of one span."""
    for span in those:
        within = (reads.ended_ns >= span.began_ns) & (reads.ended_ns <= span.ended_ns)
        own = reads.ended_ns[within & (reads.client == span.client)]
        if not len(own):
            continue
        between = (reads.ended_ns > own.min()) & (reads.ended_ns < own.max()) & (reads.client != span.client)
        for client in different(reads.client[between]).tolist():
            theirs = reads.where(between & (reads.client == client))
            expected = f"only {known[span.client].member}, which owns {place(*span.partition)}, reads it"
            yield span.client, client, int(theirs.ended_ns[0]), _read(history, known, client, theirs, expected)


def _claimed_twice(history: History, known: dict[int, Life], those: list[Span]) -> Iterator[_Overlap]:
    """Claims of two members that hold at the same time, until the orderly end of all."""
    end_ns = horizon_ns(history)
    for one, other in combinations(those, 2):  # in the order of their beginning
        until_ns = min(one.ended_ns, other.ended_ns, end_ns)
        both_ns = until_ns - other.began_ns
        is_late = any(
            stood_still(history, known[each.client].member, each.began_ns, until_ns)
            or was_closed(history, each.client, each.began_ns, until_ns)
            for each in (one, other)
        )
        if one.client != other.client and both_ns > _SLACK_NS and not is_late:
            expected = f"{place(*one.partition)} has one owner"
            names = f"{known[one.client].member} and {known[other.client].member}"
            found = timed_violation(history, expected, f"{names} owned it for {length(both_ns)}", other.began_ns)
            yield one.client, other.client, other.began_ns, found


def _not_claimed(
    history: History, known: dict[int, Life], partition: Partition, those: list[Span], reads: Operations
) -> Iterator[Violation]:
    """What members read of a partition that they did not own then."""
    for client in different(reads.client).tolist():
        mine = reads.where(reads.client == client)
        is_claimed = np.zeros(len(mine), bool)
        for span in (each for each in those if each.client == client):
            is_claimed |= (mine.ended_ns >= span.began_ns - _SLACK_NS) & (mine.ended_ns <= span.ended_ns + _SLACK_NS)
        if not is_claimed.all():
            expected = f"{known[client].member} reads {place(*partition)} only while it reports to own it"
            yield _read(history, known, client, mine.where(~is_claimed), expected)


def _read(history: History, known: dict[int, Life], client: int, theirs: Operations, expected: str) -> Violation:
    observed = f"{known[client].member} read {counted(len(theirs), 'record')} of it, from offset {theirs.offset[0]} on"
    return timed_violation(history, expected, observed, int(theirs.ended_ns[0]))
