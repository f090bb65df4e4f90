"""A cluster in memory."""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from pytest_kmigrate.model.capabilities import Capability, Own
from pytest_kmigrate.model.checkpoint import Frozen, FrozenNode
from pytest_kmigrate.model.errors import NodeDiedError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.model.history import Batch, Transaction
from pytest_kmigrate.model.links import Link
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import CrashPoint, Node, Record
from pytest_kmigrate.model.topology import Listener, Role, Topology
from pytest_kmigrate.providers.fake.links import FakeLinks
from pytest_kmigrate.providers.fake.node import FakeNode
from pytest_kmigrate.providers.nodes import named, playing
from pytest_kmigrate.providers.owned.network.addresses import CLIENT_PORT, CLIENTS, ZOOKEEPER_PORT, Addresses
from pytest_kmigrate.providers.owned.properties import quorum_voters, zookeeper_connect

_NO_OP: Record = {"offset": 0, "timestamp_ms": 0, "type": "NO_OP_RECORD", "version": 0, "data": {}, "snapshot": False}
_blocks = itertools.count(1)


class FakeCluster:
    """A cluster in memory; made by ``FakeProvider`` only. What nodes report is as a test sets it."""

    own = Own()
    zookeeper_tls = None
    listen_host = "127.0.0.1"

    def __init__(
        self, topology: Topology, recorder: Recorder, logs: Path, scratch: Path, capabilities: frozenset[Capability]
    ) -> None:
        addresses = Addresses(topology, next(_blocks))
        self.topology = topology
        self.capabilities = capabilities
        self.scratch = scratch
        leader = next((spec.name for spec in topology.of_role(Role.CONTROLLER) if spec.start == "at-once"), None)
        self.reported: dict[str, dict[str, float]] = {leader: {"ActiveControllerCount": 1}} if leader else {}
        """Node -> metric -> value; the first controller of a cluster born in KRaft mode leads."""
        self.leads_ensemble = next((spec.name for spec in topology.of_role(Role.ZOOKEEPER)), None)
        self.records: list[Record] = [_NO_OP]
        self.batches: dict[str, list[Batch]] = {}
        """What every metadata log holds."""
        self.transactions: list[Transaction] = []
        """What ZooKeeper's log holds."""
        self.answers: dict[str, tuple[int, str]] = {}
        """Tool -> status and output; 0 and nothing of any other."""
        self.spawned: list[Popen[bytes]] = []
        self.links = FakeLinks(addresses)
        self.lacking: Mapping[str, str] = {}
        """What the machine lacks."""
        self.armed: set[str] = set()
        self.synced: set[str] = set()
        self.held: dict[str, str] = {}
        self.executions: dict[str, Sequence[bytes]] = {}
        """What a node's JVMs have executed, by its name."""
        """Crash point -> the node that is held there: set by a test."""
        self._recorder = recorder
        self._addresses = addresses
        self._nodes = [FakeNode(spec, addresses, recorder, logs) for spec in topology.nodes]

    def __repr__(self) -> str:
        return f"<cluster {self.topology.name} of {len(self._nodes)} nodes at {self.bootstrap_servers()}>"

    @property
    def quorum_voters(self) -> str:
        """The value of ``controller.quorum.voters``."""
        return quorum_voters(self.topology)

    @property
    def zookeeper_connect(self) -> str:
        """The value of ``zookeeper.connect``."""
        return zookeeper_connect(self.topology)

    @property
    def zookeeper_servers(self) -> str:
        """Addresses at which no process listens."""
        specs = self.topology.of_role(Role.ZOOKEEPER)
        servers = ",".join(f"{self._addresses.real(spec.name)}:{ZOOKEEPER_PORT}" for spec in specs)
        return servers + self.topology.chroot if servers else ""

    def zookeeper_reached_by(self, process: str) -> str:
        """As any other, and with links of its own."""
        servers = self.topology.of_role(Role.ZOOKEEPER)
        self.links.add([Link(process, spec.name, ZOOKEEPER_PORT) for spec in servers])
        return self.zookeeper_servers

    @property
    def zookeeper_superuser(self) -> str | None:
        """ZooKeeper has no logins."""
        return None

    def makes(self, topics: Sequence[str], group: str) -> None:
        """Anything, since the cluster goes with the run."""

    def nodes(self, role: Role | None = None) -> Sequence[FakeNode]:
        """The nodes that play a role, or all."""
        return playing(self._nodes, role)

    def node(self, name: str) -> FakeNode:
        """The node of this name."""
        return named(self._nodes, name)

    def start_initial(self) -> None:
        """Start every node that the topology starts at once."""
        self.start_together([node for node in self._nodes if node.spec.start == "at-once"])

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Start several nodes."""
        for node in nodes:
            node.start(wait=False)
        self.await_ready(nodes)

    def await_ready(self, nodes: Sequence[Node]) -> None:
        """Each is ready as soon as it is up; NodeDiedError for one that was ended meanwhile."""
        for node in nodes:
            if node.alive:
                node.await_ready()
        for node in nodes:
            if not node.alive:
                raise NodeDiedError(node.name, None, "it was ended")

    def machine_troubles(self) -> Mapping[str, str]:
        """As set."""
        return self.lacking

    def await_serving(self) -> None:
        """As far as anybody can say who is no client."""

    def format_controllers(
        self, cluster_id: str, release_version: str | None = None, records: Sequence[bytes] = ()
    ) -> None:
        """Remember the cluster id on the controllers' disks; what their log begins with has no effect."""
        for node in self.nodes(Role.CONTROLLER):
            node.formatted_with = cluster_id

    def freeze(self, folder: Path, before_controllers: Callable[[], None] = lambda: None) -> Frozen:
        """Brokers, controllers and ZooKeeper are down, in this order, and their disks written down."""
        states = {node.name: FrozenNode(dict(node.changes), node.mode, node.alive) for node in self._nodes}
        for role in (Role.BROKER, Role.CONTROLLER, Role.ZOOKEEPER):
            if role is Role.CONTROLLER:
                before_controllers()
            for node in self.nodes(role):
                node.stop()
                node.copy_disk(folder / node.name)
        return Frozen(states, log_offset=int(self.records[-1]["offset"]), zxid=0)

    def thaw(self, folder: Path, frozen: Frozen) -> None:
        """What was up is up again, from the disks as they were."""
        for node in self._nodes:
            node.put_back_disk(folder / node.name)
            former = frozen.nodes[node.name]
            node.reconfigure(former.changes, former.mode)
            if former.is_up:
                node.start()

    def bootstrap_servers(self) -> str:
        """For clients, over the clients' links."""
        brokers = self.topology.of_role(Role.BROKER)
        return ",".join(f"{self._addresses.seen_from(CLIENTS, spec.name)}:{CLIENT_PORT}" for spec in brokers)

    def client_connection(self, listener: str = Listener.CLIENT) -> dict[str, str]:
        """Its addresses, the same for each listener; there are no logins."""
        return {"bootstrap.servers": self.bootstrap_servers()}

    def peer(self, node: str) -> Peer:
        """A node's own listener, at which no process listens."""
        return Peer(f"{self._addresses.real(node)}:{CLIENT_PORT}")

    def metrics(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """As set; nothing of a node that is down."""
        reported = self.reported.get(node, {}) if self.node(node).alive else {}
        return {name: reported.get(name) for name in names}

    def requests_received(self, node: str) -> Mapping[tuple[str, int], int]:
        """None: nothing is sent."""
        self.node(node)
        return {}

    def executed(self, node: str, *, anew: bool = False) -> Sequence[bytes]:
        """Nothing, unless a test says otherwise."""
        return self.executions.get(node, ())

    def live_heap(self, node: str) -> int:
        """None is in use: there is no JVM."""
        self.node(node)
        return 0

    @property
    def parts(self) -> Mapping[str, int]:
        """None: it is in memory."""
        return {}

    def clock_of(self, node: str) -> float | None:
        """As it was set, if the node is up."""
        found = self.node(node)
        return time.time() + found.clock_offset_s if found.alive else None

    def zookeeper_mode(self, node: str) -> str | None:
        """A server alone stands alone; of several, the one that is set to leads."""
        if not self.node(node).alive:
            return None
        if len(self.topology.of_role(Role.ZOOKEEPER)) == 1:
            return "standalone"
        return "leader" if node == self.leads_ensemble else "follower"

    def zookeeper_log(self, after_zxid: int) -> list[Transaction]:
        """As set."""
        return [each for each in self.transactions if each.zxid > after_zxid]

    def metadata_log(self, node: str) -> Sequence[Record]:
        """As set."""
        return self.records

    def metadata_snapshots(self, node: str) -> Sequence[str]:
        """None: there are no disks."""
        self.node(node)
        return ()

    def metadata_batches(self, node: str) -> Sequence[Batch]:
        """As set."""
        return self.batches.get(node, ())

    def run_tool(self, node: str, tool: str, arguments: Sequence[str]) -> ToolRan:
        """As set; no tool is run."""
        status, output = self.answers.get(tool, (0, ""))
        ran = ToolRan(tool, list(arguments), status, output, took_ms=0)
        self._recorder.record(ran, self.node(node).name)
        return ran

    def spawn(self, argv: Sequence[str], errors: Path) -> Popen[bytes]:
        """A real process, ended with the cluster."""
        errors.parent.mkdir(parents=True, exist_ok=True)
        with errors.open("ab") as said:
            self.spawned.append(Popen(argv, stdin=PIPE, stdout=PIPE, stderr=said, process_group=0))
        return self.spawned[-1]

    @contextmanager
    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> Iterator[Callable[[], str | None]]:
        """Arm a crash point; a test says in ``held`` which node reached it."""
        self.armed.add(point.name)
        try:
            yield lambda: self.held.get(point.name)
        finally:
            self.armed.discard(point.name)

    @contextmanager
    def slow_fsync(self, nodes: Sequence[Node], delay_ms: int) -> Iterator[Callable[[], Sequence[str]]]:
        """A test says in ``synced`` which nodes made one."""
        self.armed.add(f"fsync {delay_ms}")
        try:
            yield lambda: [node.name for node in nodes if node.name in self.synced]
        finally:
            self.armed.discard(f"fsync {delay_ms}")
