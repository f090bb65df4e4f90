"""Checks of places: records of one producer in their order, none twice, no offset given to two."""

from collections.abc import Callable
from functools import partial

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import (
    Found,
    chosen,
    found_by,
    timed_violation,
    told_each,
    total,
    violated,
    violation_at,
    where,
)
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, number
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


@checker(needs=[Capability.TRAFFIC])
def order_kept_per_partition(history: History) -> Verdict:
    """Records of one idempotent producer lie in a partition in the order it sent them.

    Only acknowledged and read records count. Producers without idempotence may reorder by their own retries and are
    not judged.
    """
    return _of_idempotent(
        history,
        kernels.reorderings,
        ("found before one that was sent earlier", "all found in the order of their sends"),
        _told_reordered,
    )


@checker(needs=[Capability.TRAFFIC])
def no_duplicate_from_idempotent_producer(history: History) -> Verdict:
    """No record of an idempotent producer is found at two offsets of its partition in the final read.

    A producer that gives up on a record goes on with a new epoch: what else waited for its answer then, in whichever
    partition, is not judged.
    """
    read = chosen(history.operations, OperationKind.FINAL_READ)
    if not len(read):
        return inconclusive(Kind.VACUOUS, "no final read, so no duplicate could be seen")
    return _of_idempotent(
        history,
        partial(kernels.duplicates, around=kernels.surroundings(history.operations)),
        ("found again at another offset", "none found twice"),
        _told_duplicate,
    )


@checker(needs=[Capability.TRAFFIC])
def no_offset_given_twice(history: History) -> Verdict:
    """No offset holds two records, and a record is finally where it was acknowledged or consumed.

    Two records at one offset, seen at different times, mean that a part of the log was cut off and written anew.
    """
    operations = history.operations
    placed = int(((operations.offset >= 0) & (operations.kind != OperationKind.COMMIT)).sum())
    if not placed:
        return inconclusive(Kind.VACUOUS, "no offset was acknowledged or read")
    twice = found_by(operations, kernels.offsets_given_twice)
    moved = found_by(operations, kernels.moves)
    facts = {"placed": placed, "given_twice": total(twice), "moved": total(moved)}
    if not twice and not moved:
        if not len(chosen(operations, OperationKind.FINAL_READ)):
            text = f"{counted(placed, 'operation')} agree, but there was no final read to show where records lie"
            return inconclusive(Kind.VACUOUS, text, **facts)
        return conforms(f"{counted(placed, 'operation')} agree on which record lies at which offset", **facts)
    examples = told_each(twice, lambda each, row: _told_twice(history, each, row))
    examples += told_each(moved, lambda each, row: _told_moved(history, each, row))
    texts = [f"{counted(total(twice), 'offset')} given to two records: {where(twice)}"] if twice else []
    texts += [f"{counted(total(moved), 'record')} finally elsewhere than acknowledged: {where(moved)}"] if moved else []
    return violated(Kind.SAFETY, "; ".join(texts), examples, total(twice) + total(moved), **facts)


def _of_idempotent(
    history: History,
    kernel: Callable[[Operations], kernels.Pairs],
    wrong_right: tuple[str, str],
    reported: Callable[[History, Found, int], Violation],
) -> Verdict:
    operations = history.operations
    by_idempotent = operations.idempotent & (operations.kind == OperationKind.PRODUCE)
    acked = int((by_idempotent & (operations.outcome == OperationOutcome.OK)).sum())
    if not acked:
        return inconclusive(Kind.VACUOUS, "no record of an idempotent producer was acknowledged")
    found = found_by(operations, kernel)
    wrong, right = wrong_right
    every = f"{counted(acked, 'acknowledged record')} of idempotent producers"
    if not found:
        return conforms(f"{every}, {right}", acknowledged=acked)
    count = total(found)
    text = f"{number(count)} of {every} {wrong}: {where(found)}"
    examples = told_each(found, lambda each, row: reported(history, each, row))
    return violated(Kind.SAFETY, text, examples, count, acknowledged=acked)


def _told_reordered(history: History, each: Found, row: int) -> Violation:
    rows, partners, at = each.rows, each.partners or each.rows, int(each.rows.ended_ns[row])
    expected = f"{kernels.identity(rows, row)} lies behind record {partners.sequence[row]} in {each.place}"
    observed = f"it lies at {rows.offset[row]}, before {partners.offset[row]}; seen {when(history, at)}"
    return violation_at(history, expected, observed, at)


def _told_duplicate(history: History, each: Found, row: int) -> Violation:
    rows, partners = each.rows, each.partners or each.rows
    reported, at = _answered(history, rows, row)
    observed = f"it is at {partners.offset[row]} and again at {rows.offset[row]}; {reported} {when(history, at)}"
    return violation_at(history, f"{kernels.identity(rows, row)} is in {each.place} once", observed, at)


def _answered(history: History, rows: Operations, row: int) -> tuple[str, int]:
    """When the send of a record had its answer, near which its copies were written; else when it was read."""
    sends = history.operations
    is_it = (sends.kind == OperationKind.PRODUCE) & (sends.outcome == OperationOutcome.OK)
    is_it &= (sends.producer == rows.producer[row]) & (sends.sequence == rows.sequence[row])
    answers = sends.ended_ns[is_it]
    return ("acknowledged", int(answers[0])) if len(answers) else ("read", int(rows.ended_ns[row]))


def _told_twice(history: History, each: Found, row: int) -> Violation:
    rows, partners, at = each.rows, each.partners or each.rows, int(each.rows.ended_ns[row])
    before = f"{kernels.identity(partners, row)} ({when(history, int(partners.ended_ns[row]))})"
    observed = f"{before} and {kernels.identity(rows, row)}"
    return timed_violation(history, f"{each.place} offset {rows.offset[row]} holds one record", observed, at)


def _told_moved(history: History, each: Found, row: int) -> Violation:
    rows, partners, at = each.rows, each.partners or each.rows, int(each.rows.ended_ns[row])
    expected = f"{kernels.identity(rows, row)} stays at {each.place} offset {rows.offset[row]}"
    observed = f"it was given that offset {when(history, at)}, but is finally at {partners.offset[row]}"
    return violation_at(history, expected, observed, at)
