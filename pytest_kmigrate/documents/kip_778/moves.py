"""Moves of an upgrade: the level is raised or lowered by Kafka's own tool, as an operator does."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.model.topology import Role


@dataclass(frozen=True)
class SetLevel:
    """Raise (``upgrade``) or lower (``downgrade``) metadata.version to a release or a level's name."""

    how: str
    to: str
    needs = frozenset({Capability.TOOLS})

    def make(self, scene: Scene) -> None:
        """Carry it out; ClusterError in the tool's words when it fails."""
        broker = next(node for node in scene.cluster.nodes(Role.BROKER) if node.alive)
        words: Sequence[str] = ("--bootstrap-server", "{bootstrap}", self.how, "--metadata", self.to)
        ran = scene.cluster.run_tool(broker.name, "kafka-features", words)
        if ran.status:
            raise ClusterError(f"{self.how} to {self.to}: expected kafka-features to end with 0, got {ran.output}")
