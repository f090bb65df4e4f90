"""Check of elections: how long a majority of controllers was up and none of them was active."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_kmigrate.checkers.controllers.lives import plays, roles
from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import targets_of, when
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, EventKind, is_a
from pytest_kmigrate.model.events.faults import FaultApplied, FaultHealed, FaultWitnessed
from pytest_kmigrate.model.events.nodes import NodePaused, NodeReady, NodeResumed
from pytest_kmigrate.model.history import History, Sample
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.metrics import RAFT_STATES
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, not_applicable, violates

_ACTIVE, _EPOCH, _STATE = "ActiveControllerCount", "RaftCurrentEpoch", "RaftCurrentState"
_UNSEEN_NS = 3_000_000_000
"""A controller without any sample for so long may have been active, and was not seen."""
_SURELY_UP_NS = 60_000_000_000
"""A controller is ready when it knows a leader. One that has reported for so long and knows none could elect one."""
_AWAY = (EventKind.NODE_STARTED, EventKind.NODE_STOPPED, EventKind.NODE_DIED)

_Span = tuple[int, int]


def _has_been_observed(history: History) -> bool:
    return bool(_without(history))


@checker(in_every_run=_has_been_observed, anomaly="no active controller", needs=[Capability.METRICS])
def longest_time_without_an_active_controller(history: History, at_most_s: float = 30) -> Verdict:
    """No controller is active for ``at_most_s`` seconds at most, by what controllers report.

    Only time counts in which a majority of the quorum was up, not paused, and the target of no fault. A controller
    outside of it is taken for active only while enough of the majority follow it in its epoch for it to commit
    records. A fault of links is aimed at the controllers that it keeps from each other: one without ZooKeeper, or
    without brokers, can lead. A controller is up when it is ready, or has reported for a minute: of a quorum that
    elects none from the beginning none is ever ready. Time in which one of the majority was not observed for 3 s does
    not count. The default is three times the longest election that a quiet machine needs.
    """
    spans = _without(history)
    if not spans:
        return not_applicable("no majority of controllers was observed while it was up")
    longest = max(spans, key=_length_ns)
    long = [each for each in spans if _length_ns(each) > at_most_s * 1e9]
    text = f"longest time without an active controller: {_lasted(history, longest)}"
    facts = {"longest_s": _length_ns(longest) / 1e9, "began_ns": longest[0], "ended_ns": longest[1]}
    if long:
        found = [_violation(history, each, at_most_s) for each in long]
        return violates(Kind.LIVENESS, found, f"{text}; allowed are {at_most_s:g} s", **facts)
    return conforms(text, **facts)


@dataclass
class _Quorum:
    """Which controllers can take part in an election."""

    names: frozenset[str]
    apart: Mapping[object, set[str]] = field(default_factory=dict)
    """By id of a fault of links: the controllers that it kept from each other; other faults are not in it."""
    up: set[str] = field(default_factory=set)
    reporting: dict[str, _Span] = field(default_factory=dict)
    """By controller: since when it has reported without a gap, and until when."""
    paused: set[str] = field(default_factory=set)
    hit: dict[object, set[str]] = field(default_factory=dict)
    able: set[str] = field(default_factory=set)
    """The controllers that are up, not paused, and the target of no fault."""

    @property
    def has_majority(self) -> bool:
        """Whether they can elect one of them."""
        return 2 * len(self.able) > len(self.names)

    def follows(self, leader: Sample, latest: Mapping[str, Sample]) -> bool:
        """Whether an active controller has the followers that it needs, by what was last sampled of each of them."""
        following = [name for name in self.able & latest.keys() if _is_follower(latest[name], leader)]
        return leader.values[_ACTIVE] == 1 and 2 * (1 + len(following)) > len(self.names)

    def take(self, event: Event) -> None:
        """Take in what an event changes."""
        self._take(event)
        self._settle()

    def hear(self, sample: Sample) -> None:
        """Take in that a controller reports."""
        since_ns, last_ns = self.reporting.get(sample.node, (sample.at_ns, sample.at_ns))
        since_ns = since_ns if sample.at_ns - last_ns <= _UNSEEN_NS else sample.at_ns
        self.reporting[sample.node] = since_ns, sample.at_ns
        if sample.node not in self.up and sample.at_ns - since_ns > _SURELY_UP_NS:
            self.up.add(sample.node)
            self._settle()

    def _settle(self) -> None:
        self.able = self.up - self.paused - set().union(*self.hit.values())

    def _take(self, event: Event) -> None:
        node = str(event.node)
        if is_a(event, FaultApplied):
            fault = event.what.fault_id
            self.hit[fault] = self.apart.get(fault, targets_of(event) & self.names)
        elif is_a(event, FaultHealed):
            self.hit.pop(event.what.fault_id, None)
        elif node not in self.names:
            return
        elif event.kind in _AWAY:
            self.up.discard(node)
            self.paused.discard(node)
            self.reporting.pop(node, None)
        elif is_a(event, NodeReady):
            self.up.add(node)
        elif is_a(event, NodePaused):
            self.paused.add(node)
        elif is_a(event, NodeResumed):
            self.paused.discard(node)


@kept
def _without(history: History) -> list[_Span]:
    """Each time from one sample of an active controller to the next, or to where nothing can be said any more."""
    names = frozenset(name for name, role in roles(history).items() if plays(role, Role.CONTROLLER))
    quorum = _Quorum(names, _apart(history, names))
    since_ns: int | None = None
    latest, spans = dict[str, Sample](), dict[int, int]()
    for at_ns, what in _in_order(history, quorum.names):
        if not isinstance(what, Sample):
            quorum.take(what)
            since_ns = since_ns if quorum.has_majority else None
            continue
        latest[what.node] = what
        quorum.hear(what)
        if quorum.has_majority and (what.node in quorum.able or quorum.follows(what, latest)):
            is_seen = all(each in latest and at_ns - latest[each].at_ns <= _UNSEEN_NS for each in quorum.able)
            since_ns = since_ns if since_ns is not None and is_seen else at_ns
            spans[since_ns] = at_ns
            since_ns = at_ns if what.values[_ACTIVE] == 1 else since_ns
    return [(began, ended) for began, ended in spans.items() if ended > began]


def _is_follower(sample: Sample, leader: Sample) -> bool:
    epoch = sample.values.get(_EPOCH)
    is_of_its_epoch = epoch is not None and epoch == leader.values.get(_EPOCH)
    return is_of_its_epoch and sample.values.get(_STATE) == RAFT_STATES["follower"]


def _apart(history: History, names: frozenset[str]) -> dict[object, set[str]]:
    """Of each fault of links that was witnessed: the controllers on links to other controllers."""
    found: dict[object, set[str]] = {}
    for event in history.events:
        links = event.what.facts.get("links") if is_a(event, FaultWitnessed) else None
        if is_a(event, FaultWitnessed) and isinstance(links, Sequence):
            ends = [set(re.split("->|:", str(each))[:2]) for each in links]
            found[event.what.fault_id] = set().union(*(each for each in ends if each <= names))
    return found


def _in_order(history: History, names: frozenset[str]) -> Iterator[tuple[int, Event | Sample]]:
    reported = [each for each in history.samples if each.node in names and each.values.get(_ACTIVE) is not None]
    both: list[tuple[int, int, Event | Sample]] = [(each.at_ns, 0, each) for each in history.events]
    both += [(each.at_ns, 1, each) for each in reported]
    for at_ns, _, what in sorted(both, key=lambda each: each[:2]):
        yield at_ns, what


def _length_ns(of: _Span) -> int:
    return of[1] - of[0]


def _lasted(history: History, of: _Span) -> str:
    return f"{span(_length_ns(of))}, from {when(history, of[0])}"


def _violation(history: History, of: _Span, at_most_s: float) -> Violation:
    expected = f"some controller is active every {at_most_s:g} s while a majority of them is up"
    return violation_at(history, expected, f"none for {_lasted(history, of)}", of[0], awaited=of)
