"""Faults of what a process is granted: room on its disk, open files, time of the processors, a fast disk."""

import errno
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from pytest_kmigrate.faults.effect import Applied, whole_number
from pytest_kmigrate.faults.targets import Target
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.events.faults import DISK, NOTHING
from pytest_kmigrate.model.protocols import Node, Restricted, Scene
from pytest_kmigrate.procedures.restarts import await_session_over, has_started
from pytest_kmigrate.waiting import until

_OFFLINE = "OfflineLogDirectoryCount"
_TOO_MANY = os.strerror(errno.EMFILE)
_CONNECTED_WITHIN_S = 1.0
_KNOWN_WITHIN_S = 60
_CLOCK_WITHIN_S = 5
"""A clock is read by the second, and its setting takes a second to be seen."""
_STOOD_MS = 500
"""So long a starved process has stood still in all before it counts as starved."""


@dataclass(frozen=True)
class FillDisk:
    """No file of a node can grow, as on a full disk; Kafka meets it at its next write, as an IOException.

    The kernel refuses each write to a file (``RLIMIT_FSIZE``), so the node's own log lacks what it says meanwhile. The
    witness is Kafka's reaction: its own count of directories that are offline, or the end of the node. It is healed as
    operators do it: there is room again, and the node is stopped, if it runs, and started.
    """

    target: Target
    needs = frozenset({Capability.LIMITS, Capability.START, Capability.METRICS})

    def __str__(self) -> str:
        return f"fill-disk({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Let the node meant write nothing more."""
        node = scene.cluster.node(self.target.one(scene))
        before, lived = scene.view.metric(node.name, _OFFLINE) or 0, node.alive
        node.restrict(Restricted.FILE_SIZE, 0)

        def witness() -> str | None:
            if lived and not node.alive:
                return f"{node.name} ended with a full disk"
            count = scene.view.metric(node.name, _OFFLINE) or 0
            return f"{node.name} reports {count:g} offline log directories" if count > before else None

        try:
            looked_for = f"{_OFFLINE} of {node.name} above {before:g}, or its end"
            yield Applied((node.name,), looked_for, witness, takes=DISK, may_end=True)
        finally:
            node.restrict(Restricted.FILE_SIZE, None)
            _restarted(scene, node)


@dataclass(frozen=True)
class FewFiles:
    """A broker or controller can open ``spare`` more files and connections, and no others.

    The kernel refuses (``RLIMIT_NOFILE``). The witness is the kernel's own word for it in what the node says, provoked
    by connections to it. Kafka may take a log directory offline that it cannot open files in, and end by that; then,
    and only then, the node is started again when the fault is healed.
    """

    target: Target
    spare: int = whole_number(0, 0, 10**6)
    needs = frozenset({Capability.LIMITS, Capability.START, Capability.REQUESTS, Capability.LOGS})

    def __str__(self) -> str:
        return f"few-files({self.target})"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Grant no more files to the node meant."""
        node = scene.cluster.node(self.target.one(scene))
        said = node.log.stat().st_size if node.log.exists() else 0
        before = scene.view.metric(node.name, _OFFLINE) or 0
        address = scene.cluster.peer(node.name).address
        node.restrict(Restricted.OPEN_FILES, self.spare)

        def witness() -> str | None:
            _connect(address, self.spare + 1)
            with node.log.open("rb") as log:
                log.seek(said)
                return f"{node.name} says {_TOO_MANY!r}" if _TOO_MANY.encode() in log.read() else None

        try:
            looked_for = f"{_TOO_MANY!r} in what {node.name} says"
            yield Applied((node.name,), looked_for, witness, takes=DISK, may_end=True)
        finally:
            node.restrict(Restricted.OPEN_FILES, None)
            _await_sign_of_life(node, address)
            if not node.alive or (scene.view.metric(node.name, _OFFLINE) or 0) > before:
                _restarted(scene, node)


@dataclass(frozen=True)
class Starve:
    """A node runs for ``percent`` of the time only: it is stopped and continued ten times a second.

    It is what a node meets whose machine, or whose container, has too little time of the processors for it.
    """

    target: Target
    percent: int = whole_number(20, 1, 99)
    needs = frozenset({Capability.STARVE})

    def __str__(self) -> str:
        return f"starve({self.target}, {self.percent} %)"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Starve every node meant that runs."""
        nodes = [scene.cluster.node(name) for name in self.target.nodes(scene)]
        with ExitStack() as feeding:
            stood = {node.name: feeding.enter_context(node.starve(self.percent)) for node in nodes if node.alive}

            def witness() -> str | None:
                each = {name: so_far() for name, so_far in stood.items()}
                if not each or any(so_far.ms < _STOOD_MS for so_far in each.values()):
                    return None
                return "; ".join(f"{name} stood still {at.times} times, {at.ms} ms" for name, at in each.items())

            names = tuple(node.name for node in nodes)
            yield Applied(names, f"each of them standing still for {_STOOD_MS} ms in all", witness, takes=NOTHING)


