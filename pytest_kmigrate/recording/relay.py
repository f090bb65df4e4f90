"""The recorder of a cluster that several runs use in turn: events of its nodes go to the run of the moment."""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_kmigrate.model.event import A, Event, EventData, Recorded, Recorder
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeReconfigured, NodeStarted, NodeStopped


@dataclass
class _NodeEvents:
    """The events that say what a node is now."""

    reconfigured: NodeReconfigured | None = None
    started: NodeStarted | None = None
    ready: NodeReady | None = None


class Relay:
    """Hands events on to one recorder at a time, and gives a new one the nodes that run already."""

    def __init__(self) -> None:
        self.missed: list[Event] = []
        """What happened since the last run ended."""
        self._to: Recorder | None = None
        self._lock = threading.RLock()
        self._began_ns = time.monotonic_ns()
        self._nodes: dict[str, _NodeEvents] = {}

    @property
    def events(self) -> Sequence[Event]:
        """Everything recorded in the run of the moment so far."""
        with self._lock:
            return self.missed if self._to is None else self._to.events

    def now_ns(self) -> int:
        """Nanoseconds since the run of the moment began."""
        with self._lock:
            return time.monotonic_ns() - self._began_ns if self._to is None else self._to.now_ns()

    def record(self, data: A, node: str | None = None) -> Recorded[A]:
        """Record an event in the run of the moment; keep it as missed when there is none."""
        with self._lock:
            if node is not None:
                self._remember(data, self._nodes.setdefault(node, _NodeEvents()))
            if self._to is not None:
                return self._to.record(data, node)
            event = data.event(len(self.missed), self.now_ns(), node)
            self.missed.append(event)
            return event

    def begin(self, recorder: Recorder) -> None:
        """Hand events on to ``recorder``, first those that describe the nodes that run, marked ``inherited``."""
        with self._lock:
            for name, node in self._nodes.items():
                for data in (node.reconfigured, node.started, node.ready) if node.started else ():
                    if data is not None:
                        recorder.record(replace(data, inherited=True), name)
            self.missed.clear()
            self._to = recorder

    def end(self) -> None:
        """Hand nothing on until the next run begins."""
        with self._lock:
            self._to = None

    def _remember(self, data: EventData, node: _NodeEvents) -> None:
        match data:
            case NodeStarted():
                node.started, node.ready = data, None
            case NodeReady():
                node.ready = data
            case NodeStopped() | NodeDied():
                node.started = node.ready = None
            case NodeReconfigured():
                before = node.reconfigured.changed if node.reconfigured else {}
                node.reconfigured = replace(data, changed={**before, **data.changed})
