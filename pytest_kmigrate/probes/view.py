"""A View of a live cluster: its states, and which node is in charge; read directly, past the links."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pytest_kmigrate.model.document import ClusterReader, Document, check_state
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.model.protocols import Cluster, Reading
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.partition_leaders import partition_leaders
from pytest_kmigrate.probes.quorum import leading


class ClusterView:
    """Implements ``View`` by metrics, znodes and what a document reads from them."""

    def __init__(
        self,
        document: Document,
        cluster: Cluster,
        znodes: Znodes | None,
        acked: Callable[[], int],
        last: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``last`` has values of states that were read before, in a cluster that this one takes up from."""
        self._states = {state.name: state for state in document.states}
        self._in_charge = document.in_charge
        self._cluster = cluster
        self._acked = acked
        self._last = dict(last)
        self._reader = ClusterReader(cluster, znodes, self._last.get)

    @property
    def states(self) -> Sequence[str]:
        """The names of the document's states."""
        return tuple(self._states)

    def state(self, name: str) -> Reading | None:
        """One of the document's states, read now."""
        check_state(name, self.states)
        reading = self._states[name].read(self._reader)
        if reading is not None:
            self._last[name] = reading.value
        return reading

    def active_controller(self) -> str | None:
        """The node in charge, by the document; the quorum's leader where it leaves that to the quorum."""
        return self._in_charge(self._reader) if self._in_charge else self.quorum_leader()

    def quorum_leader(self) -> str | None:
        """The live controller that reports to be active; of several, the one with the highest raft epoch."""
        return leading(self._cluster)[0]

    def zookeeper_leader(self) -> str | None:
        """The server that leads the ensemble, or stands alone."""
        for node in self._cluster.nodes(Role.ZOOKEEPER):
            if node.alive and self._cluster.zookeeper_mode(node.name) in ("leader", "standalone"):
                return node.name
        return None

    def partition_leader(self, topic: str, partition: int) -> str | None:
        """The broker that leads a partition, as the brokers' metadata say."""
        leader = partition_leaders(self._cluster.client_connection()).get((topic, partition))
        return next((node.name for node in self._cluster.nodes(Role.BROKER) if node.spec.node_id == leader), None)

    def metric(self, node: str, name: str) -> float | None:
        """One metric of one node, read now; WrongUseError when the probes' catalogue has none of this name."""
        check_metric(name)
        return self._cluster.metrics(node, [name]).get(name) if self._cluster.node(node).alive else None

    def acked_operations(self) -> int:
        """How many writes were acknowledged so far."""
        return self._acked()
