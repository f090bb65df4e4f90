"""Targets: named ways to choose nodes, resolved when the fault begins; the choice is recorded."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.drawing import drawn
from pytest_kmigrate.checkers.evidence.ownership import owners
from pytest_kmigrate.model.errors import ClusterError, WrongUseError
from pytest_kmigrate.model.events.faults import TargetDrawn
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.waiting import PATIENCE_S, until


@dataclass(frozen=True)
class Target:
    """A name, as it stands in reports, and how to resolve it; no node at all is no answer yet."""

    name: str
    resolve: Callable[[Scene], Sequence[str]]

    def __str__(self) -> str:
        return self.name

    def nodes(self, scene: Scene) -> tuple[str, ...]:
        """The names of the nodes meant now; waits while there is none, as between two elections."""
        awaited = f"a node that is {self}"
        found = until(lambda: self.resolve(scene), awaited=awaited, within_s=PATIENCE_S, abort=scene.require_wanted)
        return tuple(found)

    def one(self, scene: Scene) -> str:
        """The only node meant; ClusterError when there are several."""
        names = self.nodes(scene)
        if len(names) != 1:
            raise ClusterError(f"{self} is expected to mean one node; it means {', '.join(names)}")
        return names[0]


def _at_most_one(name: str | None) -> list[str]:
    return [name] if name else []


def active_controller() -> Target:
    """The node in charge of the cluster: a broker in ZooKeeper mode, a KRaft controller later."""
    return Target("active-controller", lambda scene: _at_most_one(scene.view.active_controller()))


def quorum_leader() -> Target:
    """The KRaft controller that leads the quorum, in charge or not."""
    return Target("quorum-leader", lambda scene: _at_most_one(scene.view.quorum_leader()))


def follower_controller() -> Target:
    """One live KRaft controller that does not lead, chosen by seed."""

    def follower(scene: Scene) -> Sequence[str]:
        leader = scene.view.quorum_leader()
        return _one_by_seed("follower-controller", scene, Role.CONTROLLER, leader) if leader else []

    return Target("follower-controller", follower)


def zookeeper_leader() -> Target:
    """The ZooKeeper server that leads the ensemble (the only one, when there is one)."""
    return Target("zookeeper-leader", lambda scene: _at_most_one(scene.view.zookeeper_leader()))


def partition_leader(topic: str, partition: int = 0) -> Target:
    """The live broker that leads a partition; brokers report a dead one until its session ends."""

    def leader(scene: Scene) -> Sequence[str]:
        name = scene.view.partition_leader(topic, partition)
        return [name] if name and scene.cluster.node(name).alive else []

    return Target(f"leader-of({topic}-{partition})", leader)


def random_broker() -> Target:
    """One live broker, chosen by seed."""
    return Target("random-broker", lambda scene: _one_by_seed("random-broker", scene, Role.BROKER, None))


def broker_besides_controller() -> Target:
    """One live broker that is not the active controller, chosen by seed."""
    name = "broker-besides-controller"
    return Target(name, lambda scene: _one_by_seed(name, scene, Role.BROKER, scene.view.active_controller()))


def every(role: Role) -> Target:
    """All nodes of a role."""
    return Target(f"every-{role.value}", lambda scene: [node.name for node in scene.cluster.nodes(role)])


EVERY = {str(every(role)): role for role in Role}
"""By its text, each target of ``every``, and the role that it means."""


def node(name: str) -> Target:
    """The node of this name."""
    return Target(name, lambda scene: [scene.cluster.node(name).name])


def member(name: str) -> Target:
    """The member of a group under test of this name; WrongUseError when none of this name was started."""

    def found(scene: Scene) -> Sequence[str]:
        if name not in scene.members:
            there = ", ".join(scene.members) or "none"
            raise WrongUseError(
                f"targets.member: expected the name of a member that was started ({there}); got {name!r}"
            )
        return [name]

    return Target(name, found)


def owner_of(topic: str, partition: int) -> Target:
    """The member of a group under test that owns a partition, by what the members report."""

    def owner(scene: Scene) -> Sequence[str]:
        return _at_most_one(owners(scene.recorder.events).get((topic, partition)))

    return Target(f"owner-of({topic}-{partition})", owner)


def _one_by_seed(target: str, scene: Scene, role: Role, besides: str | None) -> list[str]:
    """The one that the seed draws; it is recorded among which, so that anyone can draw it again."""
    names = [each.name for each in scene.cluster.nodes(role) if each.alive and each.name != besides]
    if not names:
        return []
    name = drawn(scene.seed, role, names)
    scene.recorder.record(TargetDrawn(target, names, role, name))
    return [name]
