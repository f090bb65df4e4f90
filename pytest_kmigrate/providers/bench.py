"""What the contract of providers needs: a provider, a way to look behind it, a recorder and small topologies."""

import itertools
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from pytest_kmigrate.model.event import A, Event, EventKind, Recorded
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec, Role, Start, Topology


class MemoryRecorder:
    """Keeps events in memory; the clock is the number of events so far."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._lock = threading.Lock()

    def record(self, data: A, node: str | None = None) -> Recorded[A]:
        """Append one event."""
        with self._lock:
            event = data.event(len(self.events), len(self.events), node)
            self.events.append(event)
        return event

    def now_ns(self) -> int:
        """How many events there are."""
        return len(self.events)

    def of(self, *kinds: EventKind) -> list[Event]:
        """The events of these kinds."""
        return [event for event in self.events if event.kind in kinds]

    def kinds(self) -> list[EventKind]:
        """The kinds of all events, in order."""
        return [event.kind for event in self.events]


def small_topology(zookeepers: int = 1, brokers: int = 3, controllers: int = 3, kafka: str = "3.9.1") -> Topology:
    """A cluster to migrate, or with no ZooKeeper one born in KRaft mode."""
    mode = BrokerMode.ZOOKEEPER if zookeepers else BrokerMode.KRAFT
    nodes = [NodeSpec(f"zookeeper-{number}", Role.ZOOKEEPER, number, kafka) for number in range(1, zookeepers + 1)]
    nodes += [NodeSpec(f"broker-{number}", Role.BROKER, number, kafka, mode) for number in range(brokers)]
    start: Start = "later" if zookeepers else "at-once"
    nodes += [
        NodeSpec(f"controller-{number}", Role.CONTROLLER, number, kafka, start=start)
        for number in range(3000, 3000 + controllers)
    ]
    return Topology("small", "For tests of a provider.", kafka, tuple(nodes))


SMALLEST = small_topology(zookeepers=1, brokers=0, controllers=0)
ENSEMBLE = small_topology(zookeepers=2, brokers=0, controllers=0)
MAJORITY = small_topology(zookeepers=3, brokers=0, controllers=0)
BORN_IN_KRAFT = small_topology(zookeepers=0, brokers=1, controllers=1)


class Bench(ABC):
    """One provider, and how to look behind it."""

    def __init__(self, provider: Provider, logs: Path) -> None:
        self.provider = provider
        self.logs = logs
        self.recorder = MemoryRecorder()
        self._numbers = itertools.count()

    @abstractmethod
    def life_of(self, node: Node) -> object:
        """What distinguishes this life of a running node from its others: a process id, say."""

    @abstractmethod
    def exists(self, node: Node, life: object) -> bool:
        """Whether the node still lives this life."""

    @abstractmethod
    def stands_still(self, node: Node) -> bool:
        """Whether the node is paused, as others than the provider see it."""

    @abstractmethod
    def leave_a_mark(self, node: Node) -> None:
        """Put something on the node's disk."""

    @abstractmethod
    def is_marked(self, node: Node) -> bool:
        """Whether it is still there."""

    @abstractmethod
    def left_by(self, cluster: Cluster) -> Sequence[str]:
        """What is left of a cluster whose block has ended: processes, ports, folders, leases."""

    @abstractmethod
    def disturbed(self, cluster: Cluster) -> int:
        """How many links are disturbed now."""

    def cluster(self, shape: Topology = SMALLEST) -> AbstractContextManager[Cluster]:
        """A cluster of that shape, not started, with a log folder of its own."""
        return self.provider.provision(shape, self.recorder, self.logs / f"cluster-{next(self._numbers)}")
