"""Answers of brokers to clients while a KRaft controller is in charge, and which of them a check may rely on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.znode_changes import held_in, since_controllers
from pytest_kmigrate.checkers.evidence.moments import healed_ns, targets_of
from pytest_kmigrate.documents.kip_866.checks.broker_modes import BrokerAt, brokers_at
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.history import ClientMetadata, History
from pytest_kmigrate.model.verdict import Violation

Span = tuple[int, int]
"""From when to when, in nanoseconds."""

EVIDENCE = "clients/metadata.jsonl"
OF_ZOOKEEPER_MODE = " in ZooKeeper mode"
"""Follows the name of a broker wherever findings name one that is in this mode."""
GONE_NS = 15_000_000_000
"""By then controllers have fenced a broker that is away, whose session is 9 s, and brokers have been informed."""
TAKEN_OVER_NS = 5_000_000_000
"""By then brokers have received the first metadata of a KRaft controller."""
_READY_NS = TAKEN_OVER_NS
"""By then a broker that has started has received all metadata."""
_CALM_NS = 10_000_000_000
"""By then a cluster has recovered from a disturbance."""
_NEVER = 1 << 62
_AWAY = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_PAUSED)
_BACK = (EventKind.NODE_READY, EventKind.NODE_RESUMED)
_OF_ONE_NODE = ("kill", "stop")


@dataclass(frozen=True)
class Answer:
    """One broker's answer, the broker as it was then, and all brokers by id."""

    content: ClientMetadata
    broker: BrokerAt
    brokers: Mapping[int, BrokerAt]
    is_calm: bool
    """Whether controllers, ZooKeeper and the network had been undisturbed for 10 s."""

    @property
    def at_ns(self) -> int:
        """When it was given."""
        return self.content.at_ns

    @property
    def gone(self) -> list[int]:
        """Ids of listed brokers that have been away for so long that no client should be sent to them."""
        return [each for each in self.content.brokers if self._is_gone(each)]

    def _is_gone(self, broker_id: int) -> bool:
        away_ns = self.brokers[broker_id].away_ns if broker_id in self.brokers else None
        return away_ns is not None and self.at_ns - away_ns >= GONE_NS

    def __str__(self) -> str:
        return named(self.broker)


def named(broker: BrokerAt) -> str:
    """A broker with its mode, which known deviations depend on."""
    return broker.name + (" in KRaft mode" if broker.mode == "kraft" else OF_ZOOKEEPER_MODE)


def is_of_zookeeper_mode(violation: Violation) -> bool:
    """Whether it is about what a broker in ZooKeeper mode answered: what is expected of it, or what was observed."""
    asked = violation.expected.partition(" lists ")[0]
    return asked.endswith(OF_ZOOKEEPER_MODE) or OF_ZOOKEEPER_MODE in violation.observed


def has_answers(history: History) -> bool:
    """Whether brokers were asked in this run."""
    return bool(history.client_metadata)


def answers(history: History) -> list[Answer]:
    """The answers of brokers that were ready for 5 s, from 5 s after a KRaft controller took over; in order of time.

    A broker in ZooKeeper mode without the migration enabled is none of the controller's.
    """
    in_charge = _spans_in_charge(history)
    disturbed = _disturbances(history)
    found = []
    for content in sorted(history.client_metadata, key=lambda each: each.at_ns):
        if not _is_in(content.at_ns, in_charge):
            continue
        now = brokers_at(history, content.at_ns)
        broker = next((each for each in now if each.name == content.node), None)
        if broker is not None and broker.is_controlled and has_served(broker, content.at_ns):
            by_id = {int(each.node_id): each for each in now}
            found.append(Answer(content, broker, by_id, not _is_in(content.at_ns, disturbed)))
    return found


def has_served(broker: BrokerAt, at_ns: int) -> bool:
    """Whether a broker runs, and has been ready for 5 s."""
    return broker.away_ns is None and broker.ready_ns is not None and at_ns - broker.ready_ns >= _READY_NS


def _spans_in_charge(history: History) -> list[Span]:
    """When ``/controller`` named a KRaft controller; a znode that vanishes for a moment changes nothing."""
    found: list[Span] = []
    since_ns: int | None = None
    changes = [each for each in history.znodes if each.path == "/controller" and each.data is not None]
    for change in since_controllers(history, changes):
        is_kraft = held_in(change).get("kraftControllerEpoch", -1) >= 0
        if is_kraft and since_ns is None:
            since_ns = change.at_ns + TAKEN_OVER_NS
        elif not is_kraft and since_ns is not None:
            found.append((since_ns, change.at_ns))
            since_ns = None
    return found if since_ns is None else [*found, (since_ns, _NEVER)]


def _disturbances(history: History) -> list[Span]:
    """When anything but a broker was disturbed, and 10 s after."""
    return [*_faults(history), *_nodes_away(history), *_without_controller(history)]


def _faults(history: History) -> Iterable[Span]:
    targets = {e.what.fault_id: targets_of(e) for e in history.of(FaultApplied)}
    healed = {fault: at_ns + _CALM_NS for fault, at_ns in healed_ns(history).items()}
    for began in history.of(FaultBegan):
        fault_id = began.what.fault_id
        hit = targets.get(fault_id, set())
        is_of_brokers = bool(hit) and all(each.startswith("broker-") for each in hit)
        if not (began.what.effect in _OF_ONE_NODE and is_of_brokers):
            yield began.at_ns, healed.get(fault_id, _NEVER)


def _nodes_away(history: History) -> Iterable[Span]:
    away: dict[str, int] = {}
    for event in history.of(*_AWAY, *_BACK):
        node = str(event.node)
        if node.startswith("broker-"):
            continue
        if event.kind in _AWAY:
            away.setdefault(node, event.at_ns)
        elif node in away:
            yield away.pop(node), event.at_ns + _CALM_NS
    yield from ((at_ns, _NEVER) for at_ns in away.values())


def _without_controller(history: History) -> Iterable[Span]:
    since_ns: int | None = None
    for event in history.of(ActiveControllerChanged):
        if event.what.controller is None:
            since_ns = event.at_ns if since_ns is None else since_ns
        elif since_ns is not None:
            yield since_ns, event.at_ns + _CALM_NS
            since_ns = None
    if since_ns is not None:
        yield since_ns, _NEVER


def _is_in(at_ns: int, spans: Iterable[Span]) -> bool:
    return any(from_ns <= at_ns <= to_ns for from_ns, to_ns in spans)
