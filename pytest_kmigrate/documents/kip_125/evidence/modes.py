"""The mode that members must follow, over time: what the operator wrote, and which older members are there."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.evidence.lives import horizon_ns, lives
from pytest_kmigrate.documents.kip_125.kinds import MODE
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept

KAFKA, ZOOKEEPER = "kafka", "zookeeper"
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
    written = [event for event in history.of(EventKind.ZNODE_WRITTEN) if event.data.get("path") == MODE]
    found = [(each.at_ns, "written", _text(each.data.get("data"))) for each in written]
    for life in lives(history).values():
        if life.is_of_zookeeper and not life.is_migrating:
            found.append((life.began_ns, "older-joined", None))
            if life.ended_ns != FOREVER:
                is_orderly = life.how == "stopped"
                gone_ns = life.left_ns if is_orderly else life.ended_ns + _EXPIRY_NS
                found.append((gone_ns, "older-left" if is_orderly else "older-died", None))
    end = horizon_ns(history)
    return sorted((each for each in found if each[0] <= end), key=lambda each: each[0])


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
    events = history.of(EventKind.MEMBER_MODE)
    return {client_of(event): str(event.data["mode"]) for event in events if happened_ns(event) <= at_ns}
