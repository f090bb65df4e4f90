"""Gaps: times at which a partition that had an owner before has none, and what happened to the group then."""

import enum
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.checkers.evidence.ownership import Partition, client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER, Span, spans
from pytest_kmigrate.documents.kip_125.evidence.lives import horizon_ns, lives
from pytest_kmigrate.documents.kip_125.kinds import MODE
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.members import MemberOwns, MemberPaused, MemberResumed, ZnodeWritten
from pytest_kmigrate.model.history import History

_SETTLED_NS = 2_000_000_000
"""For so long what happened may still be the cause, and so long before its last release a member begins to leave."""


@dataclass(frozen=True)
class Gap:
    """A partition without an owner."""

    partition: Partition
    began_ns: int
    ended_ns: int


class Cause(enum.IntEnum):
    """What happened, the more lasting the higher."""

    TOGGLE = 1
    JOIN = 2
    """A member joined, or left in order."""
    FAULT = 3
    """A process was killed or stood still, or a link was disturbed."""


def gaps(history: History, *, may_stand_still: bool = True) -> Iterator[Gap]:
    """From the first owner of each partition until members end; ``may_stand_still``: whether such a member owns it.

    What a member stands still with is read by no other, though it reports no release.
    """
    end_ns = horizon_ns(history)
    stood_still = [] if may_stand_still else _standstills(history)
    for partition, those in spans(history).items():
        covered_ns = those[0].began_ns
        owned = sorted(each for span in those for each in _without(span, stood_still))
        for began_ns, ended_ns in [*owned, (end_ns, end_ns)]:
            until_ns = min(began_ns, end_ns)
            if until_ns > covered_ns:
                yield Gap(partition, covered_ns, until_ns)
            covered_ns = max(covered_ns, min(ended_ns, end_ns))


def cause_of(gap: Gap, known: list[tuple[Cause, int, int]]) -> Cause:
    """The most lasting of what happened at that time; a gap for no reason counts as one of a toggle."""
    found = [cause for cause, began_ns, ended_ns in known if began_ns <= gap.ended_ns and gap.began_ns <= ended_ns]
    return max(found, default=Cause.TOGGLE)


def causes(history: History) -> list[tuple[Cause, int, int]]:
    """What happened to the group, from when to when it may leave partitions without an owner."""
    found = [
        (Cause.TOGGLE, event.at_ns, event.at_ns + _SETTLED_NS)
        for event in history.of(ZnodeWritten)
        if event.what.path == MODE
    ]
    first_owned: dict[int, int] = {}
    for event in history.of(MemberOwns):
        first_owned.setdefault(client_of(event), happened_ns(event))
    for life in lives(history).values():
        joined_ns = first_owned.get(life.client, life.began_ns)
        found.append((Cause.JOIN, life.began_ns, joined_ns + _SETTLED_NS))
        if life.how == "stopped":
            found.append((Cause.JOIN, life.left_ns - _SETTLED_NS, life.ended_ns + _SETTLED_NS))
        elif life.ended_ns != FOREVER:
            found.append((Cause.FAULT, life.ended_ns, life.ended_ns + _SETTLED_NS))
    healed = healed_ns(history)
    faults = history.of(FaultApplied)
    over = [healed.get(event.what.fault_id, FOREVER) + _SETTLED_NS for event in faults]
    return found + [(Cause.FAULT, event.at_ns, over_ns) for event, over_ns in zip(faults, over, strict=True)]


def _standstills(history: History) -> list[tuple[int, int, int]]:
    """Client, and from when to when it stood still."""
    resumed = history.of(MemberResumed)
    found = []
    for event in history.of(MemberPaused):
        name = event.what.member
        until_ns = min((e.at_ns for e in resumed if e.at_ns > event.at_ns and e.what.member == name), default=FOREVER)
        mine = [each for each in lives(history).values() if each.member == name]
        found += [(each.client, event.at_ns, until_ns) for each in mine if each.began_ns < event.at_ns < each.ended_ns]
    return found


def _without(span: Span, stood_still: list[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of a span in which its member did not stand still."""
    began_ns = span.began_ns
    for client, paused_ns, resumed_ns in sorted(stood_still, key=lambda each: each[1]):
        if client == span.client and began_ns < paused_ns < span.ended_ns:
            yield began_ns, paused_ns
            began_ns = resumed_ns
    if began_ns < span.ended_ns:
        yield began_ns, span.ended_ns
