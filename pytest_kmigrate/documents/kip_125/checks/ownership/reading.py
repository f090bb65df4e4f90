"""Check that what is owned is read: acknowledged records reach a member of the group within a bound."""

import math

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import chosen, timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.spans import Span, owned_at, spans
from pytest_kmigrate.checkers.evidence.wording import listed, span
from pytest_kmigrate.documents.kip_125.evidence.lives import horizon_ns, lives
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict

_COVERAGE, _ONE = "K125-OWN-full-coverage", "K125-OWN-exactly-one"


@checker(_COVERAGE, _ONE)
def partitions_are_read_within(history: History, at_most_s: float | None = None) -> Verdict:
    """From a partition's first owner on, a member reads each acknowledged record within ``at_most_s``.

    Who reports to own the partition does not count. Records below the first position of the group, and what is
    acknowledged when the members end, need no reader. Without a bound this only measures.
    """
    rows = ByRequirement(_COVERAGE, _ONE)
    operations = history.operations
    sent = chosen(operations, OperationKind.PRODUCE)
    reads = operations.of(OperationKind.CONSUME)
    reads = reads.where(np.isin(reads.client, list(lives(history))))
    longest_ns, limit_s = 0, math.inf if at_most_s is None else at_most_s
    for partition, those in spans(history).items():
        mine = sent.where((sent.topic == partition[0]) & (sent.partition == partition[1]))
        theirs = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        wait_ns, since_ns = _longest_wait(those[0], mine, theirs, horizon_ns(history))
        longest_ns = max(longest_ns, wait_ns)
        for row in (_COVERAGE, _ONE) if limit_s < math.inf else ():
            rows.looked_at(row, len(mine))
            if wait_ns > limit_s * 1e9:
                expected = f"{place(*partition)} is read within {limit_s:g} s"
                observed = f"a record of it had no reader for {span(wait_ns)}{_owners(history, those, since_ns)}"
                rows.violated(row, timed_violation(history, expected, observed, since_ns), Kind.LIVENESS)
    text = f"the longest time that a record waited for a member was {span(longest_ns)}"
    lacking = "no member owned a partition with records, or no bound was given"
    return rows.verdict(text, lacking, longest_s=longest_ns / 1e9).about_each(())


def _longest_wait(first: Span, sent: Operations, reads: Operations, end_ns: int) -> tuple[int, int]:
    """The longest time that a record waited, and since when; sent records from the first position on are looked at."""
    sent = sent.where((sent.offset >= first.position) & (sent.ended_ns < end_ns))
    if not len(sent) or first.began_ns >= end_ns:
        return 0, first.began_ns
    order = np.lexsort((reads.ended_ns, reads.offset))
    offsets, at = np.unique(reads.offset[order], return_index=True)
    times = reads.ended_ns[order][at]
    where = np.searchsorted(offsets, sent.offset)
    is_read = np.zeros(len(sent), bool)
    inside = where < len(offsets)
    is_read[inside] = offsets[where[inside]] == sent.offset[inside]
    until = np.full(len(sent), end_ns)
    until[is_read] = np.minimum(times[where[is_read]], end_ns)
    since = np.maximum(sent.ended_ns, first.began_ns)
    longest = int(np.argmax(until - since))
    return max(0, int(until[longest] - since[longest])), int(since[longest])


def _owners(history: History, those: list[Span], at_ns: int) -> str:
    """Who reported to own the partition when the wait began."""
    owned = owned_at({those[0].partition: those}, at_ns)
    names = [lives(history)[each].member for clients in owned.values() for each in clients]
    return f", though {listed(sorted(names), 'member')} owned it" if names else ""
