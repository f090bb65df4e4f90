"""Checks across partitions: what the transactions of a run did to one another, and what was seen of them."""

from collections.abc import Iterator

import numpy as np

from pytest_kmigrate.checkers.evidence.grouping import joined
from pytest_kmigrate.checkers.kernels import cycles, sentences, transactions
from pytest_kmigrate.checkers.kernels.anomaly import Anomaly, AnomalyClass, first_of
from pytest_kmigrate.checkers.kernels.identity import different, packed
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations


class Transactional:
    """The operations of a run that have to do with transactions, gathered partition by partition."""

    def __init__(self) -> None:
        self._groups: list[Operations] = []
        self._unread: list[bool] = []

    def __bool__(self) -> bool:
        return bool(self._groups)

    def take(self, group: Operations, *, is_unread: bool) -> None:
        """Keep what is needed of one partition: nothing at all, as a rule."""
        is_part = group.transaction >= 0
        if not is_part.any():
            return
        writers = different(group.producer[is_part & (group.kind == OperationKind.PRODUCE)])
        is_read = (group.kind == OperationKind.CONSUME) | (group.kind == OperationKind.FINAL_READ)
        self._groups.append(group.where(is_part | (is_read & np.isin(group.producer, writers))))
        self._unread.append(is_unread)

    def operations(self) -> Operations:
        """All of them."""
        return joined(*self._groups)

    def read_to_the_end(self) -> Operations:
        """Those of partitions that were finally read to their end."""
        whole = [group for group, is_unread in zip(self._groups, self._unread, strict=True) if not is_unread]
        return joined(self._groups[0].where(np.zeros(len(self._groups[0]), np.bool_)), *whole)

    def places(self) -> cycles.Numbers:
        """A number per row of ``operations``: which partition it is of."""
        return np.repeat(np.arange(len(self._groups), dtype=np.int64), [len(group) for group in self._groups])


def of_producers(held: Transactional, *, was_read_back: bool) -> Iterator[Anomaly]:
    """Transactions seen before they were finished, and those of which only a part is there."""
    every = held.operations()
    keys = packed(every.producer, every.sequence)
    times = (every.began_ns, every.ended_ns)
    early = transactions.intermediate_reads(every.kind, every.outcome, keys, every.transaction, *times)
    if len(early[1]):
        yield first_of(AnomalyClass.INTERMEDIATE_READ, every, early, sentences.intermediate_read, is_placed=False)
    read = held.read_to_the_end()
    keys = packed(read.producer, read.sequence)
    parts = transactions.torn(read.kind, read.outcome, keys, read.transaction, read.transaction_outcome)
    if was_read_back and len(parts[1]):
        yield first_of(AnomalyClass.TORN_TRANSACTION, read, parts, sentences.torn_transaction, is_placed=False)


def between_transactions(held: Transactional) -> Iterator[Anomaly]:
    """Cycles of committed transactions, by what they read of one another and by where they lie in the logs."""
    every = held.operations()
    is_done = (every.transaction >= 0) & (every.transaction_outcome == OperationOutcome.OK)
    is_done &= every.outcome == OperationOutcome.OK
    written = np.flatnonzero(is_done & (every.kind == OperationKind.PRODUCE))
    read = np.flatnonzero(is_done & (every.kind == OperationKind.CONSUME))
    placed = written[every.offset[written] >= 0]
    writes = cycles.write_edges(held.places(), every.offset, every.transaction, placed)
    keys = packed(every.producer, every.sequence)
    reads = cycles.read_edges(keys, every.transaction, written, read)
    both = writes.and_also(reads)
    is_read = np.arange(len(both)) >= len(writes)
    yield from _told(AnomalyClass.CIRCULAR_READS, every, cycles.cycles(reads))
    yield from _told(AnomalyClass.WRITE_CYCLE, every, cycles.cycles(writes))
    mixed = [each for each in cycles.cycles(both, through=is_read) if not _is_read(every, each).all()]
    yield from _told(AnomalyClass.MIXED_CYCLE, every, mixed)


def _told(name: AnomalyClass, every: Operations, found: list[cycles.Edges]) -> Iterator[Anomaly]:
    if not found:
        return
    first = min(found, key=lambda cycle: int(every.ended_ns[cycle.row_after].max()))
    steps = zip(first.row_before.tolist(), first.row_after.tolist(), _is_read(every, first).tolist(), strict=True)
    text = "; ".join((sentences.read_after if read else sentences.write_before)(every, b, a) for b, a, read in steps)
    rows = first.row_before[:1], first.row_after[:1]
    one = first_of(name, every, rows, lambda *_: text, is_placed=False)
    at_ns = int(every.ended_ns[first.row_after].max())
    yield Anomaly(name, None, None, len(found), text, at_ns, one.evidence)


def _is_read(every: Operations, cycle: cycles.Edges) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    is_read: np.ndarray[tuple[int], np.dtype[np.bool_]] = every.kind[cycle.row_after] == OperationKind.CONSUME
    return is_read
