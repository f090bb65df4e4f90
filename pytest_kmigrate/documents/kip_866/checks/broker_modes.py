"""Broker modes: which brokers ran in which mode at an instant, and with which part in the migration."""

from bisect import bisect_right
from dataclasses import dataclass, field

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.nodes import NodeReady, NodeReconfigured, NodeResumed, NodeStarted, NodeWiped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.model.verdict import Violation

_ENDS = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)


@dataclass(frozen=True)
class BrokerAt:
    """A broker at an instant."""

    name: str
    mode: str
    """"zookeeper" or "kraft", as it was started last."""
    is_migrating: bool
    """Whether it runs in ZooKeeper mode with the migration enabled."""
    started_ns: int
    ready_ns: int | None
    """None: not ready yet."""
    away_ns: int | None
    """Since when it is stopped, dead or paused; None: it runs."""

    @property
    def is_controlled(self) -> bool:
        """Whether it is one of the KRaft controller's; one in ZooKeeper mode without the migration enabled is not."""
        return self.mode == "kraft" or self.is_migrating

    @property
    def node_id(self) -> str:
        """Its id, as images of the metadata log have it."""
        return self.name.rpartition("-")[2]


def brokers_at(history: History, at_ns: int) -> list[BrokerAt]:
    """Every broker that was started until then, by name; one whose disk was wiped is none until it is started again."""
    times, brokers = _changes(history)
    return list(brokers[bisect_right(times, at_ns)])


def is_one_in_zookeeper_mode(history: History, *at_ns: int) -> bool:
    """Whether a broker in ZooKeeper mode ran at any of these times: only such a one needs ZooKeeper to know leaders."""
    return any(each.mode == "zookeeper" and each.away_ns is None for at in at_ns for each in brokers_at(history, at))


def ran_one_in_zookeeper_mode(history: History, violation: Violation) -> bool:
    """Whether that is so when a violation was seen, or at the begin or end of what was awaited."""
    return is_one_in_zookeeper_mode(history, violation.at_ns or 0, *(violation.awaited or ()))


@kept
def _changes(history: History) -> tuple[list[int], list[list[BrokerAt]]]:
    """When anything of a broker changed, and the brokers before the first change and after each."""
    # Of brokers that came with a checkpoint the configuration was not observed: they had joined.
    seen = _Seen(had_joined=history.header.inherited_offset >= 0)
    times, brokers = list[int](), [list[BrokerAt]()]
    for event in history.events:
        if event.node is not None and seen.changes_by(event):
            times.append(event.at_ns)
            brokers.append(seen.brokers())
    return times, brokers


@dataclass
class _Seen:
    """What the events up to one say of each node."""

    had_joined: bool
    started: dict[str, Recorded[NodeStarted]] = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    """As each node's configuration has it."""
    joined: dict[str, bool] = field(default_factory=dict)
    """As each node had it when it was started: a change is in force from the next start on."""
    ready: dict[str, int] = field(default_factory=dict)
    away: dict[str, int] = field(default_factory=dict)

    def changes_by(self, event: Event) -> bool:
        """Take the next event, and return whether it may change anything."""
        node = str(event.node)
        if is_a(event, NodeStarted) and event.what.role == "broker":
            self.started[node] = event
            self.joined[node] = self.flags.get(node, self.had_joined)
            self.ready.pop(node, None)
            self.away.pop(node, None)
        elif is_a(event, NodeWiped):
            self.started.pop(node, None)
        elif is_a(event, NodeReconfigured):
            if MIGRATION_FLAG in event.what.changed:
                self.flags[node] = event.what.changed[MIGRATION_FLAG] == "true"
        elif is_a(event, NodeReady):
            self.ready[node] = event.at_ns
        elif event.kind in (*_ENDS, EventKind.NODE_PAUSED):
            self.away.setdefault(node, event.at_ns)
        elif is_a(event, NodeResumed):
            self.away.pop(node, None)
        else:
            return False
        return True

    def brokers(self) -> list[BrokerAt]:
        """Every broker, by name."""
        return [
            BrokerAt(
                name,
                str(event.what.mode),
                event.what.mode == "zookeeper" and self.joined[name],
                event.at_ns,
                self.ready.get(name),
                self.away.get(name),
            )
            for name, event in sorted(self.started.items())
        ]
