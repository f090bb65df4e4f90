"""Check that a handover repeats no record, and a crash only those that its victim had not committed."""

from itertools import pairwise

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.committing import (
    before_first_ns,
    committed_by,
    is_released,
    rebalanced_ns,
    refusals,
    unanswered_ns,
)
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, lives
from pytest_kmigrate.documents.kip_125.evidence.mixes import is_unsupported
from pytest_kmigrate.documents.kip_125.kinds import COMMIT_EVERY_S, OLD
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K125-OFF-handover-forward"
_SLACK_S = 1.0
"""A commit that was due may still have been under way."""


@checker(_ROW, in_every_run=has_members)
def redelivery_bounded_by_commit(history: History) -> Verdict:
    """A partition that was released in order is read on without repeating a record.

    After a crash, or a release whose commit was refused or not answered, what the former owner read within the last
    commit interval may be repeated, and a second more for a commit that was under way; besides what it read while its
    commits were refused, while a server did not answer, while Kafka's group rebalanced, or before the coordinator of a
    new group answered a first commit of another member. What the store that the next owner reads had taken is never
    repeated. A consumer of an older build reads the stored offset before it claims, so that a handover from or to it
    may repeat a commit interval in any case.
    """
    rows = ByRequirement(_ROW)
    reads = history.operations.of(OperationKind.CONSUME)
    known = lives(history)
    repeated = 0
    for partition, those in spans(history).items():
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        for before, after in pairwise(those):
            if is_unsupported(history, before.client, after.client, after.began_ns):
                continue  # both read everything
            rows.looked_at(_ROW)
            again, oldest_s = _repeated(before, after, mine)
            repeated += len(again)
            wrong = _wrong(history, known, before, after, again, oldest_s) if len(again) else ""
            if wrong:
                expected = f"{place(*partition)} is read on where its former owner had committed"
                observed = f"{counted(len(again), 'record')} read again, {wrong}"
                rows.violated(_ROW, timed_violation(history, expected, observed, after.began_ns))
    text = f"{counted(repeated, 'record')} read again at handovers, each as it may be"
    return rows.verdict(text, "no partition changed its owner", repeated=repeated).about_each(())


def _wrong(
    history: History, known: dict[int, Life], before: Span, after: Span, again: Operations, oldest_s: float
) -> str:
    """Why a former owner's records must not be read again, or an empty text."""
    since_ns = int(again.ended_ns.min())
    is_old = OLD in (known[before.client].kind, known[after.client].kind)
    committed = committed_by(history, before, known[after.client])
    if not is_old and int(again.offset.min()) < committed:
        return f"though {committed} was committed"
    refused, outage_ns = refusals(history, before, since_ns), unanswered_ns(history, since_ns, after.began_ns)
    if is_released(history, before) and not (is_old or refused or outage_ns):
        return "though it was released in order"
    waited_ns = outage_ns + rebalanced_ns(history, before, since_ns) + before_first_ns(history, before, since_ns)
    intervals = 1 + refused + is_old
    if oldest_s > intervals * COMMIT_EVERY_S + _SLACK_S + waited_ns / 1e9:
        return f"the oldest {oldest_s:.1f} s before the handover"
    return ""


def _repeated(before: Span, after: Span, reads: Operations) -> tuple[Operations, float]:
    """The former owner's records that the next one reads again, and how long before its last the oldest was read."""
    old = _of(reads, before)
    again = old.where(np.isin(old.offset, _of(reads, after).offset))
    if not len(again):
        return again, 0.0
    return again, (int(old.ended_ns.max()) - int(again.ended_ns.min())) / 1e9


def _of(reads: Operations, span: Span) -> Operations:
    within = (reads.ended_ns >= span.began_ns) & (reads.ended_ns <= span.ended_ns)
    return reads.where(within & (reads.client == span.client))
