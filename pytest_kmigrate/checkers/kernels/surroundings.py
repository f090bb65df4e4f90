"""Surroundings: what must be known of a run beyond one partition's operations before these can be judged."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.refusals import GIVEN_UP

ABSENT = frozenset({"UNKNOWN_TOPIC", "UNKNOWN_PARTITION", "UNKNOWN_TOPIC_OR_PART", "UNKNOWN_TOPIC_OR_PARTITION"})
"""Answers that mean "there is no such partition": its records are gone, the final read did not merely fail."""

WHOLE_TOPIC = -1
"""Stands for every partition of a topic."""

_NEVER_NS = 2**63 - 1


@dataclass(frozen=True)
class Surroundings:
    """What holds for all partitions of a run."""

    unplaced: Operations
    """Sends that ended before a partition was chosen: each may lie in any partition of its topic."""
    unread: frozenset[tuple[str, int]]
    """Partitions that were not finally read to their end (WHOLE_TOPIC: none of that topic)."""
    was_read_back: bool
    """Whether there was a final read at all, even if brokers only reported that the topic does not exist: without one,
    nothing can be missing from it."""
    read_back_ns: int
    """When the final read began: what came into the log later it need not have found."""
    given_up: Mapping[int, npt.NDArray[np.int64]]
    """By producer, when it gave up on sends, in order: it goes on with a new epoch then, in every partition."""
    is_settled: bool
    """Whether every workload had ended; while one runs, its sends in flight have no row yet."""

    def is_unread(self, topic: str, partition: int) -> bool:
        """Whether this partition was not finally read to its end."""
        return (topic, partition) in self.unread or (topic, WHOLE_TOPIC) in self.unread

    def unplaced_in(self, topic: str) -> Operations:
        """The sends without a partition that may lie in this topic."""
        return self.unplaced.where(self.unplaced.topic == topic)


def surroundings(operations: Operations, *, is_settled: bool = True) -> Surroundings:
    """Those of a run; only final reads, sends without a partition and such as were given up matter here."""
    absent, failed = _unsuccessful(operations)
    is_read = (operations.kind == OperationKind.FINAL_READ) & (operations.outcome == OperationOutcome.OK)
    is_read[absent] = True
    return Surroundings(
        operations.where((operations.kind == OperationKind.PRODUCE) & (operations.partition < 0)),
        _named(operations, failed),
        bool(is_read.any()),
        int(operations.began_ns[is_read].min(initial=_NEVER_NS)),
        _given_up(operations),
        is_settled,
    )


def _given_up(operations: Operations) -> Mapping[int, npt.NDArray[np.int64]]:
    rows = np.flatnonzero((operations.kind == OperationKind.PRODUCE) & (operations.error == GIVEN_UP))
    producer, ended_ns = operations.producer[rows], np.asarray(operations.ended_ns[rows], np.int64)
    return {int(each): np.sort(ended_ns[producer == each]) for each in np.unique(producer)}


def unread_partitions(operations: Operations) -> frozenset[tuple[str, int]]:
    """Partitions whose final read did not come to the end, as (topic, partition or WHOLE_TOPIC)."""
    return _named(operations, _unsuccessful(operations)[1])


def absent_partitions(operations: Operations) -> frozenset[tuple[str, int]]:
    """Partitions that brokers reported as missing to the final read, as (topic, partition or WHOLE_TOPIC)."""
    return _named(operations, _unsuccessful(operations)[0])


def _unsuccessful(operations: Operations) -> tuple[Positions, Positions]:
    """Final reads to which brokers reported that there is nothing to read, and those that did not come to the end."""
    is_final = operations.kind == OperationKind.FINAL_READ
    rows = np.flatnonzero(is_final & (operations.outcome != OperationOutcome.OK))
    is_absent = np.array([str(error).upper().lstrip("_") in ABSENT for error in operations.error[rows]], np.bool_)
    return rows[is_absent], rows[~is_absent]


def _named(operations: Operations, rows: Positions) -> frozenset[tuple[str, int]]:
    named = zip(operations.topic[rows].tolist(), operations.partition[rows].tolist(), strict=True)
    return frozenset((topic, max(partition, WHOLE_TOPIC)) for topic, partition in named)
