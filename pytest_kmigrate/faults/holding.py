"""A fault inside a process: one thread is late at a known place in Kafka's code."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import NOTHING
from pytest_kmigrate.model.protocols import CrashPoint, Scene
from pytest_kmigrate.model.topology import Role


@dataclass(frozen=True)
class Hold:
    """One thread of the first node that reaches a place in its code waits there for ``point.held_s``."""

    point: CrashPoint
    role: Role = Role.CONTROLLER
    needs = frozenset({Capability.CRASH_POINTS})

    def __str__(self) -> str:
        return f"hold(a {self.role.value} at {self.point.name})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Install the rule in every live node of the role.

        A node already held when the rule is removed stays held for the full time.
        """
        running = [node for node in scene.cluster.nodes(self.role) if node.alive]
        with scene.cluster.hold_at(self.point, running) as held:

            def witness() -> str | None:
                name = held()
                return f"{name} was held at {self.point.name}" if name else None

            yield Applied(tuple(node.name for node in running), f"a node at {self.point.name}", witness, takes=NOTHING)
