"""Check that a handover repeats no record, and a crash only those that its victim had not committed."""

from itertools import pairwise

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import has_members
from pytest_kmigrate.documents.kip_125.evidence.mixes import is_unsupported
from pytest_kmigrate.documents.kip_125.kinds import COMMIT_EVERY_S
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K125-OFF-handover-forward"
_SLACK_S = 1.0
"""A commit that was due may still have been under way."""


@checker(_ROW, in_every_run=has_members)
def redelivery_bounded_by_commit(history: History) -> Verdict:
    """A partition that was released in order is read on without repeating a record.

    After a crash, or a release whose commit failed, what the former owner read within the last commit interval may be
    repeated, and a second more for a commit that was under way. While Kafka's group rebalances, it refuses commits:
    what was read during a rebalance of the former owner is left out.
    """
    rows = ByRequirement("redelivery_bounded_by_commit", _ROW)
    reads = history.operations.of(OperationKind.CONSUME)
    repeated = 0
    for partition, those in spans(history).items():
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        for before, after in pairwise(those):
            if is_unsupported(history, before.client, after.client, after.began_ns):
                continue  # both read everything
            again, oldest_s = _repeated(before, after, mine)
            repeated += again
            is_old = oldest_s > COMMIT_EVERY_S + _SLACK_S
            if is_old and _was_refused(history, before, oldest_s):
                continue
            rows.looked_at(_ROW)
            if is_old:
                expected = f"{place(*partition)} is read on where its former owner had committed"
                observed = f"{counted(again, 'record')} read again, the oldest {oldest_s:.1f} s before the handover"
                rows.violated(_ROW, timed_violation(history, expected, observed, after.began_ns))
    text = f"{counted(repeated, 'record')} read again at handovers, each younger than a commit"
    return rows.verdict(text, "no partition changed its owner", repeated=repeated).about_each(())


def _repeated(before: Span, after: Span, reads: Operations) -> tuple[int, float]:
    """How many records the next owner reads again, and how long before the former one's last the oldest was read."""
    old = _of(reads, before)
    again = np.isin(old.offset, _of(reads, after).offset)
    if not again.any():
        return 0, 0.0
    ages_ns = int(old.ended_ns.max()) - int(old.ended_ns[again].min())
    return int(again.sum()), ages_ns / 1e9


def _was_refused(history: History, before: Span, oldest_s: float) -> bool:
    """Whether the group of the former owner rebalanced since it read the oldest of these records, or does so still."""
    since_ns = before.ended_ns - int((oldest_s + COMMIT_EVERY_S + _SLACK_S) * 1e9)
    mine = [event for event in history.of(EventKind.MEMBER_ASSIGNED) if client_of(event) == before.client]
    until = [event for event in mine if happened_ns(event) <= before.ended_ns]
    # Members that wait for one which does not come may wait for its whole session.
    is_waiting = bool(until) and max(until, key=happened_ns).data["what"] == "revoked"
    return is_waiting or any(since_ns <= happened_ns(event) for event in until)


def _of(reads: Operations, span: Span) -> Operations:
    within = (reads.ended_ns >= span.began_ns) & (reads.ended_ns <= span.ended_ns)
    return reads.where(within & (reads.client == span.client))
