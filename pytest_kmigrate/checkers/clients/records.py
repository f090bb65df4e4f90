"""Checks of the records themselves: none lost, none invented, none twice, none out of order."""

from functools import partial

import numpy as np

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import (
    Found,
    by_runs,
    chosen,
    found_by,
    offsets,
    told_each,
    total,
    violated,
    violation_at,
    where,
)
from pytest_kmigrate.checkers.evidence.grouping import partitions, place
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.stretches import running_workloads
from pytest_kmigrate.checkers.evidence.wording import counted, number
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


@checker(needs=[Capability.TRAFFIC])
def no_acked_record_lost(history: History) -> Verdict:
    """Every acknowledged record, and every one that a consumer read, is among the final reads of its partition.

    It takes every send for one with acks=all, as all of ours are: the history has no acks of a send, and what was
    acknowledged by the leader alone may be lost without anything being wrong. It takes topics for plain ones, as all of
    ours are: what is deleted by retention, or compacted, is no loss.
    An indefinite send may be there or not, but if a consumer read its record, that was committed. A partition that
    could not be read to its end loses nothing by that: the final reader says so with a FINAL_READ row that is not OK;
    one that does not exist any more loses all.
    """
    operations = history.operations
    acked, around = chosen(operations, OperationKind.PRODUCE), kernels.surroundings(operations)
    lacking = _nothing_to_look_into(acked, was_read_back=around.was_read_back)
    if lacking:
        return lacking
    expected = acked.where(kernels.must_be_there(acked))
    unread = _places(operations, kernels.unread_partitions(operations))
    missing = found_by(operations, partial(kernels.lost_writes, around=around))
    missing = [each for each in missing if each.place not in unread]
    facts = {
        "acknowledged": len(acked),
        "must_be_there": len(expected),
        "finally_read": len(chosen(operations, OperationKind.FINAL_READ)),
        "unread_partitions": sorted(unread),
    }
    if missing:
        return _losses(history, missing, len(expected), facts)
    unjudged = sorted(unread & {where_ for where_, _ in partitions(expected)}) if unread else []
    if unjudged:
        text = f"{', '.join(unjudged)} could not be read to the end; nothing is lost elsewhere"
        return inconclusive(Kind.INFRA, text, **facts)
    if not len(expected):
        which = "outside of transactions that were aborted, or ended without an answer" if len(acked) else "at all"
        return inconclusive(Kind.VACUOUS, f"no record was acknowledged {which}, so none could be lost", **facts)
    return conforms(f"none of {counted(len(expected), 'acknowledged record')} was lost", **facts)


@checker(needs=[Capability.TRAFFIC])
def no_phantom_record(history: History) -> Verdict:
    """Every record read was sent by a producer of ours, and its send was not definitely refused.

    A failed send proves absence only with an error of ``model.refusals``; one that failed before it had a
    partition may lie in any partition of its topic. While a workload runs, its sends in flight have no row yet, so
    unknown records are then no violation.
    """
    operations = history.operations
    read = len(chosen(operations, OperationKind.CONSUME)) + len(chosen(operations, OperationKind.FINAL_READ))
    if not read:
        return inconclusive(Kind.VACUOUS, "no record was read, so none could be one that was never sent")
    unknown, refused = _phantoms(operations)
    running = running_workloads(history)
    records = _different_records(operations)
    facts = {"reads": read, "records": records, "unknown": total(unknown), "refused_yet_there": total(refused)}
    strange = [] if running else unknown
    if strange or refused:
        examples = told_each(refused, lambda each, row: _told_refused(history, each, row))
        examples += told_each(strange, lambda each, row: _told_unknown(history, each, row))
        texts = [
            f"{counted(total(found), 'record')} read {what}: {where(found)}"
            for found, what in (
                (strange, "that no producer of ours sent"),
                (refused, "whose send was definitely refused"),
            )
            if found
        ]
        count = total(strange) + total(refused)
        return violated(Kind.SAFETY, "; ".join(texts), examples, count, **facts)
    if unknown:
        text = f"{counted(total(unknown), 'record')} read without a recorded send ({where(unknown)}), but {running}"
        return inconclusive(Kind.HARNESS, f"{text} still runs; stop it before judging", **facts)
    return conforms(f"every one of {counted(records, 'record')} read was sent by our producers", **facts)


def _different_records(operations: Operations) -> int:
    """How many records were read, each counted once in a partition, by however many it was read."""
    is_read = (operations.kind == OperationKind.CONSUME) | (operations.kind == OperationKind.FINAL_READ)
    read = operations.where(is_read & (operations.outcome == OperationOutcome.OK))
    return sum(len(kernels.different(kernels.packed(group.producer, group.sequence))) for _, group in partitions(read))


