"""Faults of ZooKeeper's data and sessions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import NOTHING
from pytest_kmigrate.model.links import Link
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import NodeSpec, Role
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_READABLE = frozenset({(17, "world", "anyone")})
"""Read, and admin, which is what gives it another ACL."""


@dataclass(frozen=True)
class Tamper:
    """A znode is overwritten, as by a wrong tool. Healing restores it unless Kafka wrote to it meanwhile."""

    path: str
    data: str
    needs = frozenset({Capability.ZNODES, Capability.ZNODE_WRITES})

    def __str__(self) -> str:
        return f"tamper({self.path})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Overwrite the znode."""
        planted = self.data.encode()
        original = scene.znodes.get(self.path)
        try:
            scene.znodes.set(self.path, planted)
            seen = scene.znodes.get(self.path) == planted
            yield Applied(
                (), f"our data in {self.path}", lambda: f"{self.path} held our data" if seen else None, takes=NOTHING
            )
        finally:
            if scene.znodes.get(self.path) == planted:
                if original is None:
                    scene.znodes.delete(self.path)
                else:
                    scene.znodes.set(self.path, original)


@dataclass(frozen=True)
class Forbid:
    """ZooKeeper refuses to change a znode, and to create or delete any right below it, as by a wrong ACL.

    Everybody may read it. Healing brings its ACL back.
    """

    path: str
    needs = frozenset({Capability.ZNODES, Capability.ZNODE_WRITES})

    def __str__(self) -> str:
        return f"forbid({self.path})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Give the znode an ACL by which it can be read, and given another ACL."""
        former = scene.znodes.access(self.path)
        servers = tuple(node.name for node in scene.cluster.nodes(Role.ZOOKEEPER))
        try:
            scene.znodes.allow(self.path, _READABLE)
            is_so = scene.znodes.access(self.path) == _READABLE
            witness = f"{self.path} could only be read" if is_so else None
            yield Applied(
                servers, f"an ACL of {self.path} by which it can only be read", lambda: witness, takes=NOTHING
            )
        finally:
            scene.znodes.allow(self.path, former)


@dataclass(frozen=True)
class ExpireSession:
    """ZooKeeper ends the session of a broker in ZooKeeper mode, or of a KRaft controller. Nothing to heal.

    A broker's is the one that owns its registration, and vanishes with it. A controller has no such znode: its
    session is identified by the connection over its links, which ends when it sends its next request or heartbeat.
    """

    target: Target
    needs = frozenset({Capability.ZNODES, Capability.ZNODE_WRITES, Capability.LINKS})

    def __str__(self) -> str:
        return f"expire-session({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """End the session of the node meant."""
        spec = scene.cluster.node(self.target.one(scene)).spec
        expire = _of_controller if spec.role is Role.CONTROLLER else _of_broker
        yield expire(scene, spec)


def _of_broker(scene: Scene, spec: NodeSpec) -> Applied:
    path = f"/brokers/ids/{spec.node_id}"
    before, session = scene.znodes.get(path), scene.znodes.owner(path)
    if session is not None:
        scene.znodes.expire_session(session)
    gone = session is not None and scene.znodes.get(path) != before
    return Applied(
        (spec.name,), f"{path} gone", lambda: f"{path} vanished with its session" if gone else None, takes=NOTHING
    )


def _of_controller(scene: Scene, spec: NodeSpec) -> Applied:
    def witness() -> str | None:
        left = scene.znodes.sessions().values()
        return f"{reported} ended, and its connection with it" if left and session not in left else None

    links = scene.cluster.links.between([spec.name], [node.name for node in scene.cluster.nodes(Role.ZOOKEEPER)])
    session = until(
        lambda: _crossing(scene, links), awaited=f"one session of {spec.name} with ZooKeeper", within_s=PATIENCE_S
    )
    reported = f"session {session:#x}"
    scene.znodes.expire_session(session)
    return Applied((spec.name,), f"no connection of {reported} of {spec.name}", witness, takes=NOTHING)


def _crossing(scene: Scene, links: Sequence[Link]) -> int | NotYet:
    """The session whose connection crosses these links; traffic, or another one alike, may hide it."""
    sessions = scene.znodes.sessions()
    found = {sessions[origin] for origin in scene.cluster.links.origins(links) if origin in sessions}
    return found.pop() if len(found) == 1 else NotYet(f"{len(found)} of {len(sessions)} sessions")
