"""The mode that members must follow, over time: what the operator wrote, and which older members are there."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.evidence.held import older_registered
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.outages import stood_still
from pytest_kmigrate.documents.kip_125.kinds import IDS, MODE
from pytest_kmigrate.model.events.members import MemberMode, ZnodeWritten
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept

KAFKA, ZOOKEEPER = "kafka", "zookeeper"
AGREED_NS = 5_000_000_000
"""The document gives no time; this is far above what a watch takes."""
_BURST_NS = 2_000_000_000
"""Answers to two writes in quick succession may reach a member whose link is slow in this time, one after the other."""
_EXPIRY_NS = 6_000_000_000
"""Within this time ZooKeeper has noticed that a member without an orderly end is gone."""


@dataclass(frozen=True)
class Change:
    """Something that decides about the mode changed, and the mode that must be followed from then on."""

    at_ns: int
    what: str
    """``created``, ``changed``, ``same``, ``deleted``, ``unknown``, or ``older-joined``, ``-left``, ``-died``."""
    must_be: str
    until_ns: int
    """The next change."""


@kept
def changes(history: History) -> list[Change]:
    """All of a run until its members end, in order."""
    found: list[tuple[int, str, str]] = []
    data: str | None = None
    older = 0
    for at_ns, what, value in _moments(history):
        if what == "written":
            kind = _kind(data, value)
            data = value
        else:
            older += 1 if what == "older-joined" else -1
            kind = what
        found.append((at_ns, kind, KAFKA if data == KAFKA and not older else ZOOKEEPER))
    ends = [*(at_ns for at_ns, _, _ in found), horizon_ns(history)][1:]
    return [Change(at, what, must, until) for (at, what, must), until in zip(found, ends, strict=True)]


def _moments(history: History) -> list[tuple[int, str, str | None]]:
    written = [event for event in history.of(ZnodeWritten) if event.what.path == MODE]
    found = [(each.at_ns, "written", _text(each.what.data)) for each in written]
    for life in lives(history).values():
        if life.is_of_zookeeper and not life.is_migrating:
            found += _of_older(history, life)
    end = horizon_ns(history)
    return sorted((each for each in found if each[0] <= end), key=lambda each: each[0])


def _of_older(history: History, life: Life) -> list[tuple[int, str, None]]:
    """When a member that knows no mode came and went: by ZooKeeper's log; where there is none, by its own lines."""
    left = "older-left" if life.how == "stopped" else "older-died"
    registered = [each for each in older_registered(history) if each.path == f"{IDS}/{life.consumer_id}"]
    if registered:
        came = [(each.began_ns, "older-joined", None) for each in registered]
        return [*came, *((each.ended_ns, left, None) for each in registered if each.ended_ns != FOREVER)]
    found: list[tuple[int, str, None]] = [(life.began_ns, "older-joined", None)]
    if life.ended_ns != FOREVER:
        gone_ns = life.left_ns if left == "older-left" else life.ended_ns + _EXPIRY_NS
        found.append((gone_ns, left, None))
    return found


def _kind(before: str | None, after: str | None) -> str:
    if after is None:
        return "deleted"
    if after not in (KAFKA, ZOOKEEPER):
        return "unknown"
    return "created" if before is None else "same" if before == after else "changed"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def modes_at(history: History, at_ns: int) -> Mapping[int, str]:
    """By client, the mode that it reported last up to an instant."""
    events = history.of(MemberMode)
    return {client_of(event): event.what.mode for event in events if happened_ns(event) <= at_ns}


def took_the_former(history: History, client: int, change: Change, until_ns: int) -> bool:
    """Whether a member reported until an instant a mode that was to be followed right before this change.

    It was written in such quick succession that the member was still on its way to it.
    """
    burst_ns = change.at_ns - _BURST_NS
    former = {each.must_be for each in changes(history) if burst_ns <= each.at_ns < change.at_ns} - {change.must_be}
    return any(
        client_of(event) == client and event.what.mode in former and burst_ns <= happened_ns(event) <= until_ns
        for event in history.of(MemberMode)
    )


def may_follow(history: History, life: Life, at_ns: int) -> frozenset[str]:
    """The modes that a member may follow at an instant, by what was written and who was registered.

    After a change it may follow either, until it reported the new one, and for a moment in any case: of writes in quick
    succession it may have read an earlier one. A member that stood still since then acts on what it had read.
    """
    before = [each for each in changes(history) if each.at_ns <= at_ns]
    if not before:
        return frozenset((ZOOKEEPER,))
    change = before[-1]
    since_ns = max(change.at_ns, life.began_ns)
    is_new = at_ns - since_ns <= _BURST_NS or stood_still(history, life.member, max(since_ns, at_ns - AGREED_NS), at_ns)
    has_agreed = change.must_be in _modes_of(history, life.client, since_ns, at_ns)
    if is_new or (at_ns - since_ns <= AGREED_NS and not has_agreed):
        return frozenset((KAFKA, ZOOKEEPER))
    return frozenset((change.must_be,))


def _modes_of(history: History, client: int, since_ns: int, until_ns: int) -> set[str]:
    """What a member followed in this time, by its own reports: the last one before it, and each in it."""
    mine = [(happened_ns(event), event.what.mode) for event in history.of(MemberMode) if client_of(event) == client]
    before = [mode for at_ns, mode in mine if at_ns <= since_ns][-1:]
    return {*before, *(mode for at_ns, mode in mine if since_ns < at_ns <= until_ns)}
