"""A cluster between two runs of a scene: what the next run finds, and whether the last one left it so."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.model.capabilities import SIDES
from pytest_kmigrate.model.checkpoint import Start
from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.event import Event, EventKind, Recorder, only
from pytest_kmigrate.model.events.faults import FaultApplied, FaultHealed
from pytest_kmigrate.model.protocols import Cluster, Node, Scene, View
from pytest_kmigrate.model.topology import BrokerMode
from pytest_kmigrate.probes.zookeeper import ZookeeperClient
from pytest_kmigrate.running.checkpoints.resuming import await_settled, in_sync
from pytest_kmigrate.running.images import LOG, ImageSource
from pytest_kmigrate.running.scene import scene_of, zookeeper_client
from pytest_kmigrate.waiting import NotYet, until

_SETTLED_WITHIN_S = 20


@dataclass(frozen=True)
class NodeState:
    """What a test of a scene may change of a node, and must leave as it was."""

    is_up: bool
    is_paused: bool
    mode: BrokerMode | None
    properties: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True)
class Found:
    """What the tests of a scene find when they begin: the document's states by name, and the nodes."""

    states: Mapping[str, str | None]
    nodes: Mapping[str, NodeState]


@dataclass(frozen=True)
class Standing:
    """A cluster that a run takes over from the one before; ``place`` is the run's own, from 2."""

    place: int
    start: Start | None
    """Where all tests of the scene begin; None: with a cluster that was just started."""
    log_offset: int
    """The last offset of the metadata log, -1 without one; what the log holds up to there is no evidence of the run."""
    zxid: int
    """The last transaction of ZooKeeper, -1 without it."""
    changes: Sequence[Mapping[str, object]] = ()
    """Metadata changes made before, as their events hold them."""
    left_out: frozenset[str] = frozenset()
    """Families of metadata that the cluster has no room for."""

    @property
    def identity(self) -> dict[str, object]:
        """What ``run.json`` says of it."""
        return {"place": self.place, "log_offset": self.log_offset, "zxid": self.zxid}


class ChangedError(Exception):
    """A test left its cluster otherwise than it found it."""


def found_on(cluster: Cluster, view: View) -> Found:
    """What stands now."""
    readings = {name: view.state(name) for name in view.states}
    states = {name: reading.value if reading else None for name, reading in readings.items()}
    return Found(states, {node.name: _state_of(node) for node in cluster.nodes()})


def taken_over(
    document: Document,
    cluster: Cluster,
    found: Found,
    start: Start | None,
    events: Sequence[Event],
    recorder: Recorder,
) -> tuple[int, int]:
    """The offset and the zxid at which the next run begins; ChangedError where it would not find what the first found.

    ``events`` are those of the last run. Waits until all replicas are in sync and, in a state that tests begin in, the
    cluster is settled with the same metadata in its log and in ZooKeeper.
    """
    with ExitStack() as ending:
        zookeeper = zookeeper_client(cluster)
        if zookeeper is not None:
            ending.callback(zookeeper.close)
        scene = scene_of(document, cluster, zookeeper, recorder, phase=start.state if start else None)
        try:
            _require_healed(events)
            _require_same(found, found_on(cluster, scene.view))
            _await("every replica in sync", lambda: in_sync(cluster))
            if start is not None:
                await_settled(document, scene, _SETTLED_WITHIN_S)
                _await_equal(scene, zookeeper)
        except KmigrateError as error:
            raise ChangedError(str(error)) from error
        return _log_offset(scene), zookeeper.last_zxid if zookeeper is not None else -1


def _state_of(node: Node) -> NodeState:
    return NodeState(node.alive, node.stands_still, node.mode, dict(node.properties))


def _require_healed(events: Sequence[Event]) -> None:
    in_force = {
        event.what.fault_id: event.kind is EventKind.FAULT_APPLIED for event in only(events, FaultApplied, FaultHealed)
    }
    if any(in_force.values()):
        raise ChangedError("a fault is still in force")


def _require_same(found: Found, now: Found) -> None:
    for name, before in found.states.items():
        if now.states[name] != before:
            raise ChangedError(f"{name} was found as {before} and left as {now.states[name]}")
    for name, node in found.nodes.items():
        if (after := now.nodes[name]) != node:
            unlike = after.properties.items() ^ node.properties.items()
            keys = f", properties {', '.join(sorted({key for key, _ in unlike}))}" if unlike else ""
            raise ChangedError(f"{name} was found as {node} and left as {after}{keys}")


def _await_equal(scene: Scene, zookeeper: ZookeeperClient | None) -> None:
    source = ImageSource(scene.cluster, scene.view, zookeeper)

    def equal() -> bool | NotYet:
        unlike = differences(source.of_log(), source.of_zookeeper())
        return not unlike or NotYet(f"{len(unlike)} differences, the first in {unlike[0].subject}")

    if zookeeper is not None and SIDES[LOG] <= scene.cluster.capabilities:
        _await("equal metadata in log and ZooKeeper", equal)


def _await(awaited: str, check: Callable[[], bool | NotYet]) -> None:
    until(check, awaited=awaited, within_s=_SETTLED_WITHIN_S, every_s=0.2)


def _log_offset(scene: Scene) -> int:
    """The last committed offset, as the leader of the quorum counts it."""
    leader = scene.view.quorum_leader()
    high_watermark = scene.view.metric(leader, "RaftHighWatermark") if leader else None
    return -1 if high_watermark is None else int(high_watermark) - 1
