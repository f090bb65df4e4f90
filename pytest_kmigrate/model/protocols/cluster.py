"""What a provider made of a topology."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import Popen
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability, Own
from pytest_kmigrate.model.checkpoint import Frozen
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.model.history import Batch, Transaction
from pytest_kmigrate.model.links import Links
from pytest_kmigrate.model.peer import Peer, ZookeeperTls
from pytest_kmigrate.model.protocols.nodes import CrashPoint, Node, Record
from pytest_kmigrate.model.topology import Listener, Role, Topology


class Cluster(Protocol):
    """What a provider made of a topology."""

    @property
    def topology(self) -> Topology: ...
    @property
    def capabilities(self) -> frozenset[Capability]: ...
    @property
    def links(self) -> Links: ...
    @property
    def quorum_voters(self) -> str:
        """The value of ``controller.quorum.voters``."""

    @property
    def zookeeper_connect(self) -> str:
        """The value of ``zookeeper.connect``."""

    @property
    def zookeeper_servers(self) -> str:
        """Where ZooKeeper's servers listen, past the links: ``host:port,...`` and the chroot; empty without any."""

    def zookeeper_reached_by(self, process: str) -> str:
        """ZooKeeper's servers for a process besides nodes, over links of its own that have its name; once for each."""

    @property
    def zookeeper_superuser(self) -> str | None:
        """The credential (scheme ``digest``) of ZooKeeper's superuser; None if ZooKeeper has no logins."""

    @property
    def zookeeper_tls(self) -> ZookeeperTls | None:
        """What reaching those servers by TLS needs; None: they are reached without."""

    @property
    def listen_host(self) -> str:
        """An address of this machine at which a process of ours listens, so that nodes reach it past the links."""

    @property
    def own(self) -> Own:
        """How what a run makes in the cluster is named, and how much it may do there."""

    def makes(self, topics: Sequence[str], group: str) -> None:
        """Note that a run makes these, which go with it at the latest; ClusterError where it may not."""

    @property
    def parts(self) -> Mapping[str, int]:
        """Processes of the harness that this cluster needs on this machine, by what they are."""

    @property
    def scratch(self) -> Path:
        """A folder of this machine that others cannot read and that goes with the cluster."""

    def nodes(self, role: Role | None = None) -> Sequence[Node]:
        """The nodes that play a role, or all; combined nodes play both of Kafka's roles."""

    def node(self, name: str) -> Node: ...
    def start_initial(self) -> None:
        """Start every node that the topology starts at once; return when all are ready."""

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Start several nodes in parallel; return when all are ready, as ``await_ready`` does."""

    def await_ready(self, nodes: Sequence[Node]) -> None:
        """Return when all of these nodes, which were started, are ready.

        NodeDiedError at once for one that died by itself; for one that the run ended, when the others are ready.
        """

    def machine_troubles(self) -> Mapping[str, str]:
        """By name of a node, what it reports that this machine lacks, such as room on a disk; empty if nothing."""

    def await_serving(self) -> None:
        """Return when every broker reports all others and a controller to clients: before, an admin may hang."""

    def format_controllers(
        self, cluster_id: str, release_version: str | None = None, records: Sequence[bytes] = ()
    ) -> None:
        """Format the disks of the controllers with Kafka's own storage tool, all for one metadata.version.

        Default: the topology's, or else the highest that all brokers and controllers know. ``records`` are what their
        logs begin with besides.
        """

    def freeze(self, folder: Path, before_controllers: Callable[[], None] = ...) -> Frozen:
        """Stop brokers, controllers and ZooKeeper, in this order, and copy every disk into ``folder``.

        ``before_controllers`` is called while brokers are down and controllers still up. WrongUseError where clients or
        nodes log in: a cluster's passwords are in its metadata, and another one has others.
        """

    def thaw(self, folder: Path, frozen: Frozen) -> None:
        """Start a new cluster of the same topology from these disks; return when all that was up then is ready."""

    def bootstrap_servers(self) -> str:
        """For clients, over the clients' links."""

    def client_connection(self, listener: str = Listener.CLIENT) -> dict[str, str]:
        """What librdkafka needs to reach a listener and be let in: ``bootstrap.servers`` and security properties.

        WrongUseError, naming those there are, when clients have no listener of this name.
        """

    def peer(self, node: str) -> Peer:
        """A broker's own client listener, past the links, or a controller's; WrongUseError where that needs a login."""

    def metrics(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """These metrics of a node, by the catalogue's names, read now; None for what it does not expose or answer."""

    def requests_received(self, node: str) -> Mapping[tuple[str, int], int]:
        """How many requests Kafka has received since its start, by name and version; ClusterError when silent."""

    def live_heap(self, node: str) -> int:
        """Bytes of a node's heap in use right after it collected all garbage; ClusterError when silent."""

    def executed(self, node: str, *, anew: bool = False) -> Sequence[bytes]:
        """What a node's JVMs have executed of the watched classes, as JaCoCo's execution data.

        One reading of each JVM that ended since the last call, from right before its end, and one of the present JVM;
        with ``anew`` the present one begins anew after it. A JVM that does not answer has none.
        """

    def clock_of(self, node: str) -> float | None:
        """What a broker or controller takes for the time, in seconds since 1970; None if it does not answer."""

    def zookeeper_mode(self, node: str) -> str | None:
        """``leader``, ``follower`` or ``standalone``; None when the server does not serve."""

    def zookeeper_log(self, after_zxid: int) -> Sequence[Transaction]:
        """What ZooKeeper logged after a transaction, by zxid: from the leader, or the server that is furthest.

        ClusterError where a log cannot be read.
        """

    def metadata_log(self, node: str) -> Sequence[Record]:
        """Every record of a node's metadata log, decoded by Kafka's own tool and without secrets.

        Each is ``{"offset", "timestamp_ms", "type", "version", "data", "snapshot"}``.
        """

    def metadata_snapshots(self, node: str) -> Sequence[str]:
        """The file names of the snapshots of a node's metadata log, in order: ``<offset>-<epoch>.checkpoint``."""

    def metadata_batches(self, node: str) -> Sequence[Batch]:
        """What a node has of the metadata log on its disk, batch by batch; none where it has no log."""

    def run_tool(self, node: str, tool: str, arguments: Sequence[str]) -> ToolRan:
        """Run one of Kafka's own tools to its end, of the release and with the names that this node knows; recorded.

        In an argument ``{bootstrap}`` stands for where this node serves, ``{config}`` for its properties file. The
        tool's status is no error of ours; WrongUseError when the release has no such tool.
        """

    def spawn(self, argv: Sequence[str], errors: Path) -> Popen[bytes]:
        """Start a process here that ends with the cluster; stdin and stdout are pipes, ``errors`` gets its stderr."""

    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> AbstractContextManager[Callable[[], str | None]]:
        """Arm a crash point in these running nodes; the first to reach it is held there, and the callable names it."""

    def slow_fsync(self, nodes: Sequence[Node], delay_ms: int) -> AbstractContextManager[Callable[[], Sequence[str]]]:
        """Have each fsync of a log in these running nodes last longer; the callable names those that made one."""
