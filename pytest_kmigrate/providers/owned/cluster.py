"""A live cluster of JVMs on one leased block of addresses."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cached_property, partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import psutil

from pytest_kmigrate.model.capabilities import Capability, Own
from pytest_kmigrate.model.checkpoint import Frozen
from pytest_kmigrate.model.errors import ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.model.history import Batch, Transaction
from pytest_kmigrate.model.links import Link
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import CrashPoint, Node
from pytest_kmigrate.model.topology import BrokerMode, Listener, Role, Topology
from pytest_kmigrate.providers.jolokia import JolokiaClient
from pytest_kmigrate.providers.metadata_log import decoded, snapshots_in
from pytest_kmigrate.providers.nodes import named, playing
from pytest_kmigrate.providers.owned.agents import crash_points
from pytest_kmigrate.providers.owned.disks import storage
from pytest_kmigrate.providers.owned.disks.freezing import freeze, put_back
from pytest_kmigrate.providers.owned.network.addresses import ANSWERS_AT, CLIENTS, ZOOKEEPER_PORT
from pytest_kmigrate.providers.owned.network.links import ProxiedLinks
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.owned.properties import quorum_voters, zookeeper_connect
from pytest_kmigrate.providers.owned.protection.zookeeper import make_chroot
from pytest_kmigrate.providers.owned.readiness import zookeeper_mode
from pytest_kmigrate.providers.owned.software import Software
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from pytest_kmigrate.providers.owned.tools import CONFIG_TOOL, dumped, run_tool, tool_ran
from pytest_kmigrate.providers.raft_batches import batches_of
from pytest_kmigrate.providers.serving import await_brokers_known
from pytest_kmigrate.providers.zookeeper_log import transactions_in


class OwnedCluster:
    """A live cluster; made by ``provision`` only."""

    own = Own()
    zookeeper_tls = None
    """Its servers have a plain port, too."""

    def __init__(self, topology: Topology, software: Software, around: Surroundings) -> None:
        self.topology = topology
        self.addresses = around.addresses
        self.listen_host = around.addresses.listen_host
        self.links = ProxiedLinks(around.addresses, around.logs, around.network)
        self.supervision = around.supervision
        self.software = software
        self.recorder = around.recorder
        self.jolokia = JolokiaClient()
        self.scratch = around.scratch
        self.capabilities = frozenset(Capability) - software.lacking
        self._protection = around.protection
        self._jvm = around.jvm
        self._nodes = [OwnedNode(spec, software.distributions[spec.kafka], around) for spec in topology.nodes]

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
        """Where ZooKeeper's servers listen, past the links: ``host:port,...`` and the chroot; empty without any."""
        servers = ",".join(f"{node.address}:{ZOOKEEPER_PORT}" for node in self.nodes(Role.ZOOKEEPER))
        return servers + self.topology.chroot if servers else ""

    def zookeeper_reached_by(self, process: str) -> str:
        """ZooKeeper's servers as a process reaches them over links of its own, by which faults name it."""
        links = [Link(process, node.name, ZOOKEEPER_PORT) for node in self.nodes(Role.ZOOKEEPER)]
        return ",".join(self.links.add(links)) + self.topology.chroot if links else ""

    @property
    def zookeeper_superuser(self) -> str | None:
        """The credential (scheme ``digest``) of ZooKeeper's superuser; None if ZooKeeper has no logins."""
        login = self._protection.zookeeper
        return login.superuser if login else None

    def makes(self, topics: Sequence[str], group: str) -> None:
        """Anything, since the cluster goes with the run."""

    def nodes(self, role: Role | None = None) -> Sequence[OwnedNode]:
        """The nodes that play a role, or all."""
        return playing(self._nodes, role)

    def node(self, name: str) -> OwnedNode:
        """The node of this name."""
        return named(self._nodes, name)

    def start_initial(self) -> None:
        """Start every node that the topology starts at once; what brokers must find is there before them.

        A ZooKeeper that begins to listen is not ready yet: it turns clients away, who then wait for up to 2 s, or, for
        a moment, takes them in and forgets them, and a broker ends after 18 s.
        """
        if any(node.mode is BrokerMode.KRAFT for node in self.nodes(Role.BROKER)):
            credential = self._protection.format_arguments()
            self._format(self._of_kafka(), storage.new_cluster_id(), None, credential)
        self.start_together([*self._at_once(Role.ZOOKEEPER), *self._at_once(Role.CONTROLLER)])
        self._put_credential_into_zookeeper()
        self.start_together([node for node in self._at_once(Role.BROKER) if not node.spec.plays(Role.CONTROLLER)])

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Start several nodes in parallel; return when all are ready, raise the first failure otherwise."""
        for node in nodes:
            node.start(wait=False)
        self.await_ready(nodes)

    def await_ready(self, nodes: Sequence[Node]) -> None:
        """Return when all are ready; see ``await_all_ready``."""
        if nodes:
            await_all_ready([self.node(node.name) for node in nodes])

    def machine_troubles(self) -> Mapping[str, str]:
        """By name of a node, what it logs that this machine lacks."""
        lacking = {node.name: node.machine_trouble() for node in self._nodes}
        return {name: trouble for name, trouble in lacking.items() if trouble}

    def await_serving(self) -> None:
        """Return when every broker reports all others and a controller to clients: before, an admin may hang."""
        await_brokers_known(self, own=self.bootstrap_servers().split(","))

    def format_controllers(
        self, cluster_id: str, release_version: str | None = None, records: Sequence[bytes] = ()
    ) -> None:
        """Format the disks of the controllers with Kafka's own storage tool, all for one metadata.version."""
        self._format(self.nodes(Role.CONTROLLER), cluster_id, release_version, ())
        if records:
            storage.begin_with(self.nodes(Role.CONTROLLER), records)

    def freeze(self, folder: Path, before_controllers: Callable[[], None] = lambda: None) -> Frozen:
        """Stop brokers, controllers, ZooKeeper, and copy the disks; ``before_controllers`` is called in between."""
        if self.topology.security.has_passwords:
            raise WrongUseError(
                f"{self.topology.name}: expected a topology without logins to freeze: passwords are a cluster's own"
            )
        return freeze(self._nodes, folder, before_controllers)

    def thaw(self, folder: Path, frozen: Frozen) -> None:
        """Start from the disks of a frozen cluster what was up in it; ZooKeeper first, then all others at once."""
        put_back(self._nodes, folder, frozen)
        up = [node for node in self._nodes if frozen.nodes[node.name].is_up]
        self.start_together([node for node in up if node.spec.role is Role.ZOOKEEPER])
        self.start_together([node for node in up if node.spec.role is not Role.ZOOKEEPER])

    def bootstrap_servers(self, listener: str = Listener.CLIENT) -> str:
        """For clients of a listener, over the clients' links."""
        brokers = self.topology.of_role(Role.BROKER)
        ports = self.addresses.client_ports
        if listener not in ports:
            raise WrongUseError(f"listener: expected one of {', '.join(ports)}; got {listener!r}")
        return ",".join(f"{self.addresses.seen_from(CLIENTS, spec.name)}:{ports[listener]}" for spec in brokers)

    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> AbstractContextManager[Callable[[], str | None]]:
        """Arm a crash point in these running nodes; the first to reach it is held there, and the callable names it."""
        own = [self.node(node.name) for node in nodes]
        return crash_points.held(point, own, self.scratch / "crash-points", self.software.byteman)

    def slow_fsync(self, nodes: Sequence[Node], delay_ms: int) -> AbstractContextManager[Callable[[], Sequence[str]]]:
        """Have each fsync of a log in these running nodes last longer; the callable names those that made one."""
        own = [self.node(node.name) for node in nodes]
        return crash_points.delayed(own, delay_ms, self.scratch / "crash-points", self.software.byteman)

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """The supervisor, and the proxies of the links if they are its child."""
        found = {"the supervisor": self.supervision.pid}
        with suppress(psutil.Error):
            for each in psutil.Process(self.supervision.pid).children():
                if each.exe() == str(self.software.toxiproxy.resolve()):
                    found["the proxies of the links"] = each.pid
        return found

    def client_connection(self, listener: str = Listener.CLIENT) -> dict[str, str]:
        """What librdkafka needs to reach a listener and be let in: ``bootstrap.servers`` and security properties."""
        servers = self.bootstrap_servers(listener)
        return {"bootstrap.servers": servers, **self._protection.client_properties(listener)}

    def peer(self, node: str) -> Peer:
        """A broker's own client listener, or a controller's of the quorum, past the links."""
        role = self.node(node).spec.role
        address = f"{self.addresses.real(node)}:{ANSWERS_AT[role]}"
        if role is not Role.CONTROLLER:
            return Peer(address, self._protection.client_properties())
        return Peer(address, self._protection.client_properties(Listener.CONTROLLER))

    def metrics(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Metrics of a broker or controller as its Jolokia agent reports them; None for each if it does not answer."""
        asked = self.node(node)
        return self.jolokia.metrics_at(asked.metrics_url, asked.spec.role, names)

    def requests_received(self, node: str) -> Mapping[tuple[str, int], int]:
        """How many requests a node has received since its start, by name and version."""
        try:
            return self.jolokia.requests_at(self.node(node).metrics_url)
        except OSError as error:
            raise ClusterError(f"{node}: expected its counts of requests; got {error}") from error

    def live_heap(self, node: str) -> int:
        """Bytes of a node's heap in use right after it collected all garbage."""
        try:
            return self.jolokia.live_heap_at(self.node(node).metrics_url)
        except OSError as error:
            raise ClusterError(f"{node}: expected the size of its heap; got {error}") from error

    def executed(self, node: str, *, anew: bool = False) -> list[bytes]:
        """What a node's JVMs have executed; see ``Cluster.executed``."""
        return self.node(node).executed(anew=anew)

    def clock_of(self, node: str) -> float | None:
        """What a broker or controller takes for the time, by its Jolokia agent."""
        return self.jolokia.clock_at(self.node(node).metrics_url)

    def zookeeper_mode(self, node: str) -> str | None:
        """``leader``, ``follower`` or ``standalone``; None when the server does not serve."""
        return zookeeper_mode(self.node(node).address)

    def zookeeper_log(self, after_zxid: int) -> list[Transaction]:
        """What ZooKeeper logged after a transaction: from the leader, or the server that is furthest."""
        servers = self.nodes(Role.ZOOKEEPER)
        leading = [node for node in servers if node.alive and zookeeper_mode(node.address) in ("leader", "standalone")]
        epoch_ns = time.time_ns() - self.recorder.now_ns()
        logs = [
            transactions_in(
                node.disk / "version-2", after_zxid, lambda ms: ms * 1_000_000 - epoch_ns, self.topology.chroot
            )
            for node in leading or servers
        ]
        return max(logs, key=lambda log: log[-1].zxid if log else -1, default=[])

    def metadata_log(self, node: str) -> list[dict[str, Any]]:
        """Every record of a node's metadata log, decoded by Kafka's own tool and without secrets."""
        read = self.node(node)
        return decoded(read.metadata_dir, partial(dumped, self._jvm, read.distribution), self.scratch)

    def metadata_snapshots(self, node: str) -> list[str]:
        """The names of the snapshots of the metadata log on a node's disk, in order."""
        return snapshots_in(self.node(node).metadata_dir)

    def metadata_batches(self, node: str) -> list[Batch]:
        """What a node has of the metadata log on its disk, batch by batch; none where it has no log."""
        return batches_of(self.node(node).metadata_dir)

    def run_tool(self, node: str, tool: str, arguments: Sequence[str]) -> ToolRan:
        """Run one of Kafka's own tools, of the release and with the names that this node knows; recorded."""
        ran = tool_ran(self._jvm, self.node(node), tool, arguments)
        self.recorder.record(ran, node)
        return ran

    def spawn(self, argv: Sequence[str], errors: Path) -> Popen[bytes]:
        """Start a process that the supervisor ends with the cluster; its stdin and stdout are pipes."""
        errors.parent.mkdir(parents=True, exist_ok=True)
        with errors.open("ab") as said:
            process = Popen(argv, stdin=PIPE, stdout=PIPE, stderr=said, process_group=0)
        self.supervision.adopt(process.pid)
        return process

    def _at_once(self, role: Role) -> list[OwnedNode]:
        return [node for node in self.nodes(role) if node.spec.start == "at-once"]

    def _put_credential_into_zookeeper(self) -> None:
        """Brokers in ZooKeeper mode let each other in by credentials that must be there before the first one starts."""
        brokers = [node for node in self.nodes(Role.BROKER) if node.mode is BrokerMode.ZOOKEEPER]
        if not brokers:
            return
        if arguments := self._protection.scram_in_zookeeper(self.zookeeper_servers):
            make_chroot(self.zookeeper_servers, self.zookeeper_superuser)
            doing = "putting the first credential into ZooKeeper"
            run_tool(self._jvm, brokers[0], CONFIG_TOOL, arguments, doing)

    def _of_kafka(self) -> Sequence[OwnedNode]:
        return [node for node in self._nodes if node.spec.role is not Role.ZOOKEEPER]

    def _format(self, nodes: Sequence[OwnedNode], cluster_id: str, level: str | None, more: Sequence[str]) -> None:
        """Format for one metadata.version: the one given, the topology's, or the highest that every node knows."""
        releases = [node.kafka for node in self._of_kafka()]
        chosen = level or self.topology.metadata_version or storage.common_level(releases)
        arguments = ["--release-version", chosen] if chosen else []
        voters = storage.initial_controllers(self.nodes(Role.CONTROLLER)) if self.topology.dynamic_quorum else []

        def of_node(node: OwnedNode) -> list[str]:
            return voters if node.spec.plays(Role.CONTROLLER) else []

        storage.format_disks(nodes, self._jvm, cluster_id, [*arguments, *more], of_node)


def await_all_ready(nodes: Sequence[OwnedNode]) -> None:
    """Return when all are ready; NodeDiedError as soon as one has died by itself, whatever the others still wait for.

    The end of one that the run itself killed or stopped is raised when the others are ready. The wait ends after a
    Ctrl-C, which only the thread that called hears of.
    """
    died: list[BaseException] = []

    def give_up() -> None:
        if died:
            raise died[0]

    def ended_meanwhile(node: OwnedNode) -> NodeDiedError | None:
        try:
            node.await_ready(abort=give_up)
        except NodeDiedError as error:
            if not error.is_recorded:
                return error
            died.append(error)
            raise
        return None

    with ThreadPoolExecutor(len(nodes)) as pool:
        try:
            ended = list(pool.map(ended_meanwhile, nodes))
        except BaseException as error:
            died.append(error)
            raise
    for died_by_order in filter(None, ended):
        raise died_by_order
