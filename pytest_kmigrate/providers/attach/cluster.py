"""A cluster that somebody else runs, as a run sees it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen
from typing import NoReturn

from pytest_kmigrate.model.capabilities import Capability, Own, require
from pytest_kmigrate.model.checkpoint import Frozen
from pytest_kmigrate.model.errors import ClusterError, NotApplicableError, WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import ToolRan
from pytest_kmigrate.model.history import Batch, Transaction
from pytest_kmigrate.model.peer import Peer, ZookeeperTls
from pytest_kmigrate.model.protocols import CrashPoint, Node, Record
from pytest_kmigrate.model.topology import Listener, Role
from pytest_kmigrate.providers.attach.around import around
from pytest_kmigrate.providers.attach.file.loading import Site
from pytest_kmigrate.providers.attach.healing import heal_own
from pytest_kmigrate.providers.attach.links import HookedLinks
from pytest_kmigrate.providers.attach.looking import greeting
from pytest_kmigrate.providers.attach.making import Making
from pytest_kmigrate.providers.attach.metadata import MetadataLogs
from pytest_kmigrate.providers.attach.metrics import MetricsReader
from pytest_kmigrate.providers.attach.node import AttachedNode
from pytest_kmigrate.providers.nodes import named, playing
from pytest_kmigrate.providers.serving import await_brokers_known
from pytest_kmigrate.providers.zookeeper_words import mode_of

_ANSWER_WITHIN_S = 2.0


@dataclass(frozen=True)
class Readers:
    """What reads of nodes what only their operator can show."""

    metrics: MetricsReader
    metadata: MetadataLogs


class AttachedCluster:
    """Implements ``Cluster``. What the provider does not offer raises NotApplicableError, recorded."""

    def __init__(
        self,
        site: Site,
        offered: frozenset[Capability],
        recorder: Recorder,
        logs: Path,
        scratch: Path,
        readers: Readers,
    ) -> None:
        self.topology = site.topology
        self.capabilities = offered
        self.scratch = scratch
        self.spawned: list[Popen[bytes]] = []
        self._site = site
        self._recorder = recorder
        self._metrics = readers.metrics
        self._metadata = readers.metadata
        self._around = around(site, recorder, offered)
        self.journal = self._around.journal
        self._making = Making(site, self.journal)
        self.links = HookedLinks(self._around)
        self._nodes = [AttachedNode(spec, self._around, logs) for spec in site.topology.nodes]

    def __repr__(self) -> str:
        return f"<cluster {self.topology.name} of {len(self._nodes)} nodes at {self.bootstrap_servers()}>"

    @property
    def quorum_voters(self) -> str:
        """By the addresses of the file."""
        controllers = self.topology.of_role(Role.CONTROLLER)
        return ",".join(f"{spec.node_id}@{self._site.addresses[spec.name]}" for spec in controllers)

    @property
    def zookeeper_connect(self) -> str:
        """As the file has it."""
        return self._site.zookeeper_connect

    @property
    def zookeeper_servers(self) -> str:
        """As the file has it."""
        return self._site.zookeeper_connect

    def zookeeper_reached_by(self, process: str) -> str:
        """As for everybody: links of its own need links."""
        self._refuse(Capability.LINKS, f"a link of its own for {process}")

    @property
    def zookeeper_superuser(self) -> str | None:
        """The login of the file."""
        return self._site.zookeeper_login

    @property
    def listen_host(self) -> str:
        """Of no use to nodes on other machines: nothing of ours is reached by them."""
        return "127.0.0.1"

    @property
    def zookeeper_tls(self) -> ZookeeperTls | None:
        """As the file has it."""
        return self._site.zookeeper_tls

    @property
    def parts(self) -> Mapping[str, int]:
        """It needs none of ours."""
        return {}

    @property
    def own(self) -> Own:
        """By the prefixes and limits of the file."""
        return self._making.own

    def makes(self, topics: Sequence[str], group: str) -> None:
        """In the hours of the file, and under names of ours."""
        self._around.limits.require_hours("writing records")
        self._making.note(topics, group)

    def heal(self) -> None:
        """Undo what this run has done and not undone, and remove what it made; ClusterError where that fails."""
        heal_own(self._site, self.journal, self._recorder)

    def nodes(self, role: Role | None = None) -> Sequence[AttachedNode]:
        """The nodes that play a role, or all."""
        return playing(self._nodes, role)

    def node(self, name: str) -> AttachedNode:
        """The node of this name."""
        return named(self._nodes, name)

    def look_at(self, node: AttachedNode) -> Callable[[], None]:
        """What looks at a node, so that its coming and going is recorded."""
        return partial(self._around.looker.look, node.name)

    def start_initial(self) -> None:
        """Nothing is started; ClusterError when a broker or a server of ZooKeeper does not answer."""
        silent = [node.name for node in self._nodes if node.spec.start == "at-once" and not node.alive]
        if silent:
            raise ClusterError(f"{self.topology.name}: expected every broker to answer; {', '.join(silent)} did not")

    def start_together(self, nodes: Sequence[Node]) -> None:
        """Refused, or done one after the other."""
        for node in nodes:
            node.start()

    def await_ready(self, nodes: Sequence[Node]) -> None:
        """Return when each answers."""
        for node in nodes:
            node.await_ready()

    def machine_troubles(self) -> Mapping[str, str]:
        """Of its machines nothing is known."""
        return {}

    def await_serving(self) -> None:
        """Return when every broker reports all others and a controller to clients."""
        await_brokers_known(self)

    def format_controllers(
        self, cluster_id: str, release_version: str | None = None, records: Sequence[bytes] = ()
    ) -> None:
        """Refused."""
        self._refuse(Capability.WIPE, "formatting controllers")

    def freeze(self, folder: Path, before_controllers: Callable[[], None] = lambda: None) -> Frozen:
        """Refused."""
        self._refuse(Capability.CHECKPOINT, "a copy of the disks")

    def thaw(self, folder: Path, frozen: Frozen) -> None:
        """Refused."""
        self._refuse(Capability.CHECKPOINT, "beginning from copies of disks")

    def bootstrap_servers(self) -> str:
        """As the file has them."""
        return ",".join(self._site.file.bootstrap)

    def client_connection(self, listener: str = Listener.CLIENT) -> dict[str, str]:
        """What lets clients in at the one listener of the file."""
        if listener != Listener.CLIENT:
            raise WrongUseError(f"listener: expected {Listener.CLIENT}; got {listener!r}")
        return {"bootstrap.servers": self.bootstrap_servers(), **self._site.client}

    def peer(self, node: str) -> Peer:
        """A broker's own listener of clients, or a controller's; NotApplicableError where that needs a login."""
        spec, address = self.node(node).spec, str(self._site.addresses[node])
        if spec.role is not Role.CONTROLLER:
            return Peer(address, self._site.client)
        protocol = self._site.quorum["security.protocol"]
        if protocol.startswith("SASL"):
            raise NotApplicableError(
                f"{node}: an attached quorum is asked nothing that needs a login, as {protocol} does"
            )
        return Peer(address, greeting(self._site, Role.CONTROLLER))

    def metrics(self, node: str, names: Iterable[str]) -> Mapping[str, float | None]:
        """As the file says where."""
        return self._metrics.read(node, names)

    def requests_received(self, node: str) -> Mapping[tuple[str, int], int]:
        """By its metrics; ClusterError where these do not count requests."""
        return self._metrics.requests(node)

    def executed(self, node: str, *, anew: bool = False) -> Sequence[bytes]:
        """Refused."""
        self._refuse(Capability.EXERCISE, f"what {node} executes")

    def live_heap(self, node: str) -> int:
        """Not asked: a collection of garbage is more than a look."""
        raise ClusterError(f"{node}: expected the size of its heap; a cluster that is attached to collects none for us")

    def clock_of(self, node: str) -> float | None:
        """Not asked: no clock of it is set."""
        self._refuse(Capability.CLOCKS, f"the clock of {node}")

    def zookeeper_mode(self, node: str) -> str | None:
        """``leader``, ``follower`` or ``standalone``; None when the server does not serve."""
        address = self._site.addresses[self.node(node).name]
        return mode_of((address.host, address.port), _ANSWER_WITHIN_S, self._site.zookeeper_tls)

    def zookeeper_log(self, after_zxid: int) -> Sequence[Transaction]:
        """Refused."""
        self._refuse(Capability.ZOOKEEPER_LOG, "ZooKeeper's log")

    def metadata_log(self, node: str) -> Sequence[Record]:
        """By the command of the file."""
        self._require(Capability.METADATA_LOG, f"the metadata log of {node}")
        return self._metadata.records(node)

    def metadata_snapshots(self, node: str) -> Sequence[str]:
        """By the command of the file."""
        self._require(Capability.METADATA_LOG, f"the snapshots of {node}")
        return self._metadata.snapshots(node)

    def metadata_batches(self, node: str) -> Sequence[Batch]:
        """By the command of the file."""
        self._require(Capability.METADATA_LOG, f"the metadata log of {node}")
        return self._metadata.batches(node)

    def run_tool(self, node: str, tool: str, arguments: Sequence[str]) -> ToolRan:
        """Refused."""
        self._refuse(Capability.TOOLS, tool)

    def spawn(self, argv: Sequence[str], errors: Path) -> Popen[bytes]:
        """Start a process here that ends with the run; stdin and stdout are pipes."""
        errors.parent.mkdir(parents=True, exist_ok=True)
        with errors.open("ab") as said:
            self.spawned.append(Popen(argv, stdin=PIPE, stdout=PIPE, stderr=said, process_group=0))
        return self.spawned[-1]

    def hold_at(self, point: CrashPoint, nodes: Sequence[Node]) -> AbstractContextManager[Callable[[], str | None]]:
        """Refused."""
        self._refuse(Capability.CRASH_POINTS, f"crash point {point}")

    def slow_fsync(self, nodes: Sequence[Node], delay_ms: int) -> AbstractContextManager[Callable[[], Sequence[str]]]:
        """Refused."""
        self._refuse(Capability.CRASH_POINTS, "a slow fsync")

    def _require(self, capability: Capability, what: str) -> None:
        require(self.capabilities, frozenset({capability}), what, self._recorder)

    def _refuse(self, capability: Capability, what: str) -> NoReturn:
        self._require(capability, what)
        raise AssertionError(f"{capability} is offered, and nothing does it")
