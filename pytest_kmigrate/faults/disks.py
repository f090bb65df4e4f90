"""Faults of disks: a log directory of a broker fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied, whole_number
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.events.faults import DISK
from pytest_kmigrate.model.protocols import Node, Scene
from pytest_kmigrate.procedures.restarts import await_session_over, has_started

_METRIC = "OfflineLogDirectoryCount"


@dataclass(frozen=True)
class FailLogDir:
    """A log directory of a broker with several (1, 2, ...) is gone, as with a disk that broke.

    Kafka notices it at the next file that it writes there, within 5 s where the directory holds a partition. The
    witness is Kafka's reaction: its own count of directories that are offline, or the end of the broker. Kafka ends a
    broker that takes part in a migration, and one in KRaft mode without its first directory, which holds the metadata
    log. It is healed as operators do it: the broker is stopped, the directory is put back as it was, the broker is
    started.
    """

    target: Target
    number: int = whole_number(2, 1, 100)
    needs = frozenset({Capability.LOG_DIRS, Capability.START, Capability.METRICS})

    def __str__(self) -> str:
        return f"fail-log-dir({self.target}, {self.number})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Take the directory of the broker meant."""
        node = scene.cluster.node(self.target.one(scene))
        before, lived = scene.view.metric(node.name, _METRIC), node.alive
        node.fail_log_dir(self.number)

        def witness() -> str | None:
            if lived and not node.alive:
                return f"{node.name} ended without log directory {self.number}"
            count = scene.view.metric(node.name, _METRIC)
            is_more = count is not None and count > (before or 0)
            return f"{node.name} reports {count:g} offline log directories" if is_more else None

        try:
            looked_for = f"{_METRIC} of {node.name} above {before or 0:g}, or its end"
            yield Applied((node.name,), looked_for, witness, {"log_dir": self.number}, DISK)
        finally:
            _replace_disk(scene, node, self.number)


def _replace_disk(scene: Scene, node: Node, number: int) -> None:
    with scene.turns.of([node.name]):
        node.stop()
        node.repair_log_dir(number)
        await_session_over(scene, node)
        has_started(scene, node.start, is_heal=True)
