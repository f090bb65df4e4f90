"""A fake provider, for unit tests only: clusters in memory that start at once, obey every order and judge nothing.

What a run on it shows says nothing about Kafka, so it cannot be chosen on the command line.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import EventKind, Recorder
from pytest_kmigrate.model.links import Arrived, Disturbance, Link
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import CrashPoint, Node
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec, Role, Topology
from pytest_kmigrate.providers.process.network.addresses import CLIENT_PORT, CLIENTS, Addresses
from pytest_kmigrate.providers.process.properties import quorum_voters, zookeeper_connect
from pytest_kmigrate.waiting import PATIENCE_S

_SEVERS = frozenset({"refuse", "reset"})
_NO_PROCESS = itertools.count(1 << 30)
"""Process ids beyond what a kernel gives out: a signal sent to one by mistake hits nobody."""
_blocks = itertools.count(1)


class FakeNode:
    """A node that is up or down because it was told so; what lies on its disk stays until it is wiped."""

    def __init__(self, spec: NodeSpec, addresses: Addresses, recorder: Recorder, logs: Path) -> None:
        self.spec = spec
        self.name = spec.name
        self.mode = spec.mode
        self.kafka = spec.kafka
        self.pid: int | None = None
        self.alive = False
        self.stands_still = False
        self.incarnation = 0
        self.formatted_with: str | None = None
        self.disk: set[str] = set()
        self.address = addresses.real(spec.name)
        self.metrics_url = f"fake://{self.address}"
        self._recorder = recorder
        self._changes: dict[str, str | None] = {}
        self.log = logs / spec.name / "server.log"

    @property
    def properties(self) -> Mapping[str, str]:
        """What its next start reads: the topology's properties, then what was reconfigured."""
        layered = {**self.spec.properties, **self._changes}
        return {key: value for key, value in layered.items() if value is not None}

    def start(self, *, wait: bool = True) -> None:
        """It is up; with ``wait`` also ready."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs already (pid {self.pid}): stop or kill it before starting it")
        self.alive, self.stands_still, self.pid = True, False, next(_NO_PROCESS)
        self.incarnation += 1
        self._say("started")
        mode = self.mode.value if self.mode else None
        self._recorder.record(EventKind.NODE_STARTED, self.name, mode=mode, incarnation=self.incarnation)
        if wait:
            self.await_ready()

    def await_ready(self, within_s: float = PATIENCE_S) -> None:
        """It is ready as soon as it is up."""
        self._recorder.record(EventKind.NODE_READY, self.name, took_ms=0)

    def stop(self, within_s: float = 30) -> None:
        """It is down, in a controlled way."""
        self._end("controlled")

    def kill(self) -> None:
        """It is down."""
        self._end("killed")

    def pause(self) -> None:
        """It stands still, and is alive."""
        self.stands_still = self.alive
        self._recorder.record(EventKind.NODE_PAUSED, self.name)

    def resume(self) -> None:
        """It goes on."""
        self.stands_still = False
        self._recorder.record(EventKind.NODE_RESUMED, self.name)

    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """Set (None: unset) properties, and the mode."""
        self._changes.update(changes)
        self.mode = mode or self.mode
        self._recorder.record(EventKind.NODE_RECONFIGURED, self.name, changed=dict(changes))

    def wipe(self) -> None:
        """Empty the disk of a stopped node."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs (pid {self.pid}): stop it before its disk is wiped")
        self.disk.clear()
        self.formatted_with = None
        self._recorder.record(EventKind.NODE_WIPED, self.name)

    def dump_threads(self) -> None:
        """A line in the log, where a JVM would write its threads."""
        self._say("thread dump")

    def tell_dead_threads(self) -> None:
        """It has no threads."""

    def _end(self, how: str) -> None:
        if not self.alive:
            return
        self.alive, self.stands_still, self.pid = False, False, None
        self._say(how)
        self._recorder.record(EventKind.NODE_STOPPED, self.name, how=how)

    def _say(self, text: str) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{self.name} {text}\n")


