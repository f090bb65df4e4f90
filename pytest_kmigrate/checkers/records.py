"""Checks of the records themselves: none lost, none invented, none twice, none out of order."""

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.findings import (
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
from pytest_kmigrate.checkers.grouping import partitions, place
from pytest_kmigrate.checkers.moments import when
from pytest_kmigrate.checkers.wording import counted, number
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


def no_acked_record_lost(history: History) -> Verdict:
    """Every acknowledged record is among the final reads of its partition.

    It takes every send for one with acks=all, as all of ours are: the history does not tell a send's acks, and what was
    acknowledged by the leader alone may be lost without anything being wrong.
    An indefinite send may be there or not. A partition that could not be read to its end loses nothing by that: the
    final reader says so with a FINAL_READ row that is not OK. Source: K866-RB-data-kept, K866-TEST-happy-path.
    """
    name = "no_acked_record_lost"
    acked = chosen(history.operations, OperationKind.PRODUCE)
    read = chosen(history.operations, OperationKind.FINAL_READ)
    lacking = _nothing_to_lose(name, acked, read)
    if lacking:
        return lacking
    unread = _unread_places(history.operations)
    found = [each for each in found_by(history.operations, kernels.lost_writes) if each.place not in unread]
    facts = {"acknowledged": len(acked), "finally_read": len(read), "unread_partitions": sorted(unread)}
    if found:
        examples = [_told_loss(history, each) for each in by_runs(found)]
        of_all = f"{number(total(found))} of {counted(len(acked), 'acknowledged record')}"
        verb = "was" if total(found) == 1 else "were"
        return violated(
            name, Kind.SAFETY, f"{of_all} {verb} never read back: {where(found)}", examples, total(found), **facts
        )
    unjudged = sorted(unread & {where_ for where_, _ in partitions(acked)}) if unread else []
    if unjudged:
        text = f"{', '.join(unjudged)} could not be read to the end; nothing is lost elsewhere"
        return inconclusive(name, Kind.INFRA, text, **facts)
    return conforms(name, f"none of {counted(len(acked), 'acknowledged record')} was lost", **facts)


def no_phantom_record(history: History) -> Verdict:
    """Every record read was sent by a producer of ours, and its send was not definitely refused.

    A failed send proves absence only with an error of ``model.refusals``; one that failed before it had a
    partition may lie in any partition of its topic. While a workload runs, its sends in flight have no row yet, so
    unknown records are then no violation. Source: K866-RB-data-kept.
    """
    name = "no_phantom_record"
    operations = history.operations
    read = len(chosen(operations, OperationKind.CONSUME)) + len(chosen(operations, OperationKind.FINAL_READ))
    if not read:
        return inconclusive(name, Kind.VACUOUS, "no record was read, so none could be one that nobody sent")
    unknown, refused = _phantoms(operations)
    running = _running_workloads(history)
    facts = {"read": read, "unknown": total(unknown), "refused_yet_there": total(refused)}
    found = refused if running else unknown + refused
    if found:
        examples = told_each(refused, lambda each, row: _told_refused(history, each, row))
        examples += [] if running else told_each(unknown, lambda each, row: _told_unknown(history, each, row))
        text = f"{counted(total(found), 'record')} read that no producer of ours sent: {where(found)}"
        return violated(name, Kind.SAFETY, text, examples, total(found), **facts)
    if unknown:
        text = f"{counted(total(unknown), 'record')} read without a recorded send ({where(unknown)}), but {running}"
        return inconclusive(name, Kind.HARNESS, f"{text} still runs; stop it before judging", **facts)
    return conforms(name, f"every one of {counted(read, 'record')} read was sent by our producers", **facts)


def _phantoms(operations: Operations) -> tuple[list[Found], list[Found]]:
    around = kernels.surroundings(operations)
    unknown, refused = [], []
    for where_, group in partitions(operations):
        whole = kernels.with_unplaced(group, around.unplaced_in(str(group.topic[0])))
        (_, strange), (_, denied) = kernels.phantom_reads(whole)
        unknown += [Found(where_, whole.where(strange))] if len(strange) else []
        refused += [Found(where_, whole.where(denied))] if len(denied) else []
    return unknown, refused


def _nothing_to_lose(name: str, acked: Operations, read: Operations) -> Verdict | None:
    if not len(acked):
        return inconclusive(name, Kind.VACUOUS, "no record was acknowledged, so none could be lost")
    unplaced = int((acked.partition < 0).sum())
    if unplaced:
        text = f"{counted(unplaced, 'acknowledged record')} carry no partition, so they cannot be looked for"
        return inconclusive(name, Kind.HARNESS, text)
    if not len(read):
        text = f"{counted(len(acked), 'record')} acknowledged, but nothing was read back at the end"
        return inconclusive(name, Kind.VACUOUS, text)
    return None


def _unread_places(operations: Operations) -> set[str]:
    """Partitions whose final read did not come to the end; a topic that failed as a whole counts with all its own."""
    unread = kernels.unread_partitions(operations)
    whole = {topic for topic, partition in unread if partition == kernels.WHOLE_TOPIC}
    named = {place(topic, partition) for topic, partition in unread if partition != kernels.WHOLE_TOPIC}
    return named | {where_ for where_, group in partitions(operations) if group.topic[0] in whole} if whole else named


def _running_workloads(history: History) -> str:
    ended = [event.data.get("workload") for event in history.of(EventKind.WORKLOAD_ENDED)]
    began = [event.data.get("workload") for event in history.of(EventKind.WORKLOAD_BEGAN)]
    return ", ".join(sorted({str(each) for each in began if began.count(each) > ended.count(each)}))


def _told_loss(history: History, each: Found) -> Violation:
    first = int(each.rows.ended_ns.min())
    one = kernels.identity(each.rows, 0) + " first" * (len(each.rows) > 1)
    reader = kernels.who_read(history.operations, int(each.rows.producer[0]), int(each.rows.sequence[0]))
    records = f"{counted(len(each.rows), 'record')} at {offsets(each.rows)} ({one}; {reader})"
    observed = f"{records}, acknowledged {when(history, first)}, never read back"
    return violation_at(history, f"every acknowledged record of {each.place} is read back", observed, first)


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
