"""A cluster that outlives the process which started it: ``kmigrate up``."""

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventData, EventKind
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.running.scene import driver_of, scene_of, zookeeper_client


class TellingRecorder:
    """Keeps events in memory, and reports each that a waiting user wants to see."""

    def __init__(self, notify: Callable[[str], None]) -> None:
        self.events: list[Event] = []
        self._tell = notify
        self._began_ns = time.monotonic_ns()
        self._lock = threading.Lock()

    def now_ns(self) -> int:
        """Nanoseconds since it was made."""
        return time.monotonic_ns() - self._began_ns

    def record(self, data: EventData, node: str | None = None) -> Event:
        """Append one event."""
        with self._lock:
            event = data.event(len(self.events), self.now_ns(), node)
            self.events.append(event)
        sentence = _sentence(event)
        if sentence:
            self._tell(f"{event.at_ns / 1e9:6.1f} s  {sentence}")
        return event


@dataclass(frozen=True)
class Goal:
    """Where a cluster is driven before it is left standing: a value of a state, by a document's procedure."""

    document: Document
    value: str

    def check(self, topology: Topology) -> None:
        """WrongUseError when this topology cannot come to it."""
        values = [step.reaches[1] for step in self.document.procedure]
        if self.value not in values:
            there = f"one of {', '.join(values)}" if values else f"none, as {self.document.id} has no procedure"
            raise WrongUseError(f"--phase: expected {there}; got {self.value}")
        if self.document.check_topology is not None:
            self.document.check_topology(topology, self.value)


def stand_up(
    topology: Topology, provider: Provider, logs: Path, goal: Goal | None, notify: Callable[[str], None]
) -> None:
    """Start a cluster, drive it to its goal, and leave it standing.

    A failure leaves only the logs behind, an interrupt nothing.
    """
    if goal is not None:
        goal.check(topology)
    recorder = TellingRecorder(notify)
    is_complete = False
    try:
        with provider.provision(topology, recorder, logs, keep=lambda: is_complete) as cluster:
            cluster.start_initial()
            if goal is not None:
                _drive(cluster, recorder, goal)
            is_complete = True
    except KeyboardInterrupt:  # the user knows what happened; the logs of a failure are kept
        shutil.rmtree(logs, ignore_errors=True)
        raise


def _drive(cluster: Cluster, recorder: TellingRecorder, goal: Goal) -> None:
    with ExitStack() as ending:
        zookeeper = zookeeper_client(cluster)
        if zookeeper is not None:
            ending.enter_context(closing(zookeeper))
        driver_of(goal.document, scene_of(goal.document, cluster, zookeeper, recorder)).advance_to(goal.value)


def _sentence(event: Event) -> str | None:
    match event.kind:
        case EventKind.NODE_READY:
            return f"{event.node} ready"
        case EventKind.NODE_STOPPED:
            return f"{event.node} stopped"
        case EventKind.NODE_DIED:
            return f"{event.node} died with exit code {event.data['exit_code']}"
        case EventKind.STEP_BEGAN:
            return f"step {event.data['step']}"
    return None
