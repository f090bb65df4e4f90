"""What unit tests act on instead of a live cluster: a scene of fakes, every part of it open to the test."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.peer import Access
from pytest_kmigrate.model.protocols import Reading, Scene
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.providers.bench import small_topology as topology
from pytest_kmigrate.providers.fake import FakeCluster, FakeProvider


@dataclass
class FakeView:
    """Sees what the test sets."""

    controller: str | None = None
    leader: str | None = None
    ensemble_leader: str | None = None
    leaders: dict[tuple[str, int], str] = field(default_factory=dict)
    readings: dict[str, Reading | None] = field(
        default_factory=lambda: {"phase": Reading("ZOOKEEPER"), "migration_state": None}
    )
    metrics: dict[tuple[str, str], float] = field(default_factory=dict)
    acked: int = 0

    @property
    def states(self) -> Sequence[str]:
        """Those that have a reading."""
        return tuple(self.readings)

    def state(self, name: str) -> Reading | None:
        """As set."""
        return self.readings[name]

    def active_controller(self) -> str | None:
        """As set."""
        return self.controller

    def quorum_leader(self) -> str | None:
        """As set."""
        return self.leader

    def zookeeper_leader(self) -> str | None:
        """As set."""
        return self.ensemble_leader

    def partition_leader(self, topic: str, partition: int) -> str | None:
        """As set."""
        return self.leaders.get((topic, partition))

    def metric(self, node: str, name: str) -> float | None:
        """As set; a controller has nothing left to do unless a test says otherwise."""
        return self.metrics.get((node, name), 0 if name.startswith("Controller") else None)

    def acked_operations(self) -> int:
        """As set."""
        return self.acked


class FakeZnodes:
    """A tree of znodes in memory."""

    def __init__(self, **at: bytes) -> None:
        self.tree: dict[str, bytes] = dict(at)
        self.accesses: dict[str, Access] = {}
        self.owners: dict[str, int] = {}
        self.connected: dict[str, int] = {}
        self.expired: list[int] = []

    def get(self, path: str) -> bytes | None:
        """The data."""
        return self.tree.get(path)

    def set(self, path: str, data: bytes | None) -> None:
        """Overwrite or create."""
        self.tree[path] = data or b""

    def delete(self, path: str) -> None:
        """Delete it and all below."""
        for known in [each for each in self.tree if each == path or each.startswith(f"{path}/")]:
            del self.tree[known]

    def children(self, path: str) -> Sequence[str]:
        """Names below."""
        below = [known.removeprefix(f"{path}/") for known in self.tree if known.startswith(f"{path}/")]
        return sorted({name.partition("/")[0] for name in below})

    def access(self, path: str) -> Access:
        """As set; anyone may do anything otherwise."""
        return self.accesses.get(path, frozenset({(31, "world", "anyone")}))

    def allow(self, path: str, access: Access) -> None:
        """Set it."""
        self.accesses[path] = access

    def owner(self, path: str) -> int | None:
        """As set."""
        return self.owners.get(path)

    def sessions(self) -> Mapping[str, int]:
        """As set."""
        return self.connected

    def expire_session(self, session: int) -> None:
        """The ephemeral znodes of the session vanish."""
        self.expired.append(session)
        for path in [path for path, owner in self.owners.items() if owner == session]:
            self.delete(path)


@dataclass(frozen=True)
class Stage:
    """A scene, and its parts as the fakes they are."""

    scene: Scene
    cluster: FakeCluster
    view: FakeView
    znodes: FakeZnodes
    recorder: MemoryRecorder

    def of(self, *kinds: EventKind) -> list[Event]:
        """The recorded events of these kinds."""
        return self.recorder.of(*kinds)


@contextmanager
def staged(logs: Path, shape: Topology | None = None, seed: int = 1) -> Iterator[Stage]:
    """A started cluster of fakes, with all its controllers up as well; it can do everything, as the test plays it."""
    recorder, view, znodes = MemoryRecorder(), FakeView(), FakeZnodes()
    with FakeProvider(frozenset(Capability)).provision(shape or topology(), recorder, logs) as cluster:
        cluster.start_together(cluster.nodes())
        recorder.events.clear()
        yield Stage(Scene(cluster, view, znodes, recorder, seed), cluster, view, znodes, recorder)