def _phantoms(operations: Operations) -> tuple[list[Found], list[Found]]:
    around = kernels.surroundings(operations)
    unknown, refused = [], []
    for where_, group in partitions(operations):
        whole = kernels.with_unplaced(group, around.unplaced_in(str(group.topic[0])))
        (_, strange), (_, denied) = kernels.phantom_reads(whole)
        unknown += [Found(where_, whole.where(strange))] if len(strange) else []
        refused += [Found(where_, whole.where(denied))] if len(denied) else []
    return unknown, refused


def _nothing_to_look_into(acked: Operations, *, was_read_back: bool) -> Verdict | None:
    unplaced = int((acked.partition < 0).sum())
    if unplaced:
        text = f"{counted(unplaced, 'acknowledged record')} carry no partition, so they cannot be looked for"
        return inconclusive(Kind.HARNESS, text)
    if not was_read_back:
        text = f"{counted(len(acked), 'record')} acknowledged, but nothing was read back at the end"
        return inconclusive(Kind.VACUOUS, text)
    return None


def _losses(history: History, missing: list[Found], expected: int, facts: dict[str, object]) -> Verdict:
    acked, consumed = (_of_kind(missing, kind) for kind in (OperationKind.PRODUCE, OperationKind.CONSUME))
    texts = []
    if acked:
        of_all = f"{number(total(acked))} of {counted(expected, 'acknowledged record')}"
        texts.append(f"{of_all} {_were(acked)} never read back: {where(acked)}")
    if consumed:
        those = f"{counted(total(consumed), 'record')} that a consumer had read, but no broker acknowledged,"
        texts.append(f"{those} {_were(consumed)} never read back: {where(consumed)}")
    absent = sorted(_names(kernels.absent_partitions(history.operations)))
    if absent:
        texts.append(f"brokers reported to the final reader that there is no {', '.join(absent)}")
    examples = [_told_loss(history, each) for each in by_runs(acked)]
    examples += [_told_vanished(history, each) for each in by_runs(consumed)]
    return violated(Kind.SAFETY, "; ".join(texts), examples, total(missing), **facts)


def _of_kind(found: list[Found], kind: OperationKind) -> list[Found]:
    of_kind = [Found(each.place, each.rows.of(kind)) for each in found]
    return [each for each in of_kind if len(each.rows)]


def _were(found: list[Found]) -> str:
    return "was" if total(found) == 1 else "were"


def _places(operations: Operations, named: frozenset[tuple[str, int]]) -> set[str]:
    """Partitions by their names; a topic named as a whole counts with all its own."""
    whole = {topic for topic, partition in named if partition == kernels.WHOLE_TOPIC}
    single = {place(topic, partition) for topic, partition in named if partition != kernels.WHOLE_TOPIC}
    return single | {where_ for where_, group in partitions(operations) if group.topic[0] in whole} if whole else single


def _names(named: frozenset[tuple[str, int]]) -> set[str]:
    return {
        f"topic {topic}" if partition == kernels.WHOLE_TOPIC else place(topic, partition) for topic, partition in named
    }


def _told_loss(history: History, each: Found) -> Violation:
    first = int(each.rows.ended_ns.min())
    one = kernels.identity(each.rows, 0) + " first" * (len(each.rows) > 1)
    reader = kernels.who_read(history.operations, int(each.rows.producer[0]), int(each.rows.sequence[0]))
    records = f"{counted(len(each.rows), 'record')} at {offsets(each.rows)} ({one}; {reader})"
    observed = f"{records}, acknowledged {when(history, first)}, never read back"
    return violation_at(history, f"every acknowledged record of {each.place} is read back", observed, first)


def _told_vanished(history: History, each: Found) -> Violation:
    row = int(np.argmin(each.rows.ended_ns))
    first = int(each.rows.ended_ns[row])
    one = kernels.identity(each.rows, row) + " first" * (len(each.rows) > 1)
    records = f"{counted(len(each.rows), 'record')} at {offsets(each.rows)} ({one}, by client {each.rows.client[row]})"
    observed = f"{records}, read {when(history, first)}, never read back"
    return violation_at(history, f"every record of {each.place} that a consumer read is read back", observed, first)


def _told_unknown(history: History, each: Found, row: int) -> Violation:
    at = int(each.rows.ended_ns[row])
    observed = (
        f"{kernels.identity(each.rows, row)} at {each.place} offset {each.rows.offset[row]}, read {when(history, at)}"
    )
    return violation_at(history, "every record read was sent to that partition by a producer of ours", observed, at)


def _told_refused(history: History, each: Found, row: int) -> Violation:
    at = int(each.rows.ended_ns[row])
    found = (
        f"{kernels.identity(each.rows, row)} at {each.place} offset {each.rows.offset[row]}, read {when(history, at)}"
    )
    return violation_at(history, "a record whose send was definitely refused is not in the log", found, at)
