"""Records which of Kafka's code each node executes, by JaCoCo's agent in it."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import CapabilityLacking
from pytest_kmigrate.model.history import Executed
from pytest_kmigrate.model.protocols import Cluster, Node
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.background import Background
from pytest_kmigrate.probes.exercise_data import ClassExecuted, executions

_READ_EVERY_S = 3.0
"""A node that crashes by itself loses what it executed since; one that we end is read right before."""


class ExecutedRecorder(Recorder, Protocol):
    """A recorder that takes what was executed, too."""

    def executed(self, executed: Executed) -> None:
        """Append what a node executed of a class."""
        ...


class ExerciseProbe:
    """One thread per node, so that a node that stands still delays no other."""

    def __init__(self, cluster: Cluster, recorder: ExecutedRecorder) -> None:
        self._cluster = cluster
        self._recorder = recorder
        self._background = Background(recorder)
        self._known: dict[tuple[str, str, str], set[int]] = {}
        is_offered = Capability.EXERCISE in cluster.capabilities
        self._nodes: Sequence[Node] = (
            [node for node in cluster.nodes() if node.spec.role is not Role.ZOOKEEPER] if is_offered else ()
        )

    def start(self) -> None:
        """Begin to read; what nodes executed before, for another run on the same cluster, is left out."""
        if Capability.EXERCISE not in self._cluster.capabilities:
            self._recorder.record(CapabilityLacking("--kmigrate-exercise", [Capability.EXERCISE]))
        for node in self._nodes:
            self._cluster.executed(node.name, anew=True)
            self._background.repeat(f"what {node.name} executes", _READ_EVERY_S, partial(self.look, node.name))

    def stop(self) -> None:
        """Read all nodes once more, and end."""
        self._background.stop()
        for node in self._nodes:
            self.look(node.name)

    def look(self, node: str) -> None:
        """Record what a node has executed that it had not when it was last read."""
        at_ns = self._recorder.now_ns()
        for data in self._cluster.executed(node):
            for each in executions(data):
                self._record(at_ns, node, each)

    def _record(self, at_ns: int, node: str, each: ClassExecuted) -> None:
        known = self._known.setdefault((node, each.name, each.class_id), set())
        if new := sorted(each.executed - known):
            known.update(new)
            self._recorder.executed(Executed(at_ns, node, each.name, each.class_id, each.probes, tuple(new)))
