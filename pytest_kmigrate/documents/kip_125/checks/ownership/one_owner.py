"""Check that no partition is read by two members at the same time."""

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, lives
from pytest_kmigrate.documents.kip_125.evidence.spans import Span, spans
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Verdict, Violation

_ROW = "K125-OWN-exactly-one"


@checker(_ROW, in_every_run=has_members, anomaly="two readers of a partition")
def one_owner_at_a_time(history: History) -> Verdict:
    """No member reads a partition after another has begun to own it and before it owns it anew.

    Judged when records are handed to the application, not by who claims to own: a member may read on after its claim
    is gone. Clocks of one machine are the same. Handovers between a plain KafkaConsumer and members that follow
    ZooKeeper are outside of what the document supports; a run that has both reports their overlap.
    """
    rows = ByRequirement("one_owner_at_a_time", _ROW)
    known = lives(history)
    reads = history.operations.of(OperationKind.CONSUME)
    handovers = 0
    for partition, those in spans(history).items():
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        for span in those:
            handovers += any(each.client != span.client for each in those)
            for found in _overlaps(history, known, span, mine):
                rows.violated(_ROW, found)
    rows.looked_at(_ROW, handovers)
    text = f"{counted(handovers, 'span')} of ownership in partitions of several members, none read by another meanwhile"
    return rows.verdict(text, "no partition had two owners, one after the other", spans=handovers).about_each(())


def _overlaps(history: History, known: dict[int, Life], span: Span, reads: Operations) -> list[Violation]:
    """Reads of others between a member's first and last record of one span."""
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
        found.append(timed_violation(history, expected, observed, int(theirs.ended_ns[0])))
    return found


def _name(known: dict[int, Life], client: int) -> str:
    return known[client].member if client in known else f"client {client}"
