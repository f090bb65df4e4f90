"""Check of what consumers leave out: records that they read on above without ever reading them."""

from dataclasses import dataclass

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import Found, chosen, told_each, total, violated, violation_at, where
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.stretches import running_workloads
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive


@dataclass(frozen=True)
class _Skip(Found):
    """Records passed over in one partition; the partners are the reads above them."""

    below: Operations | None = None
    """Where each reader had been before."""


@checker(needs=[Capability.TRAFFIC])
def no_record_passed_over(history: History) -> Verdict:
    """A client that reads past an acknowledged record has read it, or another of its group has, sooner or later.

    The kernel ``polls_over`` excludes what only looks like a skip. While a workload runs, its last reads may have no
    row yet, so skips are then no violation.
    """
    acked, reads, final = (
        len(chosen(history.operations, kind))
        for kind in (OperationKind.PRODUCE, OperationKind.CONSUME, OperationKind.FINAL_READ)
    )
    if not (acked and reads and final):
        lacking = "was acknowledged" if not acked else "was read by a consumer" if not reads else "was finally read"
        return inconclusive(Kind.VACUOUS, f"no record {lacking}, so none is known to have been passed over")
    found = _skips(history.operations)
    facts = {"acknowledged": acked, "read": reads, "passed_over": total(found)}
    if not found:
        return conforms(f"{counted(reads, 'read')} of consumers, none of which passed over a record", **facts)
    text = f"{counted(total(found), 'acknowledged record')} passed over by consumers: {where(found)}"
    running = running_workloads(history)
    if running:
        return inconclusive(Kind.HARNESS, f"{text}; but {running} still runs; stop it before judging", **facts)
    examples = told_each(found, lambda each, row: _told(history, each, row))
    return violated(Kind.SAFETY, text, examples, total(found), **facts)


def _skips(operations: Operations) -> list[_Skip]:
    found = []
    for place, group in partitions(operations):
        over = kernels.polls_over(group)
        if len(over.rows):
            found.append(_Skip(place, *(group.where(rows) for rows in (over.skipped, over.rows, over.before))))
    return found


def _told(history: History, each: Found, row: int) -> Violation:
    sent, above = each.rows, each.partners or each.rows
    below = each.below if isinstance(each, _Skip) and each.below else above
    group, at = str(above.group[row]), int(above.ended_ns[row])
    reader = f"group {group}" if group else f"client {above.client[row]}"
    acked = when(history, int(sent.ended_ns[row]))
    expected = (
        f"{reader} reads {kernels.identity(sent, row)} at {each.place} offset {sent.offset[row]}, acknowledged {acked}"
    )
    reader = "no client of the group ever" if group else "it never"
    went_on = f"client {above.client[row]} read {below.offset[row]}, then {above.offset[row]} {when(history, at)}"
    observed = f"{went_on}, and {reader} read what lies between"
    return violation_at(history, expected, observed, at)
