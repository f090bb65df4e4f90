"""What this process may use of the machine: less than there is, in a container or under a quota.

Limits are those of control groups, version 1 and 2, of this process's group and of each group around it.
"""

import math
import os
from collections.abc import Iterator
from pathlib import Path

import psutil

_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")


def processors(proc: Path = _PROC, groups: Path = _GROUPS) -> int:
    """How many processors may be used at once, at least 1: by affinity, and by quotas, rounded up."""
    allowed = [len(os.sched_getaffinity(0))]
    for folder in _folders("cpu", proc, groups):
        quota, period = _quota(folder)
        if quota > 0 and period > 0:
            allowed.append(math.ceil(quota / period))
    return max(1, min(allowed))


def available_memory(proc: Path = _PROC, groups: Path = _GROUPS) -> int:
    """Bytes that may still be taken: what the machine has available, or what the narrowest group leaves."""
    left = [psutil.virtual_memory().available]
    for folder in _folders("memory", proc, groups):
        for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
            most, taken = _number(folder / limit), _number(folder / used)
            if most is not None and taken is not None:
                left.append(max(0, most - taken + _given_back(folder)))
    return min(left)


def _folders(controller: str, proc: Path, groups: Path) -> Iterator[Path]:
    """The group of this process and all around it, as far as they can be seen from here.

    In a container the path may be the host's, of which only the innermost group is mounted, as the root.
    """
    for line in _text(proc / "self" / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        roots = [groups, groups / "unified"] if not controllers else [groups / controllers, groups / controller]
        if controllers and controller not in controllers.split(","):
            continue
        root = next((each for each in roots if (each / "cgroup.procs").exists()), None)
        if root is None:
            continue
        own = root / path.lstrip("/")
        folder = own if own.is_dir() else root
        yield folder
        while folder != root:
            folder = folder.parent
            yield folder


def _quota(folder: Path) -> tuple[int, int]:
    """Microseconds of processor time for each period of so many; 0 without a quota."""
    words = _text(folder / "cpu.max").split()
    if len(words) == 2 and words[0].isdecimal():
        return int(words[0]), int(words[1])
    return _number(folder / "cpu.cfs_quota_us") or 0, _number(folder / "cpu.cfs_period_us") or 0


def _given_back(folder: Path) -> int:
    """What counts as used and is only a file's content, which the kernel gives back when memory is short."""
    found = (line.split() for line in _text(folder / "memory.stat").splitlines())
    counts = {words[0]: int(words[1]) for words in found if len(words) == 2}
    return counts.get("total_inactive_file", counts.get("inactive_file", 0))


def _number(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