@dataclass(frozen=True)
class SlowFsync:
    """Each fsync of a log takes ``delay_ms`` longer, as on a slow disk.

    Brokers and controllers make one for each append to the metadata log, and brokers for each segment that is full;
    servers of ZooKeeper for each transaction.
    """

    target: Target
    delay_ms: int = whole_number(300, 1, 600_000)
    needs = frozenset({Capability.CRASH_POINTS})

    def __str__(self) -> str:
        return f"slow-fsync({self.target}, {self.delay_ms} ms)"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Delay every node meant that runs."""
        nodes = [scene.cluster.node(name) for name in self.target.nodes(scene)]
        with scene.cluster.slow_fsync([node for node in nodes if node.alive], self.delay_ms) as delayed:

            def witness() -> str | None:
                late = delayed()
                return f"an fsync of {', '.join(late)} was delayed" if late else None

            yield Applied(tuple(node.name for node in nodes), "an fsync that was delayed", witness, takes=NOTHING)


@dataclass(frozen=True)
class TornTail:
    """A broker is killed, and the newest segment of each partition that it has loses its last bytes, as by a power cut.

    Kafka acknowledges records before they are on the disk, so it has to bring them back from other replicas: a
    partition without another one in sync loses them rightly. The witness is that files were shortened while the process
    was gone. It is healed by starting the broker.
    """

    target: Target
    size: int = whole_number(100, 1, 10**9)
    needs = frozenset({Capability.KILL, Capability.START, Capability.DISKS})

    def __str__(self) -> str:
        return f"torn-tail({self.target}, {self.size} bytes)"

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Kill the broker meant, and shorten its files."""
        node = scene.cluster.node(self.target.one(scene))
        with scene.turns.of([node.name]):
            node.kill()
            torn = node.tear_tails(self.size)
        try:
            words = f"{node.name}: {len(torn)} files lost {sum(torn.values())} bytes" if torn else None
            yield Applied((node.name,), "a file that was shortened", lambda: words, {"torn": dict(torn)}, NOTHING)
        finally:
            _started(scene, node)


@dataclass(frozen=True)
class Clock:
    """The clock of a broker or controller jumps back, or ``forward``, by so many seconds, and back again when healed.

    Kafka times elections and sessions by the time of day, so a clock that jumps back stops them for as long as it
    jumped. The witness is the time that the node itself reports. A clock that is set forward by more than a topic's
    retention deletes records rightly.
    """

    target: Target
    seconds: int = whole_number(600, 1, 10**9)
    forward: bool = False
    needs = frozenset({Capability.CLOCKS, Capability.METRICS})

    def __str__(self) -> str:
        return f"clock({self.target}, {self._offset_s:+d} s)"

    @property
    def _offset_s(self) -> int:
        return self.seconds if self.forward else -self.seconds

    @contextmanager
    def applied_to(self, scene: Scene) -> Iterator[Applied]:
        """Set the clock of every node meant."""
        nodes = [scene.cluster.node(name) for name in self.target.nodes(scene)]

        def witness() -> str | None:
            off = {node.name: _ahead_s(scene, node) for node in nodes}
            if any(each is None or abs(each - self._offset_s) > _CLOCK_WITHIN_S for each in off.values()):
                return None
            return "; ".join(f"{name} reports a time {each:+.0f} s from this machine's" for name, each in off.items())

        try:
            for node in nodes:
                node.set_clock(self._offset_s)
            names = tuple(node.name for node in nodes)
            yield Applied(names, f"each of them reporting a time {self._offset_s:+d} s off", witness, takes=NOTHING)
        finally:
            for node in nodes:
                node.set_clock(0)


def _ahead_s(scene: Scene, node: Node) -> float | None:
    clock = scene.cluster.clock_of(node.name)
    return None if clock is None else clock - time.time()


def _connect(address: str, times: int) -> int:
    """Dial a node, and return how often there was an answer.

    A connection that it cannot take is taken by the kernel, and closed here.
    """
    host, _, port = address.rpartition(":")
    connected = 0
    with ExitStack() as closing:
        for _ in range(times):
            with suppress(OSError):
                closing.enter_context(socket.create_connection((host, int(port)), timeout=_CONNECTED_WITHIN_S))
                connected += 1
    return connected


def _await_sign_of_life(node: Node, address: str) -> None:
    """Return when a node is known to have ended, or still listens.

    One that has ended itself is known to have when its output has been read to the end, which takes seconds on a
    machine that is busy; it listens no more until then.
    """
    with suppress(AwaitTimeoutError):
        until(
            lambda: not node.alive or _connect(address, 1),
            awaited=f"{node.name} listening, or its end",
            within_s=_KNOWN_WITHIN_S,
            ends_anyway=True,
        )


def _restarted(scene: Scene, node: Node) -> None:
    with scene.turns.of([node.name]):
        node.stop()
        await_session_over(scene, node)
        has_started(scene, node.start, is_heal=True)


def _started(scene: Scene, node: Node) -> None:
    """Start it, unless a test or a roll has done so."""
    with scene.turns.of([node.name]):
        if not node.alive:
            await_session_over(scene, node)
            has_started(scene, node.start, is_heal=True)
