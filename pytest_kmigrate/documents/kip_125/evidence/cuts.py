"""Members that were cut off ZooKeeper by a test: they can learn of nothing there until that is healed."""

from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class LinkFault:
    """Something done to the link between a member and ZooKeeper."""

    member: str
    effect: str
    """``cut``, ``slow``, ..."""
    began_ns: int
    healed_ns: int
    """FOREVER: it was not."""


def link_faults(history: History) -> list[LinkFault]:
    """All of a run."""
    names = {each.member for each in lives(history).values()}
    effects = {event.what.fault_id: event.what.effect for event in history.of(FaultBegan)}
    healed = healed_ns(history)
    found = []
    for event in history.of(FaultApplied):
        fault, targets = event.what.fault_id, set(event.what.targets)
        if any(each.startswith("zookeeper") for each in targets):
            span = (event.at_ns, healed.get(fault, FOREVER))
            found += [LinkFault(member, effects.get(fault, ""), *span) for member in sorted(names & targets)]
    return found


def cut_at(history: History, member: str, at_ns: int) -> LinkFault | None:
    """The cut that a member is under at an instant."""
    mine = [each for each in link_faults(history) if (each.member, each.effect) == (member, "cut")]
    return next((each for each in mine if each.began_ns <= at_ns < each.healed_ns), None)
