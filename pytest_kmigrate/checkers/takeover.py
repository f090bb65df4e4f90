"""Check of when the controllers take over: not while a broker is down."""

from itertools import pairwise

from pytest_kmigrate.checkers.findings import violation_at
from pytest_kmigrate.checkers.lives import roles
from pytest_kmigrate.checkers.moments import when
from pytest_kmigrate.checkers.wording import counted, span
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.phase import Phase
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

WITHOUT_A_BROKER = "takeover-without-a-broker"


def takeover_waits_for_every_broker(history: History) -> Verdict:
    """The controllers did not take over from ZooKeeper while a broker was down, registered with them or not.

    A broker that is being started counts as up: it may have registered before it was seen to be ready. Inconclusive
    when no broker was down while the controllers waited. Source: K866-TRIG-no-offline.
    """
    name = "takeover_waits_for_every_broker"
    edges = [*history.of(EventKind.PHASE), *history.events[-1:]]
    waits = [(wait, end) for wait, end in pairwise(edges) if wait.data.get("phase") == Phase.PREPARING.name]
    takeovers = [end for _, end in waits if end.data.get("phase") in (Phase.COPYING.name, Phase.HYBRID.name)]
    found = [_violation(history, takeover, gone) for takeover in takeovers for gone in _down(history, takeover.at_ns)]
    if found:
        return violates(name, Kind.SAFETY, found, signatures=[WITHOUT_A_BROKER])
    if not any(wait.at_ns <= gone.at_ns <= end.at_ns for gone in _ends(history) for wait, end in waits):
        return inconclusive(name, Kind.VACUOUS, "no broker was down while the controllers waited")
    return conforms(name, f"{counted(len(takeovers), 'take-over')}, none while a broker was down")


def _ends(history: History) -> list[Event]:
    return [event for event in _starts_and_ends(history) if event.kind is not EventKind.NODE_STARTED]


def _down(history: History, at_ns: int) -> list[Event]:
    """The ends of the brokers that were down then."""
    last = {event.node: event for event in _starts_and_ends(history) if event.at_ns <= at_ns}
    return [event for event in last.values() if event.kind is not EventKind.NODE_STARTED]


def _starts_and_ends(history: History) -> list[Event]:
    """Of brokers."""
    by_role = roles(history)
    events = history.of(EventKind.NODE_STARTED, EventKind.NODE_STOPPED, EventKind.NODE_DIED)
    return [event for event in events if by_role.get(str(event.node)) == "broker"]


def _violation(history: History, takeover: Event, end: Event) -> Violation:
    away = span(takeover.at_ns - end.at_ns)
    return violation_at(
        history,
        f"the controllers wait until {end.node} is up",
        f"they took over {when(history, takeover.at_ns)}, and it had been down for {away}",
        takeover.at_ns,
        f"event {takeover.seq}",
        f"event {end.seq}",
    )
