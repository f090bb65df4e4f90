"""Where a migration stands, and which node is in charge: read from metrics, znodes and the nodes' configs and modes."""

import json
from collections.abc import Mapping

from pytest_kmigrate.documents.kip_866.phases import (
    EARLY_ACCESS,
    MIGRATION_STATE,
    Phase,
    ZkMigrationState,
    zk_migration_state,
)
from pytest_kmigrate.documents.kip_866.procedure import MIGRATION_FLAG
from pytest_kmigrate.model.document import ClusterReader, State
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.model.protocols import Cluster, Reading
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.probes.quorum import leading

_METRICS = ("ZkMigrationState", "MigratingZkBrokerCount")
_LAG = "ZkWriteBehindLag"
_NONE_BEHIND = 1
"""The gauge subtracts two readings, and a no-op may be written between them."""
_IN_CHARGE = (Phase.COPYING, Phase.HYBRID, Phase.ALL_KRAFT, Phase.FINALIZED)

_Metrics = Mapping[str, float | None]


def phase(reader: ClusterReader) -> Reading:
    """The operator's phase."""
    return Reading(_phase(reader, *leading(reader.cluster, _METRICS)).name)


def migration_state(reader: ClusterReader) -> Reading | None:
    """The state that the quorum's leader reports, by name; None without a leader, or before it reports one."""
    leader, metrics = leading(reader.cluster, _METRICS)
    state = _state(reader.cluster, leader, metrics) if leader else None
    return Reading(state.value, leader) if state else None


def in_charge(reader: ClusterReader) -> str | None:
    """The quorum's leader once it has taken over, the broker that ``/controller`` names before."""
    leader, metrics = leading(reader.cluster, _METRICS)
    if leader and _phase(reader, leader, metrics) in _IN_CHARGE:
        return leader
    return controller_in_zookeeper(reader.cluster, reader.znodes)


def controller_in_zookeeper(cluster: Cluster, znodes: Znodes | None) -> str | None:
    """The node that ``/controller`` names; None when that is none of this cluster."""
    holder = _controller_znode(znodes).get("brokerid")
    named = (node for node in cluster.nodes() if node.spec.node_id == holder and node.spec.role is not Role.ZOOKEEPER)
    return next((node.name for node in named), None)


def is_written(reader: ClusterReader) -> bool:
    """Whether the quorum's leader has claimed ``/controller``, and ZooKeeper has everything that it wrote.

    A release without the metric is taken to have written all.
    """
    leader, metrics = leading(reader.cluster, [_LAG])
    if leader is None or leader != controller_in_zookeeper(reader.cluster, reader.znodes):
        return False
    return (metrics.get(_LAG) or 0) <= _NONE_BEHIND


STATES = (
    State(PHASE, phase, [each.name for each in Phase]),
    State(MIGRATION_STATE, migration_state, [each.name for each in ZkMigrationState]),
)


def _phase(reader: ClusterReader, leader: str | None, metrics: _Metrics) -> Phase:
    if not reader.cluster.topology.has_zookeeper:
        return Phase.FINALIZED
    last = Phase[reader.last(PHASE) or Phase.ZOOKEEPER.name]
    if not any(node.alive for node in reader.cluster.nodes(Role.CONTROLLER)):
        # All away for a moment, or for good: until another node claims the cluster, the last known phase is kept.
        return last if _is_claimed_by_kraft(reader) else Phase.ZOOKEEPER
    state = _state(reader.cluster, leader, metrics) if leader else None
    if state is None and leader and reader.cluster.node(leader).kafka.startswith(EARLY_ACCESS):
        state = _state_by_znodes(reader, leader)
    # While there is no quorum leader the phase cannot be read, so the last known phase is kept.
    return _phase_in(reader, state, metrics) if state else max(last, Phase.PREPARING)


def _phase_in(reader: ClusterReader, state: ZkMigrationState, metrics: _Metrics) -> Phase:
    if state is ZkMigrationState.POST_MIGRATION:
        return Phase.FINALIZED
    if state is ZkMigrationState.MIGRATION:
        return Phase.HYBRID if _zk_brokers(reader.cluster, metrics) else Phase.ALL_KRAFT
    return Phase.COPYING if _is_claimed_by_kraft(reader) else Phase.PREPARING


def _state_by_znodes(reader: ClusterReader, leader: str) -> ZkMigrationState:
    """The state as a controller of Kafka 3.4 knows it itself: it copies until ``/migration`` has an offset of its log.

    The end it records nowhere: a controller without the flag writes to ZooKeeper no more.
    """
    data = reader.znodes.get("/migration") if reader.znodes else None
    is_copied = data is not None and json.loads(data).get("kraft_metadata_offset", -1) > 0
    if not is_copied or not _is_claimed_by_kraft(reader):
        return ZkMigrationState.PRE_MIGRATION
    is_on = reader.cluster.node(leader).properties.get(MIGRATION_FLAG) == "true"
    return ZkMigrationState.MIGRATION if is_on else ZkMigrationState.POST_MIGRATION


def _state(cluster: Cluster, leader: str, metrics: _Metrics) -> ZkMigrationState | None:
    number = metrics.get("ZkMigrationState")
    return None if number is None else zk_migration_state(int(number), cluster.node(leader).kafka)


def _zk_brokers(cluster: Cluster, metrics: _Metrics) -> int:
    count = metrics.get("MigratingZkBrokerCount")
    if count is not None:
        return int(count)
    return sum(node.mode is BrokerMode.ZOOKEEPER for node in cluster.nodes(Role.BROKER))


def _is_claimed_by_kraft(reader: ClusterReader) -> bool:
    return _controller_znode(reader.znodes).get("kraftControllerEpoch", -1) >= 0


def _controller_znode(znodes: Znodes | None) -> dict[str, int]:
    data = znodes.get("/controller") if znodes else None
    return json.loads(data) if data else {}