class FakeLinks:
    """The same links as a cluster of processes has; each carries one connection unless it is idle or severed.

    On each that does, ``sent_bytes`` arrive while it is disturbed; None: nobody counts them.
    """

    def __init__(self, addresses: Addresses) -> None:
        self._all = tuple(addresses.links())
        self._in_force: list[tuple[Link, Disturbance]] = []
        self.is_idle = False
        self.sent_bytes: int | None = 100
        self.done: list[tuple[Link, Disturbance]] = []
        """Every disturbance there ever was, in order."""

    def between(self, sources: Iterable[str], destinations: Iterable[str]) -> tuple[Link, ...]:
        """The links dialled from any of ``sources`` to any of ``destinations``."""
        dialling, dialled = set(sources), set(destinations)
        return tuple(link for link in self._all if link.source in dialling and link.destination in dialled)

    @contextmanager
    def disturb(self, links: Sequence[Link], disturbance: Disturbance) -> Iterator[Callable[[], Arrived | None]]:
        """Note the disturbance for the duration of the block."""
        pairs = [(link, disturbance) for link in links]
        self._in_force += pairs
        self.done += pairs
        try:
            yield lambda: self._arrived(links)
        finally:
            healed = [pair for pair in self._in_force if not any(pair is each for each in pairs)]
            self._in_force = healed

    def connections(self, links: Sequence[Link]) -> int:
        """One for every link that carries any."""
        severed = {link for link, disturbance in self._in_force if disturbance.kind in _SEVERS}
        return 0 if self.is_idle else sum(link not in severed for link in links)

    def origins(self, links: Sequence[Link]) -> tuple[str, ...]:
        """Each that carries a connection, by its own name."""
        return () if self.is_idle else tuple(str(link) for link in links)

    def _arrived(self, links: Sequence[Link]) -> Arrived | None:
        if self.sent_bytes is None:
            return None
        carrying = self.connections(links) if self.sent_bytes else 0
        return Arrived(self.sent_bytes * carrying, carrying)

    def disturbed(self, kind: str | None = None) -> set[Link]:
        """The links under a disturbance (of this kind) now."""
        return {link for link, disturbance in self._in_force if kind in (None, disturbance.kind)}


class FakeCluster:
    """A cluster in memory; made by ``provision`` only."""

    def __init__(self, topology: Topology, recorder: Recorder, logs: Path) -> None:
        self.capabilities = frozenset(Capability)
        addresses = Addresses(topology, next(_blocks))
        self.topology = topology
        self.links = FakeLinks(addresses)
        self.armed: set[str] = set()
        self.held: dict[str, str] = {}
        """Crash point -> the node that is held there: set by a test."""
        self._addresses = addresses
        self._nodes = [FakeNode(spec, addresses, recorder, logs) for spec in topology.nodes]

    @property
    def quorum_voters(self) -> str:
        """The value of ``controller.quorum.voters``."""
        return quorum_voters(self.topology)

    @property
    def zookeeper_connect(self) -> str:
        """The value of ``zookeeper.connect``."""
        return zookeeper_connect(self.topology)

    def nodes(self, role: Role | None = None) -> Sequence[FakeNode]:
        """The nodes of one role, or all."""
        return [node for node in self._nodes if role in (None, node.spec.role)]

    def node(self, name: str) -> FakeNode:
        """The node of this name."""
        return self._nodes[self.topology.number_of(name) - 1]

    def start_initial(self) -> None:
        """Start every node that the topology starts at once."""
        self.start_together([node for node in self._nodes if node.spec.start == "at-once"])

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Start several nodes, one after the other."""
        for node in nodes:
            node.start()

    def format_controllers(self, cluster_id: str, release_version: str | None = None) -> None:
        """Remember the cluster id on the controllers' disks."""
        for node in self.nodes(Role.CONTROLLER):
            node.formatted_with = cluster_id

    def bootstrap_servers(self) -> str:
        """For clients, over the clients' links."""
        brokers = self.topology.of_role(Role.BROKER)
        return ",".join(f"{self._addresses.seen_from(CLIENTS, spec.name)}:{CLIENT_PORT}" for spec in brokers)

    def client_connection(self) -> dict[str, str]:
        """Its addresses; nobody needs to be let in."""
        return {"bootstrap.servers": self.bootstrap_servers()}

    def peer(self, broker: str) -> Peer:
        """A broker's own client listener, at which nobody listens."""
        return Peer(f"{self._addresses.real(broker)}:{CLIENT_PORT}")

    @contextmanager
    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> Iterator[Callable[[], str | None]]:
        """Arm a crash point; a test says in ``held`` which node reached it."""
        self.armed.add(point.name)
        try:
            yield lambda: self.held.get(point.name)
        finally:
            self.armed.discard(point.name)


@contextmanager
def provision(topology: Topology, recorder: Recorder, logs: Path) -> Iterator[FakeCluster]:
    """A cluster whose nodes are not started yet; when the block ends all are down and every link is healed."""
    cluster = FakeCluster(topology, recorder, logs)
    try:
        yield cluster
    finally:
        for node in cluster.nodes():
            node.kill()
