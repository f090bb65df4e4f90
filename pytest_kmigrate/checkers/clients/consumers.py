"""Checks of consumers: positions and committed offsets never run backwards."""

from dataclasses import replace
from typing import Any

import numpy.typing as npt

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import (
    Found,
    chosen,
    found_by,
    told_each,
    total,
    violated,
    violation_at,
    where,
)
from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, number
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive

_OWN_READING = "its own reading so far"


@checker(needs=[Capability.TRAFFIC])
def consumer_positions_never_run_backwards(history: History) -> Verdict:
    """A consumer reads each partition forwards; assigned anew, it starts no lower than its group had committed.

    A step back is what a re-assignment looks like, and records read but not yet committed may then be read again: so a
    member of a group may step back, or begin, anywhere at or above the committed offset. A consumer without a group
    has nothing to go back to. Steps back in a group that committed nothing cannot be judged.
    """
    reads = chosen(history.operations, OperationKind.CONSUME)
    if not len(reads):
        return inconclusive(Kind.VACUOUS, "no consumer read a record")
    found, steps_back, unjudged = _positions(history.operations)
    facts = {"read": len(reads), "steps_back": steps_back, "steps_back_unjudged": unjudged}
    if found:
        text = f"{counted(total(found), 'read')} went back further than a re-assignment may: {where(found)}"
        examples = told_each(found, lambda each, row: _told_position(history, each, row))
        return violated(Kind.SAFETY, text, examples, total(found), **facts)
    if unjudged:
        text = f"{counted(unjudged, 'step')} back in groups without a recorded commit: nothing to hold them against"
        return inconclusive(Kind.VACUOUS, text, **facts)
    if not (_follow_each_other(reads, reads.client) or _have_something_before(history.operations)):
        return inconclusive(Kind.VACUOUS, "no consumer read a second record of a partition", **facts)
    text = f"{counted(len(reads), 'read')} in order; {counted(steps_back, 'step')} back, none below a committed offset"
    return conforms(text, **facts)


@checker(needs=[Capability.TRAFFIC])
def committed_offsets_never_run_backwards(history: History) -> Verdict:
    """The offset a group commits in a partition is no lower than any acknowledged before that commit began.

    Commits that overlap in time may be applied in either order and are not compared.
    """
    commits = chosen(history.operations, OperationKind.COMMIT)
    if not len(commits):
        return inconclusive(Kind.VACUOUS, "no offset was committed")
    found = found_by(history.operations, kernels.commits_back)
    if not found and not _follow_each_other(commits, commits.group):
        return inconclusive(Kind.VACUOUS, "no group committed a second offset of a partition")
    if not found:
        return conforms(f"{counted(len(commits), 'commit')}, none below an earlier one", commits=len(commits))
    text = f"{number(total(found))} of {counted(len(commits), 'commit')} went below an earlier one: {where(found)}"
    examples = told_each(found, lambda each, row: _told_commit(history, each, row))
    return violated(Kind.SAFETY, text, examples, total(found), commits=len(commits))


def _follow_each_other(rows: Operations, by: npt.NDArray[Any]) -> bool:
    """Whether any client, or any group, has two of these rows in one partition."""
    places = set(zip(by.tolist(), rows.topic.tolist(), rows.partition.tolist(), strict=True))
    return len(places) < len(rows)


def _have_something_before(operations: Operations) -> bool:
    """Whether a group has read or committed twice in any partition, by whichever of its members."""
    is_of_group = (operations.kind == OperationKind.CONSUME) | (operations.kind == OperationKind.COMMIT)
    done = operations.where(is_of_group & (operations.outcome == OperationOutcome.OK) & (operations.group != ""))
    return _follow_each_other(done, done.group)


def _positions(operations: Operations) -> tuple[list[Found], int, int]:
    """What is wrong, how many steps back there were, and how many of them nothing can judge."""
    found, steps, unjudged = [], 0, 0
    for where_, group in partitions(operations):
        polls = kernels.polls_back(group)
        steps += polls.steps
        unjudged += polls.unjudged
        if len(polls.rows):
            # The partner carries the lowest offset that was admissible, which no row of the history need hold.
            wrong = group.where(polls.rows)
            found.append(Found(where_, wrong, replace(wrong, offset=polls.floors)))
    return found, steps, unjudged


def _told_position(history: History, each: Found, row: int) -> Violation:
    rows, at = each.rows, int(each.rows.began_ns[row])
    floor = 0 if each.partners is None else each.partners.offset[row]
    group = str(rows.group[row])
    because = f"committed by group {group}" if group else f"{_OWN_READING}, without a group"
    expected = f"client {rows.client[row]} reads {each.place} on from {floor} or above ({because})"
    return violation_at(history, expected, f"it read {rows.offset[row]} {when(history, at)}", at)


def _told_commit(history: History, each: Found, row: int) -> Violation:
    rows, partners, at = each.rows, each.partners or each.rows, int(each.rows.ended_ns[row])
    higher, since = partners.offset[row], when(history, int(partners.ended_ns[row]))
    expected = f"group {rows.group[row]} commits {higher} or more in {each.place}, as acknowledged {since}"
    observed = f"client {rows.client[row]} committed {rows.offset[row]} {when(history, at)}"
    return violation_at(history, expected, observed, at)
