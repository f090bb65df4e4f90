"""Check of when the controllers take over: not while a broker is down."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import roles
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Event, is_a
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStarted, NodeStopped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates

_DECIDED_NS = 1_000_000_000
"""A broker that was down for less may have been up when the controllers made up their minds."""
_WOULD_HAVE_NS = 10_000_000_000
"""By then controllers that see every broker registered, and ask for no more, have taken over."""


@dataclass(frozen=True)
class _Wait:
    """A time in which the controllers waited for the brokers; ``takeover`` is the evidence of what ended it, if any."""

    began_ns: int
    ended_ns: int
    takeover: str | None


@checker("K866-TRIG-no-offline", needs=[Capability.METRICS])
def takeover_waits_for_every_broker(history: History) -> Verdict:
    """The controllers did not take over from ZooKeeper while a broker was down, registered with them or not.

    A broker that is being started counts as up: it may have registered before it was seen to be ready. They took over
    when ``/controller`` was theirs, or when the phase was seen to change, if that was not observed. Inconclusive
    unless a broker was down for 10 s while the controllers waited with all brokers registered: as long as one is not,
    they wait for that one. Source: K866-TRIG-no-offline.
    """
    waits = list(_waits(history))
    takeovers = [wait for wait in waits if wait.takeover]
    found = [
        _violation(history, wait, gone)
        for wait in takeovers
        for gone in _down(history, wait.ended_ns)
        if wait.ended_ns - gone.at_ns >= _DECIDED_NS
    ]
    if found:
        return violates(Kind.SAFETY, found)
    withstood_ns = max((_withstood_ns(history, wait) for wait in waits), default=0)
    if withstood_ns < _WOULD_HAVE_NS:
        text = f"no broker was down for {span(_WOULD_HAVE_NS)} while all were registered and the controllers waited"
        return inconclusive(Kind.VACUOUS, text)
    reported = f"{counted(len(takeovers), 'take-over')}, none while a broker was down"
    return conforms(f"{reported}, as one was for {span(withstood_ns)} with all registered")


def _waits(history: History) -> Iterator[_Wait]:
    claims = list(kraft_claims(history))
    phases, last = history.states(PHASE), [(event, "") for event in history.events[-1:]]
    edges: list[tuple[Event, str]] = [*((event, event.what.state) for event in phases), *last]
    for (began, before), (ended, after) in pairwise(edges):
        if before != Phase.PREPARING.name:
            continue
        claim = next((each for each in claims if began.at_ns <= each.at_ns <= ended.at_ns), None)
        if claim:
            yield _Wait(began.at_ns, claim.at_ns, claim.evidence)
        else:
            is_over = after in (Phase.COPYING.name, Phase.HYBRID.name)
            yield _Wait(began.at_ns, ended.at_ns, f"event {ended.seq}" if is_over else None)


def _withstood_ns(history: History, wait: _Wait) -> int:
    """For how long a broker was down while the controllers reported every broker, and did not take over."""
    seen: dict[int, list[int]] = {}
    by_role = roles(history)
    for sample in history.samples:
        if by_role.get(sample.node) == "controller" and wait.began_ns <= sample.at_ns <= wait.ended_ns:
            started = {event.node for event in _starts_and_ends(history) if event.at_ns <= sample.at_ns}
            if started and sample.values.get("MigratingZkBrokerCount") == len(started):
                for gone in _down(history, sample.at_ns):
                    seen.setdefault(gone.seq, []).append(sample.at_ns)
    return max((max(times) - min(times) for times in seen.values()), default=0)


def _down(history: History, at_ns: int) -> list[Event]:
    """The ends of the brokers that were down then."""
    last = {event.node: event for event in _starts_and_ends(history) if event.at_ns <= at_ns}
    return [event for event in last.values() if not is_a(event, NodeStarted)]


def _starts_and_ends(history: History) -> list[Event]:
    """Of brokers."""
    by_role = roles(history)
    events = history.of(NodeStarted, NodeStopped, NodeDied)
    return [event for event in events if by_role.get(str(event.node)) == "broker"]


def _violation(history: History, wait: _Wait, end: Event) -> Violation:
    away = span(wait.ended_ns - end.at_ns)
    return violation_at(
        history,
        f"the controllers wait until {end.node} is up",
        f"they took over {when(history, wait.ended_ns)}, and it had been down for {away}",
        wait.ended_ns,
        str(wait.takeover),
        f"event {end.seq}",
    )
