"""Anomaly: one class of things that must not be, as found in one group, with the shortest proof of it."""

import enum
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.checkers.kernels.partition import Pairs
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Kind


class AnomalyClass(enum.Enum):
    """What is wrong; the names that reports show."""

    LOST_WRITE = "lost write"
    PHANTOM = "phantom"
    REFUSED_BUT_FOUND = "refused but found"
    DUPLICATE = "duplicate"
    REORDERING = "reordering"
    INCONSISTENT_OFFSET = "inconsistent offset"
    MOVED = "moved"
    NON_MONOTONIC_POLL = "non-monotonic poll"
    POLL_SKIP = "poll skip"
    NON_MONOTONIC_COMMIT = "non-monotonic commit"
    READ_BELOW_COMMITTED = "read below committed"
    ABORTED_READ = "aborted read (G1a)"
    INTERMEDIATE_READ = "intermediate read (G1b)"
    TORN_TRANSACTION = "torn transaction"
    REORDERED_TRANSACTIONS = "reordered transactions"
    CIRCULAR_READS = "circular reads (G1c)"
    WRITE_CYCLE = "write cycle (G0)"
    MIXED_CYCLE = "cycle of writes and reads (G1c)"

    @property
    def kind(self) -> Kind | None:
        """SAFETY; None for what Kafka allows and a report only mentions: open transactions interleave in the log."""
        return None if self in (AnomalyClass.WRITE_CYCLE, AnomalyClass.MIXED_CYCLE) else Kind.SAFETY


@dataclass(frozen=True)
class Anomaly:
    """What a class came to in one group: a topic-partition, or (both None) the transactions of a run."""

    name: AnomalyClass
    topic: str | None
    partition: int | None
    count: int
    counterexample: str
    at_ns: int
    evidence: str


Told = Callable[[Operations, int, int], str]
"""Says of (a group, the row contradicted, the anomalous row) what is wrong there."""


def first_of(name: AnomalyClass, group: Operations, pairs: Pairs, reported: Told, *, is_placed: bool = True) -> Anomaly:
    """The anomaly that pairs (row contradicted, anomalous row; at least one) come to; it shows the earliest."""
    contradicted, rows = pairs
    at = int(np.argmin(group.ended_ns[rows]))
    other, row = int(contradicted[at]), int(rows[at])
    topic, partition = (str(group.topic[row]), int(group.partition[row])) if is_placed else (None, None)
    evidence = "; ".join(_evidence(group, each) for each in dict.fromkeys((other, row)))
    return Anomaly(name, topic, partition, len(rows), reported(group, other, row), int(group.ended_ns[row]), evidence)


def _evidence(group: Operations, row: int) -> str:
    """How to find an operation again."""
    kind = OperationKind(int(group.kind[row])).name
    what = "" if group.producer[row] < 0 else f", producer {group.producer[row]}, sequence {group.sequence[row]}"
    return f"{kind} of client {group.client[row]}{what}, ended_ns {group.ended_ns[row]}"
