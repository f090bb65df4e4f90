"""Watches how busy this machine is, and with what: the run's own processes, or others.

Processors are read from ``/proc/stat`` and from the times of all processes, which every kernel has. PSI
(``/proc/pressure``) adds memory and disks where the kernel has it.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.event import Recorder, is_a
from pytest_kmigrate.model.events.evidence import MachinePressure
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.probes.background import Background

_LOOKED_EVERY_S = 0.25
_LOOKS = 8
"""A span of two seconds: a short one, as the shortest wait that a check limits takes seconds."""
_LEAST_WAITING, _LEAST_MEMORY, _LEAST_IO, _LEAST_LATE_MS = 2.0, 0.1, 0.2, 500
"""A span below all of these is not recorded."""
_SECTOR_BYTES = 512
_VIRTUAL = ("loop", "ram", "zram", "dm-", "md", "sr")
_FULL_S = 1e-6
"""PSI counts microseconds."""


@dataclass(frozen=True)
class Reading:
    """What the kernel had counted at one moment; None for what it does not count."""

    busy: int
    """Ticks that processors worked, also for other machines on the same host."""
    ticks: int
    """Ticks of all processors."""
    own: Mapping[int, int]
    """By process of the run, the ticks that it worked, and that its children worked which have ended."""
    memory_s: float | None
    io_s: float | None
    disk_bytes: int | None
    own_bytes: Mapping[int, int]
    """By process of the run, the bytes that it read from disks and wrote to them, as far as they were not cancelled.

    A write counts when it is made. The kernel may bring it to the disk half a minute later.
    """
    memory_bytes: int | None
    """In use on this machine, swapped or not; without what the kernel would give back."""
    own_memory_bytes: int


class PressureProbe:
    """Records each span in which this machine was busy, or in which this process did not run."""

    def __init__(
        self,
        recorder: Recorder,
        proc: Path = Path("/proc"),
        now_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """``proc``: where the kernel reports; ``now_ns`` is the clock that spans are measured by."""
        self._recorder = recorder
        self._proc = proc
        self._now_ns = now_ns
        self._background = Background(recorder)
        self._processors = os.cpu_count() or 1
        self._written_back_later = 0
        self._waiting: list[int] = []
        self._looked_at = 0
        self._pids: set[int] = set()
        self._begin()

    def start(self) -> None:
        """Begin to watch."""
        self._begin()
        self._background.repeat("the pressure of this machine", _LOOKED_EVERY_S, self.look)

    def stop(self) -> None:
        """Stop watching, and record the span that has begun."""
        self._background.stop()
        with suppress(EnvironmentLackError):  # a recorder without room says so to the test as well
            self._end_span()

    def look(self) -> None:
        """Count who waits for a processor now; every few looks end a span."""
        self._waiting.append(max(0, self._running() - 1 - self._processors))
        if len(self._waiting) >= _LOOKS:
            self._end_span()

    def _begin(self, before: Reading | None = None) -> None:
        """Begin a span; ``before``: what was read at the end of the one before, as reading takes time of its own."""
        self._waiting = []
        self._began_ns, self._began_at = self._recorder.now_ns(), self._now_ns()
        self._before = before or self._read()

    def _end_span(self) -> None:
        looks = len(self._waiting)
        if not looks:
            return
        now, lasted_s = self._read(), (self._now_ns() - self._began_at) / 1e9
        late_ms = max(0, round((lasted_s - looks * _LOOKED_EVERY_S) * 1000))
        waiting = sum(self._waiting) / looks / self._processors
        measured = measured_between(self._before, now, lasted_s, self._written_back_later)
        self._written_back_later = measured.written_back_later
        busy = (waiting >= _LEAST_WAITING, late_ms >= _LEAST_LATE_MS)
        starved = ((measured.memory or 0) >= _LEAST_MEMORY, (measured.io or 0) >= _LEAST_IO)
        if any((*busy, *starved)):
            self._recorder.record(
                MachinePressure(
                    self._began_ns,
                    round(waiting, 1),
                    round(measured.foreign, 2),
                    late_ms,
                    measured.memory,
                    measured.io,
                    measured.foreign_io,
                    measured.foreign_memory,
                )
            )
        self._begin(now)

    def _running(self) -> int:
        """How many threads of the machine run or are ready to."""
        for line in _lines(self._proc / "stat"):
            if line.startswith("procs_running "):
                return int(line.split()[1])
        return 0

    def _read(self) -> Reading:
        busy, ticks = _processors(_lines(self._proc / "stat"))
        own = self._own()
        io = {pid: _lines(self._proc / str(pid) / "io") for pid in own}
        own_bytes = {pid: _bytes_of(lines) for pid, lines in io.items()}
        # Of a process of another user, as in a container, nothing can be read: its bytes must not pass for others'.
        disk_bytes = _disk_bytes(_lines(self._proc / "diskstats")) if all(io.values()) else None
        memory_s, io_s = (_full_s(_lines(self._proc / "pressure" / each)) for each in ("memory", "io"))
        memory_bytes = _memory_bytes(_kilobytes(_lines(self._proc / "meminfo")))
        own_memory = sum(_own_memory_bytes(_kilobytes(_lines(self._proc / str(pid) / "status"))) for pid in own)
        return Reading(busy, ticks, own, memory_s, io_s, disk_bytes, own_bytes, memory_bytes, own_memory)

    def _own(self) -> dict[int, int]:
        """The ticks of this process, of the nodes, and of all that either has started."""
        parents: dict[int, int] = {}
        ticks: dict[int, int] = {}
        for folder in self._proc.iterdir():
            if folder.name.isdigit() and (fields := _stat_of(folder)) is not None:
                parents[int(folder.name)], ticks[int(folder.name)] = fields
        roots = {os.getpid(), *self._nodes()}
        return {pid: ticks[pid] for pid in ticks if _descends(pid, parents, roots)}

    def _nodes(self) -> set[int]:
        """The process ids that the run has recorded: those in containers have another parent."""
        events = self._recorder.events
        for number in range(self._looked_at, len(events)):
            event = events[number]
            pid = event.what.pid if is_a(event, NodeStarted) else None
            if pid is not None:
                self._pids.add(pid)
            self._looked_at = number + 1
        return self._pids


@dataclass(frozen=True)
class Measured:
    """What a span between two readings was like, in shares of it."""

    foreign: float
    memory: float | None
    io: float | None
    foreign_io: float | None
    foreign_memory: float | None
    written_back_later: int
    """Bytes that the run has written and that no disk has taken yet."""


def measured_between(before: Reading, now: Reading, lasted_s: float, written_before: int = 0) -> Measured:
    """Return the shares of a span; None for what the kernel does not count.

    ``written_before``: bytes that the run wrote before the span and that no disk had taken when it began.
    """
    ticks, busy = now.ticks - before.ticks, now.busy - before.busy
    own = _grown(before.own, now.own)
    foreign = max(0.0, busy - own) / ticks if ticks > 0 else 0.0
    foreign_io, left = None, max(0, written_before + _grown(before.own_bytes, now.own_bytes))
    if before.disk_bytes is not None and now.disk_bytes is not None and now.disk_bytes > before.disk_bytes:
        moved = now.disk_bytes - before.disk_bytes
        foreign_io = round(max(0.0, moved - left) / moved, 2)
        left = max(0, left - moved)
    memory, io = (_share(*each, lasted_s) for each in ((before.memory_s, now.memory_s), (before.io_s, now.io_s)))
    foreign_memory = None
    if now.memory_bytes:
        foreign_memory = round(max(0.0, now.memory_bytes - now.own_memory_bytes) / now.memory_bytes, 2)
    return Measured(min(1.0, foreign), memory, io, foreign_io, foreign_memory, left)


def _grown(before: Mapping[int, int], now: Mapping[int, int]) -> int:
    """By how much; a process that began in between counts from its beginning."""
    return sum(max(0, count - before.get(pid, 0)) for pid, count in now.items())


def _share(before: float | None, now: float | None, of_s: float) -> float | None:
    if before is None or now is None or of_s <= 0:
        return None
    return round(min(1.0, max(0.0, (now - before) / of_s)), 2)


def _lines(file: Path) -> list[str]:
    """None of a file that the kernel does not have, or of a process that has ended or is of another user."""
    with suppress(OSError):
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    return []


def _processors(lines: Iterable[str]) -> tuple[int, int]:
    """Ticks of work, and all ticks: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user."""
    for line in lines:
        if line.startswith("cpu "):
            counts = [int(each) for each in line.split()[1:9]]
            return sum(counts) - sum(counts[3:5]), sum(counts)
    return 0, 0


def _full_s(lines: Iterable[str]) -> float | None:
    for line in lines:
        if line.startswith("full "):
            return int(line.rpartition("total=")[2]) * _FULL_S
    return None


def _stat_of(folder: Path) -> tuple[int, int] | None:
    """Parent and ticks of a process and its ended children; its name is in brackets and may have any character.

    A child that ended after a long time counts whole in that span, so the run seems to work more than it did.
    """
    for line in _lines(folder / "stat")[:1]:
        fields = line.rpartition(")")[2].split()
        return int(fields[1]), sum(map(int, fields[11:15]))
    return None


def _bytes_of(lines: Iterable[str]) -> int:
    counts = {name: int(count) for name, _, count in (line.partition(":") for line in lines) if count.strip().isdigit()}
    read, written = counts.get("read_bytes", 0), counts.get("write_bytes", 0)
    return read + max(0, written - counts.get("cancelled_write_bytes", 0))


def _kilobytes(lines: Iterable[str]) -> dict[str, int]:
    """What ``meminfo`` or the ``status`` of a process has in kB, by name; in bytes."""
    rows = [line.split() for line in lines if line.endswith(" kB")]
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if row[1:2] and row[1].isdigit()}


def _memory_bytes(info: Mapping[str, int]) -> int | None:
    if not {"MemTotal", "MemAvailable"} <= info.keys():
        return None
    return info["MemTotal"] - info["MemAvailable"] + info.get("SwapTotal", 0) - info.get("SwapFree", 0)


def _own_memory_bytes(status: Mapping[str, int]) -> int:
    """Of a process; files that it has mapped are not counted, as the kernel would give them back."""
    return sum(status.get(each, 0) for each in ("RssAnon", "RssShmem", "VmSwap"))


def _disk_bytes(lines: Iterable[str]) -> int | None:
    """Read and written by whole disks; partitions and devices on top of others count the same bytes again."""
    rows = [line.split() for line in lines]
    disks = {row[2]: (int(row[5]) + int(row[9])) * _SECTOR_BYTES for row in rows if not row[2].startswith(_VIRTUAL)}
    whole = [name for name in disks if not any(name != other and name.startswith(other) for other in disks)]
    return sum(disks[name] for name in whole) if whole else None


def _descends(pid: int, parents: Mapping[int, int], roots: Iterable[int]) -> bool:
    seen: set[int] = set()
    while pid not in roots:
        if pid in seen or pid not in parents:
            return False
        seen.add(pid)
        pid = parents[pid]
    return True
