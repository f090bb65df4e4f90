"""Watches a run in the background: metrics as a series, each change of a state or the active controller an event."""

from collections.abc import Sequence
from functools import partial
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import KmigrateError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.steps import ActiveControllerChanged, StateChanged
from pytest_kmigrate.model.history import Sample
from pytest_kmigrate.model.protocols import Cluster, Node, Reading, View
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.probes.background import Background

_EDGES_EVERY_S = 0.2


class SampleRecorder(Recorder, Protocol):
    """A recorder that takes metric samples too."""

    def sample(self, sample: Sample) -> None:
        """Append one node's metrics."""
        ...


class Observer:
    """One thread per node for its metrics, so that a node that stands still delays no other, and one for the edges."""

    def __init__(self, cluster: Cluster, view: View, recorder: SampleRecorder, metrics: Sequence[str]) -> None:
        self._cluster = cluster
        self._view = view
        self._recorder = recorder
        self._metrics = tuple(metrics)
        self._background = Background(recorder)
        self._states: dict[str, str] = {}
        self._controller: str | None = None

    def start(self) -> None:
        """Begin to observe; without metrics only the edges that are seen in other ways."""
        every_s = self._cluster.topology.probe.every_ms / 1000
        observed = [node for node in self._cluster.nodes() if node.spec.role is not Role.ZOOKEEPER]
        for node in observed if self._metrics and Capability.METRICS in self._cluster.capabilities else ():
            self._background.repeat(f"metrics of {node.name}", every_s, partial(self._sample, node))
        self._background.repeat("edges", _EDGES_EVERY_S, self.look)

    def stop(self) -> None:
        """Stop observing; returns when every thread has ended."""
        self._background.stop()

    def look(self) -> None:
        """Look once, and record what changed since the last look."""
        try:
            for name in self._view.states:
                self._state(name, self._view.state(name))
            # Without an epoch: no two metrics are read at one moment, and a pair that never was would look like
            # two controllers of one epoch. Epochs are judged from the znodes, which hold both.
            self._active_controller(self._view.active_controller())
        except KmigrateError:
            # ZooKeeper or a node does not answer, which a fault may well be the cause of: the next look shows it.
            return

    def _state(self, name: str, reading: Reading | None) -> None:
        before = self._states.get(name)
        if reading is not None and reading.value != before:
            self._states[name] = reading.value
            self._recorder.record(StateChanged(name, reading.value, before), reading.node)

    def _active_controller(self, active: str | None) -> None:
        before = self._controller
        if before != active:
            self._controller = active
            self._recorder.record(ActiveControllerChanged(active, before), active)

    def _sample(self, node: Node) -> None:
        if node.alive:
            at_ns = self._recorder.now_ns()
            self._recorder.sample(Sample(at_ns, node.name, self._cluster.metrics(node.name, self._metrics)))
