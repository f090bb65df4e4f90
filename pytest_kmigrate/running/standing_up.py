"""A cluster that stands for a user: ``kmigrate up`` starts it, and drives it from one phase to the next."""

import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.document import Document
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import A, Event, Recorded, is_a
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeStopped
from pytest_kmigrate.model.events.steps import StepBegan
from pytest_kmigrate.model.protocols import Cluster, Scene
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
        self.on_loss: Callable[[], None] = lambda: None
        """Called when the cluster has ended by itself, or by ``kmigrate down``."""

    def now_ns(self) -> int:
        """Nanoseconds since it was made."""
        return time.monotonic_ns() - self._began_ns

    def record(self, data: A, node: str | None = None) -> Recorded[A]:
        """Append one event."""
        with self._lock:
            event = data.event(len(self.events), self.now_ns(), node)
            self.events.append(event)
        sentence = _sentence(event)
        if sentence:
            self._tell(f"{event.at_ns / 1e9:6.1f} s  {sentence}")
        if is_a(event, HarnessTrouble) and event.what.lost:
            self.on_loss()
        return event

    def report_to(self, notify: Callable[[str], None]) -> None:
        """Report to another user from now on."""
        self._tell = notify


@dataclass(frozen=True)
class Goal:
    """Where a cluster is driven: a value of a state, by a document's procedure; empty: it stays where it begins."""

    document: Document
    value: str

    def check(self, topology: Topology) -> None:
        """WrongUseError when this topology cannot come to it."""
        values = [step.reaches[1] for step in self.document.procedure]
        if self.is_back:
            return
        if self.value not in values:
            there = f"one of {', '.join(values)}" if values else f"none, as {self.document.id} has no procedure"
            raise WrongUseError(f"--phase: expected {there}; got {self.value}")
        if self.document.check_topology is not None:
            self.document.check_topology(topology, self.value)

    @property
    def is_back(self) -> bool:
        """Whether it is where the procedure begins, to which a way leads back."""
        return self.document.revert is not None and self.value == self.document.begins_in

    @property
    def next_values(self) -> Sequence[str]:
        """The values that come after it, in order."""
        values = [step.reaches[1] for step in self.document.procedure]
        return values[values.index(self.value) + 1 :] if self.value in values else values


class Walker:
    """Drives one live cluster from goal to goal, forward and back."""

    def __init__(self, document: Document, scene: Scene, topology: Topology) -> None:
        self.document = document
        self._driver = driver_of(document, scene)
        self._topology = topology

    def walk_to(self, goal: Goal) -> None:
        """Return when the cluster is there; WrongUseError for a goal that no way leads to from here."""
        goal.check(self._topology)
        if goal.is_back:
            assert self.document.revert is not None, "a goal is back by it"
            self.document.revert(self._driver)
            return
        try:
            self._driver.advance_to(goal.value)
        except WrongUseError as error:
            hint = f"; --phase {self.document.begins_in} goes back to where it began" if self.document.revert else ""
            raise WrongUseError(f"{error}{hint}") from error


def stand_up(
    topology: Topology,
    provider: Provider,
    logs: Path,
    goal: Goal,
    recorder: TellingRecorder,
    stay: Callable[[Walker], None],
) -> None:
    """Start a cluster, drive it to its goal if it has a value, and call ``stay``; nothing of it is left afterwards.

    A failure leaves only the logs behind, an interrupt nothing.
    """
    if goal.value:
        goal.check(topology)
    try:
        with provider.provision(topology, recorder, logs) as cluster:
            cluster.start_initial()
            with _walker(goal.document, cluster, recorder) as walker:
                if goal.value:
                    walker.walk_to(goal)
                stay(walker)
    except KeyboardInterrupt:  # the user knows what happened; the logs of a failure are kept
        shutil.rmtree(logs, ignore_errors=True)
        raise


@contextmanager
def _walker(document: Document, cluster: Cluster, recorder: TellingRecorder) -> Iterator[Walker]:
    with ExitStack() as ending:
        zookeeper = zookeeper_client(cluster)
        if zookeeper is not None:
            ending.enter_context(closing(zookeeper))
        yield Walker(document, scene_of(document, cluster, zookeeper, recorder), cluster.topology)


def _sentence(event: Event) -> str | None:
    match event.what:
        case NodeReady():
            return f"{event.node} ready"
        case NodeStopped():
            return f"{event.node} stopped"
        case NodeDied(exit_code=code):
            return f"{event.node} died with exit code {code}"
        case StepBegan(step=step):
            return f"step {step}"
    return None
