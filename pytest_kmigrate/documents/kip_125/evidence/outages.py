"""Times at which a test let a server or a member stand still, or took it down: what needs it may not happen then."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.model.events.members import MemberPaused, MemberResumed
from pytest_kmigrate.model.events.nodes import NodePaused, NodeReady, NodeResumed, NodeStopped
from pytest_kmigrate.model.history import History

BROKER, ZOOKEEPER = "broker", "zookeeper"


@dataclass(frozen=True)
class Outage:
    """One process that did nothing."""

    name: str
    """Of the node, or of the member."""
    began_ns: int
    ended_ns: int
    """FOREVER: it did not go on."""

    def overlaps(self, since_ns: int, until_ns: int) -> bool:
        """Whether any of it lies in this time."""
        return self.began_ns <= until_ns and since_ns <= self.ended_ns


def outages(history: History, role: str) -> list[Outage]:
    """Of all servers of a role, by the beginning of their names."""
    ended = [*history.of(NodeResumed), *history.of(NodeReady)]
    over = [(str(event.node), event.at_ns) for event in ended]
    begun = history.of(NodePaused, NodeStopped)
    return list(_spans([(str(each.node), each.at_ns) for each in begun if str(each.node).startswith(role)], over))


def standstills(history: History, member: str) -> list[Outage]:
    """Of one member."""
    begun = [(event.what.member, event.at_ns) for event in history.of(MemberPaused)]
    over = [(event.what.member, event.at_ns) for event in history.of(MemberResumed)]
    return list(_spans([each for each in begun if each[0] == member], over))


def stood_still(history: History, member: str, since_ns: int, until_ns: int) -> bool:
    """Whether a member stood still at any instant of this time."""
    return any(each.overlaps(since_ns, until_ns) for each in standstills(history, member))


def _spans(begun: list[tuple[str, int]], over: list[tuple[str, int]]) -> Iterator[Outage]:
    for name, at_ns in begun:
        yield Outage(name, at_ns, min((end for who, end in over if who == name and end > at_ns), default=FOREVER))
