"""Broker modes: which brokers ran in which mode at an instant, and with which part in the migration."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History

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
    started: dict[str, Event] = {}
    flags: dict[str, bool] = {}
    ready: dict[str, int] = {}
    away: dict[str, int] = {}
    for event in history.events:
        node = str(event.node)
        if event.at_ns > at_ns:
            break
        if event.kind is EventKind.NODE_STARTED and event.data.get("role") == "broker":
            started[node] = event
            ready.pop(node, None)
            away.pop(node, None)
        elif event.kind is EventKind.NODE_WIPED:
            started.pop(node, None)
        elif event.kind is EventKind.NODE_RECONFIGURED:
            changed = event.data.get("changed")
            if isinstance(changed, Mapping) and MIGRATION_FLAG in changed:
                flags[node] = changed[MIGRATION_FLAG] == "true"
        elif event.kind is EventKind.NODE_READY:
            ready[node] = event.at_ns
        elif event.kind in (*_ENDS, EventKind.NODE_PAUSED):
            away.setdefault(node, event.at_ns)
        elif event.kind is EventKind.NODE_RESUMED:
            away.pop(node, None)
    return [
        BrokerAt(
            name,
            str(event.data.get("mode")),
            # Of brokers that came with a checkpoint the configuration was not observed: they had joined.
            event.data.get("mode") == "zookeeper" and flags.get(name, history.header.inherited_offset >= 0),
            event.at_ns,
            ready.get(name),
            away.get(name),
        )
        for name, event in sorted(started.items())
    ]
