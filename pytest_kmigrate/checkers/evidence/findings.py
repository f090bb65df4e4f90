"""Findings: anomalies of client operations, and the verdict that reports them with time, place and evidence."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import evidence_at, when
from pytest_kmigrate.checkers.evidence.wording import counted, listed, ranges, runs_of
from pytest_kmigrate.checkers.kernels import Pairs
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import MOST_VIOLATIONS, Kind, Verdict, Violation, violates


@dataclass(frozen=True)
class Found:
    """Anomalous rows of one partition; ``partners`` are the rows they contradict, one each, if there are such."""

    place: str
    rows: Operations
    partners: Operations | None = None


Told = Callable[[Found, int], Violation]
"""Turns row i of a finding into a violation."""


def total(found: Sequence[Found]) -> int:
    """How many rows were found in all."""
    return sum(len(each.rows) for each in found)


def where(found: Sequence[Found]) -> str:
    """Such as "orders-2 at 411-413; orders-5 at 9"."""
    return listed([f"{each.place} at {offsets(each.rows)}" for each in found], "partition", "; ")


def offsets(rows: Operations) -> str:
    """The offsets of rows as ranges; rows whose offset is unknown are counted."""
    known = rows.offset[rows.offset >= 0].tolist()
    unknown = len(rows) - len(known)
    texts = [ranges(known)] if known else []
    return " and ".join(texts + ([counted(unknown, "unknown offset")] if unknown else []))


def by_runs(found: Sequence[Found]) -> list[Found]:
    """Each finding cut into runs of consecutive offsets; at most as many as a verdict shows."""
    cut: list[Found] = []
    for each in found:
        known = runs_of(offset for offset in each.rows.offset.tolist() if offset >= 0)
        for first, last in known if (each.rows.offset >= 0).all() else [*known, (-1, -1)]:
            inside = np.flatnonzero((each.rows.offset >= first) & (each.rows.offset <= last))
            partners = None if each.partners is None else each.partners.where(inside)
            cut.append(Found(each.place, each.rows.where(inside), partners))
            if len(cut) == MOST_VIOLATIONS:
                return cut
    return cut


def told_each(found: Sequence[Found], reported: Told) -> list[Violation]:
    """The first findings, row by row; at most as many as a verdict shows."""
    pairs = ((each, row) for each in found for row in range(min(len(each.rows), MOST_VIOLATIONS)))
    return [reported(each, row) for (each, row), _ in zip(pairs, range(MOST_VIOLATIONS), strict=False)]


def violation_at(
    history: History,
    expected: str,
    observed: str,
    at_ns: int,
    *evidence: str,
    awaited: tuple[int, int] | None = None,
) -> Violation:
    """A violation with the events that place it in time, and more evidence.

    ``awaited``: begin and end of the time in which something was awaited that did not come.
    """
    return Violation(expected, observed, at_ns, (*evidence, *evidence_at(history, at_ns)), awaited)


def timed_violation(
    history: History,
    expected: str,
    observed: str,
    at_ns: int,
    *evidence: str,
    awaited: tuple[int, int] | None = None,
) -> Violation:
    """As ``violation_at``; what was observed also says when, in brackets at its end."""
    text = f"{observed} ({when(history, at_ns)})"
    return violation_at(history, expected, text, at_ns, *evidence, awaited=awaited)


def violated(kind: Kind, summary: str, examples: Sequence[Violation], count: int, **facts: object) -> Verdict:
    """A verdict VIOLATES that counts anomalies but does not list them all (there may be a million)."""
    made = violates(kind, examples, summary, **facts)
    return replace(made, count=count, every=made.every if count == len(made.every) else ())


def found_by(operations: Operations, kernel: Callable[[Operations], Pairs]) -> list[Found]:
    """A kernel's pairs (partner, anomalous row) in every partition where it finds any."""
    found = []
    for where_, group in partitions(operations):
        partners, rows = kernel(group)
        if len(rows):
            found.append(Found(where_, group.where(rows), group.where(partners)))
    return found


def chosen(operations: Operations, kind: OperationKind) -> Operations:
    """The operations of one kind that succeeded."""
    return operations.where((operations.kind == kind) & (operations.outcome == OperationOutcome.OK))
