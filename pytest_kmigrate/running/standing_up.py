"""A cluster that outlives the process which started it: ``kmigrate up``."""

import shutil
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Event, EventData, EventKind
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.provider import Provider
from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.procedures.driver import MigrationDriver, require_told
from pytest_kmigrate.running.scene import scene_of, zookeeper_client


class TellingRecorder:
    """Keeps events in memory, and tells each that somebody waiting wants to see."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.events: list[Event] = []
        self._tell = tell
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


def stand_up(
    topology: Topology, provider: Provider, logs: Path, phase: Phase | None, tell: Callable[[str], None]
) -> None:
    """Start a cluster, drive its migration to ``phase``, and leave it standing.

    A failure leaves only the logs behind, an interrupt nothing.
    """
    check_phase(topology, phase)
    recorder = TellingRecorder(tell)
    is_complete = False
    try:
        with provider.provision(topology, recorder, logs, keep=lambda: is_complete) as cluster:
            cluster.start_initial()
            if phase is not None:
                _migrate(cluster, recorder, phase)
            is_complete = True
    except KeyboardInterrupt:  # nobody asked what happened; the logs of a failure are left for whoever does
        shutil.rmtree(logs, ignore_errors=True)
        raise


def check_phase(topology: Topology, phase: Phase | None) -> None:
    """WrongUseError when this topology cannot be migrated to ``phase``."""
    lacking = [role.value for role in (Role.ZOOKEEPER, Role.CONTROLLER) if not topology.of_role(role)]
    if phase is not None and lacking:
        raise WrongUseError(
            f"--phase {phase.name}: expected a topology to migrate, with ZooKeeper and controllers; "
            f"{topology.name} has no {' and no '.join(lacking)}: leave --phase out, or take another topology"
        )
    if phase is not None:
        require_told(phase, {spec.name: spec.kafka for spec in topology.of_role(Role.CONTROLLER)})


def _migrate(cluster: Cluster, recorder: TellingRecorder, phase: Phase) -> None:
    zookeeper = zookeeper_client(cluster)
    assert zookeeper is not None, "check_phase lets no topology without ZooKeeper come here"
    with closing(zookeeper):
        MigrationDriver(scene_of(cluster, zookeeper, recorder)).advance_to(phase)


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
