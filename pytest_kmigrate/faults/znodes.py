"""Faults of ZooKeeper's data and sessions."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.protocols import Capability, Scene


@dataclass(frozen=True)
class Tamper:
    """A znode is overwritten, as by a wrong tool; it comes back as it was when healed, unless Kafka wrote meanwhile."""

    path: str
    data: str
    needs = frozenset[Capability]()

    def __str__(self) -> str:
        return f"tamper({self.path})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Overwrite the znode."""
        planted = self.data.encode()
        original = scene.znodes.get(self.path)
        scene.znodes.set(self.path, planted)
        seen = scene.znodes.get(self.path) == planted
        try:
            yield Applied((), f"our data in {self.path}", lambda: f"{self.path} held our data" if seen else None)
        finally:
            if scene.znodes.get(self.path) == planted:
                if original is None:
                    scene.znodes.delete(self.path)
                else:
                    scene.znodes.set(self.path, original)


@dataclass(frozen=True)
class ExpireSession:
    """ZooKeeper ends the session of a broker in ZooKeeper mode; its ephemeral znodes vanish. Nothing to heal."""

    target: Target
    needs = frozenset[Capability]()

    def __str__(self) -> str:
        return f"expire-session({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Expire the session that owns the broker's registration."""
        name = self.target.one(scene)
        path = f"/brokers/ids/{scene.cluster.node(name).spec.node_id}"
        before = scene.znodes.get(path)
        scene.znodes.expire_session(path)
        gone = before is not None and scene.znodes.get(path) != before
        yield Applied((name,), f"{path} gone", lambda: f"{path} vanished with its session" if gone else None)
