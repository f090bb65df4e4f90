"""Moves: the smallest things an operator does, each a value that can be carried out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from pytest_kmigrate.model.capabilities import Capability, Needs
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Node, Scene
from pytest_kmigrate.model.topology import BrokerMode, Role
from pytest_kmigrate.procedures.restarts import await_session_over, faults_in_force, has_started
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

BACK_IN_SYNC = "back in sync after its restart"
"""Ends what a roll waits for, as the reason of a step that failed has it."""


@dataclass(frozen=True)
class StartControllers:
    """Configure the controllers and start all of them at once, or only some."""

    changes: Mapping[str, str | None] = field(default_factory=dict)
    only: Sequence[str] = ()
    needs = frozenset({Capability.START, Capability.RECONFIGURE})

    def make(self, scene: Scene) -> None:
        """Carry it out; one that a fault ends as it starts is left to the fault's heal, and the others are waited for.

        The turns are given up before that: the others may have no majority until the heal has started it.
        """
        controllers = [node for node in scene.cluster.nodes(Role.CONTROLLER) if not self.only or node.name in self.only]
        with scene.turns.of([node.name for node in controllers]):
            for node in controllers:
                node.reconfigure(self.changes)
                node.start(wait=False)
        has_started(scene, partial(scene.cluster.await_ready, controllers))


@dataclass(frozen=True)
class Roll:
    """Stop one node in a controlled way, change it, start it, and wait until nothing lags behind.

    Changed are its configuration, a broker's mode, and what it runs (``kafka``: a release, or the path of one).

    While a fault is in force it is not certain that replicas catch up, so then it is not waited for.
    """

    node: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    mode: BrokerMode | None = None
    kafka: str | None = None

    @property
    def needs(self) -> Needs:
        """What the provider must be able to do."""
        return frozenset({Capability.START, Capability.RECONFIGURE, *([Capability.INSTALL] if self.kafka else [])})

    def make(self, scene: Scene) -> None:
        """Carry it out; a node that is down already is only changed and started."""
        node = scene.cluster.node(self.node)
        before = _under_replicated(scene, node)
        with scene.turns.of([node.name]):
            node.stop()
            await_session_over(scene, node)
            node.reconfigure(self.changes, self.mode)
            if self.kafka is not None:
                node.install(self.kafka)
            if not has_started(scene, node.start):
                return
        if node.spec.plays(Role.CONTROLLER):
            _await_caught_up(scene, node)
        if node.spec.plays(Role.BROKER):
            _await_in_sync(scene, node, before)


@dataclass(frozen=True)
class Deprovision:
    """Stop the controllers for good and empty their disks; the one that leads last, so that no other takes over."""

    needs = frozenset({Capability.START, Capability.WIPE})

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        leader = scene.view.quorum_leader()
        for node in sorted(scene.cluster.nodes(Role.CONTROLLER), key=lambda node: node.name == leader):
            with scene.turns.of([node.name]):
                node.stop()
                node.wipe()


@dataclass(frozen=True)
class DeleteZnode:
    """Delete a znode, as the operator's manual has it done with the ZooKeeper shell."""

    path: str
    needs = frozenset({Capability.ZNODE_WRITES})

    def make(self, scene: Scene) -> None:
        """Carry it out."""
        scene.znodes.delete(self.path)


def _await_caught_up(scene: Scene, node: Node) -> None:
    """A controller follows before it has read its log; if the next one is stopped then, there may be no quorum.

    Where no other controller reports what is committed, there is nothing to wait for.
    """
    others = [each.name for each in scene.cluster.nodes(Role.CONTROLLER) if each.alive and each.name != node.name]
    offsets = [scene.view.metric(name, "LastCommittedRecordOffset") for name in others]
    committed = max((each for each in offsets if each is not None), default=None)

    def caught_up() -> bool | NotYet:
        if not node.alive:
            raise ClusterError(f"{node.name} ended while it read its metadata log")
        read = scene.view.metric(node.name, "LastAppliedRecordOffset")
        return committed is None or (read is not None and read >= committed) or NotYet(f"read {read} of {committed}")

    until(
        lambda: bool(faults_in_force(scene)) or caught_up(),
        awaited=f"the metadata log read by {node.name}",
        within_s=PATIENCE_S,
    )


def _await_in_sync(scene: Scene, node: Node, before: Mapping[str, float | None]) -> None:
    until(
        # A fault may begin while this is waited for: the last broker's start is what sets off the copy.
        lambda: bool(faults_in_force(scene)) or _back_in_sync(scene, node, before),
        awaited=f"the replicas of {node.name} {BACK_IN_SYNC}",
        within_s=PATIENCE_S,
    )


def _under_replicated(scene: Scene, besides: Node) -> dict[str, float | None]:
    """By each other live broker, how many of the partitions it leads lack a replica; None if it does not report it."""
    others = [node.name for node in scene.cluster.nodes(Role.BROKER) if node.alive and node.name != besides.name]
    return {name: scene.view.metric(name, "UnderReplicatedPartitions") for name in others}


def _back_in_sync(scene: Scene, node: Node, before: Mapping[str, float | None]) -> bool | NotYet:
    """No more partitions lack a replica than before.

    A broker that reported it before and does not now is not known yet; one that never reported it is not waited for.
    """
    now = _under_replicated(scene, node)
    silent = [name for name, count in now.items() if count is None and before.get(name) is not None]
    if silent:
        return NotYet(f"{', '.join(silent)} not telling how many partitions are under-replicated")
    lacking, lacked = (sum(count or 0 for count in counts.values()) for counts in (now, before))
    return lacking <= lacked or NotYet(f"{lacking:g} partitions under-replicated, {lacked:g} before the restart")
