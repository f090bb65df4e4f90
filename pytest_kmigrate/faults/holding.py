"""A fault inside a process: one thread is late at a known place in Kafka's code."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.protocols import CrashPoint, Scene
from pytest_kmigrate.model.topology import Role


@dataclass(frozen=True)
class Hold:
    """The first node to reach a place in its code stands still there, with that thread only, for ``point.held_s``."""

    point: CrashPoint
    role: Role = Role.CONTROLLER
    needs = frozenset({Capability.CRASH_POINTS})

    def __str__(self) -> str:
        return f"hold(a {self.role.value} at {self.point.name})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Lay the rule into every live node of the role; whoever is held when it is taken back is held to its end."""
        running = [node for node in scene.cluster.nodes(self.role) if node.alive]
        with scene.cluster.hold_at(self.point, running) as held:

            def witness() -> str | None:
                name = held()
                return f"{name} was held at {self.point.name}" if name else None

            yield Applied(tuple(node.name for node in running), f"a node at {self.point.name}", witness)
