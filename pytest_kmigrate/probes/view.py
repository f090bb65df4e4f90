"""A View of a live cluster: who is in charge, which phase it is in; asked directly, past the links."""

import json
from collections.abc import Callable, Mapping

from pytest_kmigrate.documents.kip_866.phases import Phase, ZkMigrationState, zk_migration_state
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.protocols import Cluster, Node, Znodes
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.partition_leaders import partition_leaders

_CONTROLLER_METRICS = ("ActiveControllerCount", "ZkMigrationState", "MigratingZkBrokerCount", "RaftCurrentEpoch")
_IN_CHARGE = (Phase.COPYING, Phase.HYBRID, Phase.ALL_KRAFT, Phase.FINALIZED)


class ClusterView:
    """Implements ``View`` by metrics and znodes."""

    def __init__(self, cluster: Cluster, znodes: Znodes | None, acked: Callable[[], int]) -> None:
        self._cluster = cluster
        self._znodes = znodes
        self._acked = acked
        self._last_phase = Phase.ZOOKEEPER

    def active_controller(self) -> str | None:
        """The KRaft leader once it is in charge, the broker named by ``/controller`` before."""
        leader, metrics = self._leading()
        if leader and self._phase(leader, metrics) in _IN_CHARGE:
            return leader
        return self.controller_in_zookeeper()

    def controller_in_zookeeper(self) -> str | None:
        """The node that ``/controller`` names."""
        holder = self._controller_znode().get("brokerid")
        named = (node for node in self._cluster.nodes() if node.spec.node_id == holder and _can_hold(node))
        return next((node.name for node in named), None)

    def quorum_leader(self) -> str | None:
        """The live controller that says it is active; of several, the one with the highest raft epoch."""
        return self._leading()[0]

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

    def migration_state(self) -> tuple[str, ZkMigrationState] | None:
        """The quorum's leader, and its ``ZkMigrationState`` by name."""
        leader, metrics = self._leading()
        state = self._state(leader, metrics) if leader else None
        return (leader, state) if leader and state else None

    def phase(self) -> Phase:
        """The operator's phase, from the state metric, ``/controller`` and the brokers' modes."""
        leader, metrics = self._leading()
        return self._phase(leader, metrics)

    def metric(self, node: str, name: str) -> float | None:
        """One metric of one node, read now; WrongUseError when the probes' catalogue has none of this name."""
        check_metric(name)
        return self._cluster.metrics(node, [name]).get(name) if self._cluster.node(node).alive else None

    def acked_operations(self) -> int:
        """How many writes were acknowledged so far."""
        return self._acked()

    def _leading(self) -> tuple[str | None, Mapping[str, float | None]]:
        """The leader and its metrics; a paused or cut leader may go on claiming, so the highest epoch wins."""
        claims = []
        for node in self._cluster.nodes(Role.CONTROLLER):
            metrics = self._cluster.metrics(node.name, _CONTROLLER_METRICS) if node.alive else {}
            if metrics.get("ActiveControllerCount") == 1:
                claims.append((metrics.get("RaftCurrentEpoch") or 0, node.name, metrics))
        if not claims:
            return None, {}
        _, name, metrics = max(claims, key=lambda claim: claim[0])
        return name, metrics

    def _phase(self, leader: str | None, metrics: Mapping[str, float | None]) -> Phase:
        if not self._cluster.topology.has_zookeeper:
            return Phase.FINALIZED
        if not any(node.alive for node in self._cluster.nodes(Role.CONTROLLER)):
            # All away for a moment, or for good: until somebody else claims the cluster it stands where it stood.
            self._last_phase = self._last_phase if self._claimed_by_kraft() else Phase.ZOOKEEPER
        else:
            state = self._state(leader, metrics) if leader else None
            # Between two leaders nobody says where the migration stands: it stands where it stood.
            self._last_phase = self._phase_in(state, metrics) if state else max(self._last_phase, Phase.PREPARING)
        return self._last_phase

    def _phase_in(self, state: ZkMigrationState, metrics: Mapping[str, float | None]) -> Phase:
        if state is ZkMigrationState.POST_MIGRATION:
            return Phase.FINALIZED
        if state is ZkMigrationState.MIGRATION:
            return Phase.HYBRID if self._zk_brokers(metrics) else Phase.ALL_KRAFT
        return Phase.COPYING if self._claimed_by_kraft() else Phase.PREPARING

    def _state(self, leader: str, metrics: Mapping[str, float | None]) -> ZkMigrationState | None:
        number = metrics.get("ZkMigrationState")
        return None if number is None else zk_migration_state(int(number), self._cluster.node(leader).kafka)

    def _zk_brokers(self, metrics: Mapping[str, float | None]) -> int:
        count = metrics.get("MigratingZkBrokerCount")
        if count is not None:
            return int(count)
        return sum(node.mode is BrokerMode.ZOOKEEPER for node in self._cluster.nodes(Role.BROKER))

    def _claimed_by_kraft(self) -> bool:
        return self._controller_znode().get("kraftControllerEpoch", -1) >= 0

    def _controller_znode(self) -> dict[str, int]:
        data = self._znodes.get("/controller") if self._znodes else None
        return json.loads(data) if data else {}


def _can_hold(node: Node) -> bool:
    return node.spec.role is not Role.ZOOKEEPER
