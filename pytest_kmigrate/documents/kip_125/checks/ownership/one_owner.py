"""Check that no partition is read by two members at the same time."""

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.spans import Span, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, lives
from pytest_kmigrate.documents.kip_125.evidence.mixes import is_naive, is_unsupported
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Verdict, Violation

_ROW, _CONTROL = "K125-OWN-exactly-one", "K125-CTRL-naive-mix"


@checker(_ROW, in_every_run=has_members, anomaly="two readers of a partition")
def one_owner_at_a_time(history: History) -> Verdict:
    """No member reads a partition after another has begun to own it and before it owns it anew.

    Judged when records are handed to the application, not by who claims to own: a member may read on after its claim
    is gone. Clocks of one machine are the same. What plain KafkaConsumers and members that follow ZooKeeper read at the
    same time is counted, and violates nothing: the document does not support such a group.
    """
    rows = ByRequirement("one_owner_at_a_time", _ROW)
    known = lives(history)
    reads = history.operations.of(OperationKind.CONSUME)
    handovers = unsupported = 0
    for partition, those in spans(history).items():
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        for span in those:
            handovers += any(each.client != span.client for each in those)
            for client, at_ns, found in _overlaps(history, known, span, mine):
                if is_unsupported(history, span.client, client, at_ns):
                    unsupported += 1
                else:
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
    rows = ByRequirement("naive_mix_is_detected", _CONTROL)
    count = int(str(one_owner_at_a_time.judge(history).facts.get("unsupported", 0)))
    rows.looked_at(_CONTROL, int(is_naive(history)))
    if is_naive(history) and not count:
        end_ns = max(event.at_ns for event in history.events)
        expected = "a group without members that migrate reads partitions twice"
        rows.violated(_CONTROL, timed_violation(history, expected, "no overlap was detected", end_ns))
    return rows.verdict(f"{counted(count, 'span')} overlapped with what another member read", "no such group")


def _overlaps(
    history: History, known: dict[int, Life], span: Span, reads: Operations
) -> list[tuple[int, int, Violation]]:
    """Clients that read between a member's first and last record of one span, since when, and what they read."""
    within = (reads.ended_ns >= span.began_ns) & (reads.ended_ns <= span.ended_ns)
    own = reads.ended_ns[within & (reads.client == span.client)]
    if not len(own):
        return []
    first, last = own.min(), own.max()
    between = (reads.ended_ns > first) & (reads.ended_ns < last) & (reads.client != span.client)
    found = []
    for client in np.unique(reads.client[between]).tolist():
        theirs = reads.where(between & (reads.client == client))
        expected = f"only {_name(known, span.client)}, which owns {place(*span.partition)}, reads it"
        observed = (
            f"{_name(known, client)} read {counted(len(theirs), 'record')} of it, from offset {theirs.offset[0]} on"
        )
        at_ns = int(theirs.ended_ns[0])
        found.append((client, at_ns, timed_violation(history, expected, observed, at_ns)))
    return found


def _name(known: dict[int, Life], client: int) -> str:
    return known[client].member if client in known else f"client {client}"
