"""Anomalies: every check there is, run over the operations of a run or of a part of it.

A part is complete for an aspect when it holds all rows that the aspect's checks compare with one another. That is how a
run too large for one process is cut: by records for one aspect, by offsets for another.
"""

import enum
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.kernels import partition as of_partition
from pytest_kmigrate.checkers.kernels import sentences
from pytest_kmigrate.checkers.kernels.anomaly import Anomaly, AnomalyClass, Told, first_of
from pytest_kmigrate.checkers.kernels.partition import Pairs
from pytest_kmigrate.checkers.kernels.surroundings import Surroundings, surroundings
from pytest_kmigrate.checkers.kernels.transactional import Transactional, between_transactions, of_producers
from pytest_kmigrate.model.operations import Operations


class Aspect(enum.Enum):
    """What the rows that a check compares have in common; the values name parts of a run that was cut."""

    RECORD = "record"
    OFFSET = "offset"
    PRODUCER = "producer"
    READER = "reader"
    TRANSACTIONS = "transactions"


ALL_ASPECTS = frozenset(Aspect)


@dataclass(frozen=True)
class _Found:
    name: AnomalyClass
    pairs: Pairs
    reported: Told


def anomalies_of(operations: Operations, *, is_settled: bool = True) -> list[Anomaly]:
    """Every anomaly of one run; ``is_settled`` says that all its workloads had ended."""
    around = surroundings(operations, is_settled=is_settled)
    return list(anomalies_in((group for _, group in partitions(operations)), around))


def anomalies_in(
    groups: Iterable[Operations], around: Surroundings, aspects: Collection[Aspect] = ALL_ASPECTS
) -> Iterator[Anomaly]:
    """The anomalies of topic-partitions (one group each, in any order), looked at under some aspects."""
    held = Transactional()
    for group in groups:
        for group_, found in _in_partition(group, around, aspects):
            if len(found.pairs[1]):
                yield first_of(found.name, group_, found.pairs, found.reported)
        if Aspect.PRODUCER in aspects or Aspect.TRANSACTIONS in aspects:
            is_unread = around.is_unread(str(group.topic[0]), int(group.partition[0]))
            held.take(group, is_unread=is_unread)
    if held and Aspect.PRODUCER in aspects:
        yield from of_producers(held, was_read_back=around.was_read_back)
    if held and Aspect.TRANSACTIONS in aspects:
        yield from between_transactions(held)


def _in_partition(
    group: Operations, around: Surroundings, aspects: Collection[Aspect]
) -> Iterator[tuple[Operations, _Found]]:
    """What every check finds in one partition, and the rows that its positions point into."""
    if Aspect.RECORD in aspects:
        yield from _by_record(group, around)
    if Aspect.OFFSET in aspects:
        pairs = of_partition.offsets_given_twice(group)
        yield group, _Found(AnomalyClass.INCONSISTENT_OFFSET, pairs, sentences.inconsistent_offset)
        if around.is_settled:
            # A client that was cut off may have read what it had no time to report.
            over = of_partition.polls_over(group)
            before = dict(zip(over.skipped.tolist(), over.before.tolist(), strict=True))
            yield group, _Found(AnomalyClass.POLL_SKIP, (over.skipped, over.rows), partial(_passed_over, before))
    if Aspect.PRODUCER in aspects:
        yield group, _Found(AnomalyClass.REORDERING, of_partition.reorderings(group), sentences.reordering)
    if Aspect.READER in aspects:
        yield from ((group, found) for found in _by_reader(group))
    if Aspect.TRANSACTIONS in aspects and (group.transaction >= 0).any():
        pairs = of_partition.transactions_overtaken(group)
        yield group, _Found(AnomalyClass.REORDERED_TRANSACTIONS, pairs, sentences.reordered_transactions)


def _by_record(group: Operations, around: Surroundings) -> Iterator[tuple[Operations, _Found]]:
    topic, partition = str(group.topic[0]), int(group.partition[0])
    if around.was_read_back and not around.is_unread(topic, partition):
        yield group, _Found(AnomalyClass.LOST_WRITE, of_partition.lost_writes(group, around), sentences.lost_write)
    whole = of_partition.with_unplaced(group, around.unplaced_in(topic))
    unknown, refused = of_partition.phantom_reads(whole)
    if around.is_settled:
        yield whole, _Found(AnomalyClass.PHANTOM, unknown, sentences.phantom)
    yield whole, _Found(AnomalyClass.REFUSED_BUT_FOUND, refused, sentences.refused_but_found)
    yield group, _Found(AnomalyClass.DUPLICATE, of_partition.duplicates(group, around), sentences.duplicate)
    yield group, _Found(AnomalyClass.MOVED, of_partition.moves(group), sentences.moved)
    if (group.transaction >= 0).any():
        yield group, _Found(AnomalyClass.ABORTED_READ, of_partition.aborted_reads(group), sentences.aborted_read)


def _by_reader(group: Operations) -> Iterator[_Found]:
    yield _Found(AnomalyClass.NON_MONOTONIC_COMMIT, of_partition.commits_back(group), sentences.commit_back)
    polls = of_partition.polls_back(group)
    in_group = group.group[polls.rows] != ""
    alone, grouped = polls.rows[~in_group], polls.rows[in_group]
    yield _Found(AnomalyClass.NON_MONOTONIC_POLL, (polls.before[~in_group], alone), sentences.poll_back)
    floors = dict(zip(grouped.tolist(), polls.floors[in_group].tolist(), strict=True))
    reported = partial(_below_committed, floors)
    yield _Found(AnomalyClass.READ_BELOW_COMMITTED, (grouped, grouped), reported)


def _passed_over(before: dict[int, int], group: Operations, sent: int, row: int) -> str:
    return sentences.poll_over(before[sent], group, sent, row)


def _below_committed(floors: dict[int, int], group: Operations, _: int, row: int) -> str:
    return sentences.below_committed(floors, group, row)
