"""Check of how a migration begins: by itself, once every node is ready, and not before."""

from collections.abc import Iterator
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER, kraft_claims
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import faults_during
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.documents.kip_866.checks.broker_modes import brokers_at
from pytest_kmigrate.documents.kip_866.checks.settled import is_inherited
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.event import Event, EventKind, is_a
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict

_AUTOMATIC, _EVERY_NODE = "K866-TRIG-automatic", "K866-TRIG-only-when-every-node"
_DECIDED_NS = 1_000_000_000
"""A node that was down for less may have been up when the controllers made up their minds."""
_BEGINS_NS = 120_000_000_000
"""By then a migration of which every node is ready has begun: a driver may wait for 60 s between two looks."""
_UP = (EventKind.NODE_STARTED, EventKind.NODE_RESUMED)
_DOWN = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)


@checker(
    _AUTOMATIC,
    _EVERY_NODE,
    in_every_run=always,
    anomaly="take-over before every node was ready",
    needs=[Capability.ZNODES, Capability.RECONFIGURE],
)
def migration_begins_when_every_node_is_ready(history: History) -> Verdict:
    """A KRaft controller takes ``/controller`` when every broker is in migration mode and every node is up.

    Nothing asks it to: where all are, and no fault was in force for 120 s, it has done so. A node that is being started
    counts as up, as does one that was down for less than 1 s.
    """
    rows = ByRequirement(_AUTOMATIC, _EVERY_NODE)
    takeovers, missing = list(_takeovers(history)), list[str]()
    for at_ns, evidence in takeovers:
        rows.looked_at(_AUTOMATIC)
        for node, why in _not_ready(history, at_ns):
            missing.append(node)
            expected = f"{CONTROLLER} is taken once every node is ready"
            observed = f"{node} {why}"
            rows.violated(_EVERY_NODE, timed_violation(history, expected, observed, at_ns, evidence))
        if not missing:
            rows.looked_at(_EVERY_NODE)
    for from_ns, to_ns in _waits(history):
        expected = f"{CONTROLLER} is taken by itself within {span(_BEGINS_NS)} once every node is ready"
        observed = f"it was not for {span(to_ns - from_ns)}"
        violation = timed_violation(history, expected, observed, to_ns, awaited=(from_ns, to_ns))
        rows.violated(_AUTOMATIC, violation, Kind.LIVENESS)
    text = f"{counted(len(takeovers), 'take-over')}, each once every node was ready"
    return rows.verdict(text, "no KRaft controller took over", not_ready=missing)


def _takeovers(history: History) -> Iterator[tuple[int, str]]:
    """The first claim of each life of the metadata log: when, and its evidence."""
    starts, seen = life_starts_ns(history), set[int]()
    for claim in kraft_claims(history):
        life = life_at(starts, claim.at_ns)
        if life not in seen and (life or not is_inherited(history)):
            seen.add(life)
            yield claim.at_ns, claim.evidence


def _not_ready(history: History, at_ns: int) -> Iterator[tuple[str, str]]:
    """Nodes that were not ready then, each with why."""
    for broker in brokers_at(history, at_ns):
        if not broker.is_migrating and at_ns - broker.started_ns >= _DECIDED_NS:
            yield broker.name, "was not in migration mode"
        elif broker.away_ns is not None and at_ns - broker.away_ns >= _DECIDED_NS:
            yield broker.name, f"had been down for {span(at_ns - broker.away_ns)}"
    for name, end in _last_of_controllers(history, at_ns).items():
        if end.kind in _DOWN and at_ns - end.at_ns >= _DECIDED_NS:
            yield name, f"had been down for {span(at_ns - end.at_ns)}"


def _last_of_controllers(history: History, at_ns: int) -> dict[str, Event]:
    """The last start or end of each controller until then."""
    events = [each for each in history.of(*_UP, *_DOWN) if each.at_ns <= at_ns]
    names = {e.node for e in events if is_a(e, NodeStarted) and e.what.role == "controller"}
    return {str(each.node): each for each in events if each.node in names}


def _waits(history: History) -> Iterator[tuple[int, int]]:
    """Times without a change of any node in which every one was ready, and none took over although it had to."""
    last_ns = history.end_ns
    kinds = (*_UP, *_DOWN, EventKind.NODE_READY, EventKind.NODE_RECONFIGURED, EventKind.NODE_WIPED)
    edges = [*(each.at_ns for each in history.of(*kinds)), last_ns]
    taken = [each.at_ns for each in kraft_claims(history)]
    for from_ns, to_ns in pairwise(edges):
        starts = life_starts_ns(history)
        is_taken = any(at_ns < to_ns and life_at(starts, at_ns) == life_at(starts, from_ns) for at_ns in taken)
        if to_ns - from_ns < _BEGINS_NS or is_taken or faults_during(history, from_ns, to_ns):
            continue
        brokers = brokers_at(history, from_ns)
        are_ready = bool(brokers) and all(each.ready_ns is not None for each in brokers)
        if are_ready and _last_of_controllers(history, from_ns) and not any(_not_ready(history, to_ns)):
            yield from_ns, to_ns
