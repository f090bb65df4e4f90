"""The process provider: from a Topology to a live cluster of JVMs on one leased loopback block."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from pytest_kmigrate.distributions.cds import flags_to_use
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checkpoint import Frozen
from pytest_kmigrate.model.errors import NodeDiedError, WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import CrashPoint, Node
from pytest_kmigrate.model.topology import BrokerMode, Role, Topology
from pytest_kmigrate.providers.jolokia import JolokiaClient
from pytest_kmigrate.providers.metadata_log import decoded
from pytest_kmigrate.providers.process import lease as leases
from pytest_kmigrate.providers.process import storage
from pytest_kmigrate.providers.process.agents import crash_points
from pytest_kmigrate.providers.process.freezing import freeze, put_back
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.network.addresses import CLIENT_PORT, CLIENTS, ZOOKEEPER_PORT, Addresses
from pytest_kmigrate.providers.process.network.links import ProxiedLinks
from pytest_kmigrate.providers.process.network.proxies import start_toxiproxy
from pytest_kmigrate.providers.process.node import ProcessNode, Surroundings
from pytest_kmigrate.providers.process.properties import quorum_voters, zookeeper_connect
from pytest_kmigrate.providers.process.readiness import zookeeper_mode
from pytest_kmigrate.providers.process.security import client_file, protect
from pytest_kmigrate.providers.process.software import Software
from pytest_kmigrate.providers.process.supervision import Supervision
from pytest_kmigrate.providers.process.tools import CONFIG_TOOL, run_tool, tool_ran
from pytest_kmigrate.providers.serving import await_brokers_known

_DUMP_FLAGS = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class ProcessCluster:
    """A live cluster; made by ``provision`` only."""

    capabilities = frozenset(Capability)

    def __init__(self, topology: Topology, software: Software, around: Surroundings) -> None:
        self.topology = topology
        self.addresses = around.addresses
        self.links = ProxiedLinks(around.addresses)
        self.supervision = around.supervision
        self.software = software
        self.recorder = around.recorder
        self.jolokia = JolokiaClient()
        self.scratch = around.scratch
        self._protection = around.protection
        self._jvm = around.jvm
        self._nodes = [ProcessNode(spec, software.distributions[spec.kafka], around) for spec in topology.nodes]

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
        """Where ZooKeeper's servers listen, past the links: ``host:port,...``; empty without ZooKeeper."""
        return ",".join(f"{node.address}:{ZOOKEEPER_PORT}" for node in self.nodes(Role.ZOOKEEPER))

    def nodes(self, role: Role | None = None) -> Sequence[ProcessNode]:
        """The nodes of one role, or all."""
        return [node for node in self._nodes if role is None or node.spec.role is role]

    def node(self, name: str) -> ProcessNode:
        """The node of this name."""
        for node in self._nodes:
            if node.name == name:
                return node
        raise WrongUseError(f"node: expected one of {', '.join(each.name for each in self._nodes)}; got {name!r}")

    def start_initial(self) -> None:
        """Start every node that the topology starts at once; what brokers must find is there before them.

        A ZooKeeper that begins to listen is not ready yet: it turns clients away, who then wait for up to 2 s, or, for
        a moment, takes them in and forgets them, and a broker ends after 18 s.
        """
        if any(node.mode is BrokerMode.KRAFT for node in self.nodes(Role.BROKER)):
            credential = self._protection.format_arguments()
            storage.format_disks(self._born_kraft(), self._jvm, storage.new_cluster_id(), credential)
        self.start_together([*self._at_once(Role.ZOOKEEPER), *self._at_once(Role.CONTROLLER)])
        self._put_credential_into_zookeeper()
        self.start_together(self._at_once(Role.BROKER))

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Start several nodes in parallel; return when all are ready, raise the first failure otherwise.

        One that died ends the wait for the others, too.
        """
        if not nodes:
            return
        for node in nodes:
            node.start(wait=False)
        await_all_ready([self.node(node.name) for node in nodes])

    def await_serving(self) -> None:
        """Return when every broker tells clients of all others and of a controller: before, an admin may hang."""
        await_brokers_known(self)

    def format_controllers(self, cluster_id: str, release_version: str | None = None) -> None:
        """Format the disks of the controllers with Kafka's own storage tool, for its release's own metadata version."""
        chosen = ["--release-version", release_version] if release_version else []
        storage.format_disks(self.nodes(Role.CONTROLLER), self._jvm, cluster_id, chosen)

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

    def bootstrap_servers(self) -> str:
        """For clients, over the clients' links."""
        brokers = self.topology.of_role(Role.BROKER)
        return ",".join(f"{self.addresses.seen_from(CLIENTS, spec.name)}:{CLIENT_PORT}" for spec in brokers)

    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> AbstractContextManager[Callable[[], str | None]]:
        """Arm a crash point in these running nodes; the first to reach it is held there, and the callable names it."""
        own = [self.node(node.name) for node in nodes]
        return crash_points.held(point, own, self.scratch / "crash-points", self.software.byteman)

    def client_connection(self) -> dict[str, str]:
        """What librdkafka needs to reach the cluster and be let in: ``bootstrap.servers`` and security properties."""
        return {"bootstrap.servers": self.bootstrap_servers(), **self._protection.client_properties()}

    def peer(self, broker: str) -> Peer:
        """A broker's own client listener, past the links, for requests to that very broker."""
        return Peer(f"{self.addresses.real(broker)}:{CLIENT_PORT}", self._protection.client_properties())

    def metrics(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """Metrics of a broker or controller as its Jolokia agent tells them; None for each when it does not answer."""
        asked = self.node(node)
        return self.jolokia.metrics_at(asked.metrics_url, asked.spec.role, names)

    def zookeeper_mode(self, node: str) -> str | None:
        """``leader``, ``follower`` or ``standalone``; None when the server does not serve."""
        return zookeeper_mode(self.node(node).address)

    def metadata_log(self, node: str) -> list[dict[str, Any]]:
        """Every record of a node's metadata log, decoded by Kafka's own tool and without secrets."""
        read = self.node(node)
        archive = read.distribution.cds_archive
        flags = (*_DUMP_FLAGS, *(flags_to_use(archive) if archive else ()))
        return decoded(read.disk, self.software.java, read.distribution.classpath, flags)

    def run_tool(self, node: str, tool: str, arguments: Sequence[str]) -> ToolRan:
        """Run one of Kafka's own tools, of the release and with the names that this node knows; recorded."""
        ran = tool_ran(self._jvm, self.node(node), tool, arguments)
        self.recorder.record(ran, node)
        return ran

    def spawn(self, argv: Sequence[str], errors: Path) -> Popen[bytes]:
        """Start a process that the supervisor ends with the cluster; its stdin and stdout are pipes."""
        errors.parent.mkdir(parents=True, exist_ok=True)
        with errors.open("ab") as said:
            process = Popen(argv, stdin=PIPE, stdout=PIPE, stderr=said)
        self.supervision.adopt(process.pid)
        return process

    def _at_once(self, role: Role) -> list[ProcessNode]:
        return [node for node in self.nodes(role) if node.spec.start == "at-once"]

    def _put_credential_into_zookeeper(self) -> None:
        """Brokers in ZooKeeper mode let each other in by credentials that must be there before the first one starts."""
        brokers = [node for node in self.nodes(Role.BROKER) if node.mode is BrokerMode.ZOOKEEPER]
        if not brokers:
            return
        if arguments := self._protection.scram_in_zookeeper(self.zookeeper_servers):
            doing = "putting the first credential into ZooKeeper"
            run_tool(self._jvm, brokers[0].distribution, CONFIG_TOOL, arguments, doing)

    def _born_kraft(self) -> Sequence[ProcessNode]:
        return [*self.nodes(Role.CONTROLLER), *self.nodes(Role.BROKER)]


@contextmanager
def provision(
    topology: Topology,
    software: Software,
    recorder: Recorder,
    logs: Path,
    *,
    rules: Path | None = None,
    keep: Callable[[], bool] = lambda: False,
) -> Iterator[ProcessCluster]:
    """A cluster whose links work and whose nodes are not started yet; nothing of it is left when the block ends.

    ``logs`` gets a folder per node; ``rules`` is a Byteman script for every Kafka JVM; ``keep``, asked at the end,
    lets the cluster outlive us.
    """
    lease = leases.take(topology)
    supervision = None
    try:
        supervision = Supervision(lease.scratch, lease.lock)
        lease.scratch.chmod(0o700)  # passwords lie there, of the nodes and of their clients
        jvm = Jvm(software.java, software.jolokia, software.byteman, rules, lease.scratch / "etc")
        jvm.write_files()
        addresses = Addresses(topology, lease.block)
        protection = protect(addresses, lease.scratch / "security")
        around = Surroundings(addresses, protection, supervision, jvm, recorder, lease.scratch, logs, software.resolve)
        _start_toxiproxy(software.toxiproxy, around)
        cluster = ProcessCluster(topology, software, around)
        with closing(cluster.jolokia):
            cluster.links.create()
            _describe(lease, cluster, logs, client_file(protection, lease.scratch))
            yield cluster
    finally:
        if supervision is not None:
            if keep():
                supervision.keep()
            else:
                supervision.end()
        lease.lock.close()


def await_all_ready(nodes: Sequence[ProcessNode]) -> None:
    """Return when all are ready; NodeDiedError as soon as one has died, whatever the others still wait for.

    Nobody waits on after a Ctrl-C, which only the thread that called hears of.
    """
    died: list[BaseException] = []

    def give_up() -> None:
        if died:
            raise died[0]

    def await_ready(node: ProcessNode) -> None:
        try:
            node.await_ready(abort=give_up)
        except NodeDiedError as error:
            died.append(error)
            raise

    with ThreadPoolExecutor(len(nodes)) as pool:
        try:
            list(pool.map(await_ready, nodes))
        except BaseException as error:
            died.append(error)
            raise


def _start_toxiproxy(program: Path, around: Surroundings) -> None:
    def gone(code: int) -> None:
        around.recorder.record(HarnessTrouble("the links' proxies are gone", f"exit code {code}"))

    log = around.logs / "toxiproxy" / "server.log"
    start_toxiproxy(program, around.addresses.toxiproxy, around.supervision, around.scratch, log, gone)


def _describe(lease: leases.Lease, cluster: ProcessCluster, logs: Path, for_tools: Path | None) -> None:
    """For ``kmigrate ps``, ``logs``, ``down`` and ``gc``."""
    state = {
        "block": lease.block,
        "supervisor": cluster.supervision.pid,
        "topology": cluster.topology.name,
        "kafka": cluster.topology.kafka,
        "bootstrap": cluster.bootstrap_servers(),
        "client_file": str(for_tools) if for_tools else None,
        "client_protocol": cluster.topology.security.client,
        "logs": str(logs.resolve()),
        "scratch": str(lease.scratch),
        "nodes": {node.name: node.address for node in cluster.nodes()},
    }
    partial = lease.state_file.with_suffix(".partial")
    partial.write_text(json.dumps(state, indent=1))
    partial.replace(lease.state_file)
