"""What a command costs, seen from outside: wall time, and the processor time and memory of all its processes."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.waiting import until

_ENDED_EVERY_S = 0.05
_SEEN_EVERY_S = 0.5
"""Looking at all processes takes milliseconds, which would be counted as the command's."""
_WITHIN_S = 3_600
_GIB = 2**30
_KIB_PER_GIB = 2**20
_INEXACT_KIB = 4 * 2**10
"""The kernel counts pages per processor, and adds that up in lots: two readings of the same memory differ."""
_SHOWN_CHARACTERS = 2_000


@dataclass(frozen=True)
class Cost:
    """What one command took, how it ended and what it printed."""

    seconds: float
    cpu_s: float
    peak_gib: float
    exit_status: int
    output: str

    def must_end_with(self, *statuses: int) -> "Cost":
        """Raise when it ended otherwise: a failure is quick, and would look like a good figure."""
        if self.exit_status not in statuses:
            wanted = " or ".join(str(each) for each in statuses)
            raise RuntimeError(
                f"expected exit status {wanted}, got {self.exit_status}: {self.output[-_SHOWN_CHARACTERS:]}"
            )
        return self


def cost(
    command: Sequence[str],
    log: Path,
    *,
    memory_gib: float | None = None,
) -> Cost:
    """Run a command to its end. Each of its processes may write to no more than ``memory_gib`` of its own memory.

    The memory is the largest sum seen of what the processes hold, shared pages counted once, and never less than the
    most that any one of them held, where that is more than we hold: between two looks a short command comes and goes.
    The processor time is what was seen last of each, and never less than what the system reports of those that were
    waited for.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    limited = [] if memory_gib is None else ["prlimit", f"--data={int(memory_gib * _GIB)}"]
    seen, usage = _Seen(), None
    began_s = time.monotonic()
    with log.open("w", encoding="utf-8") as stream:
        child = subprocess.Popen(
            bound_to_us([*limited, *command]),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
        )
    ours_kib = _held_kib() + _INEXACT_KIB
    tree = psutil.Process(child.pid)

    def ended() -> bool:
        nonlocal usage
        if time.monotonic() - seen.at_s >= _SEEN_EVERY_S:
            seen.look(tree)
        # Not Popen.wait: only wait4 returns what the child used.
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
        return pid != 0

    try:
        until(ended, awaited=f"the end of {command[0]}", within_s=_WITHIN_S, every_s=_ENDED_EVERY_S)
    finally:
        if child.returncode is None:
            child.kill()
            child.wait()
    seconds = time.monotonic() - began_s
    assert usage is not None
    cpu_s = max(sum(seen.cpu_s.values()), usage.ru_utime + usage.ru_stime)
    # Until it runs its own program a child holds what we hold, so up to that the system counts us and not it.
    alone_kib = usage.ru_maxrss if usage.ru_maxrss > ours_kib else 0
    peak_gib = max(seen.peak_gib, alone_kib / _KIB_PER_GIB)
    return Cost(seconds, cpu_s, peak_gib, child.returncode, log.read_text(errors="replace"))


def _held_kib() -> int:
    """The most that we have held since we run this program; getrusage adds what the parent process held before."""
    reported = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(reported["VmHWM"].split()[0])


@dataclass
class _Seen:
    """What was seen of a tree of processes so far."""

    at_s: float = 0.0
    peak_gib: float = 0.0
    cpu_s: dict[int, float] = field(default_factory=dict)
    """By process, the last that was seen."""

    def look(self, tree: psutil.Process) -> None:
        """Look once; a process that ends meanwhile is left out."""
        held, self.at_s = 0, time.monotonic()
        try:
            processes = [tree, *tree.children(recursive=True)]
        except psutil.Error:
            return
        for process in processes:
            try:
                held += process.memory_full_info().pss
                times = process.cpu_times()
            except psutil.Error:
                continue
            self.cpu_s[process.pid] = times.user + times.system
        self.peak_gib = max(self.peak_gib, held / _GIB)
