"""The processes of a member: the command, and what it started, such as the JVM behind a start script."""

import os
import signal
from contextlib import suppress

import psutil

_NO_MORE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


def processes_of(pid: int) -> list[psutil.Process]:
    """The process and all below it that have not ended."""
    found: list[psutil.Process] = []
    with suppress(psutil.NoSuchProcess):
        first = psutil.Process(pid)
        found = [each for each in (first, *first.children(recursive=True)) if _lives(each)]
    return found


def signal_all(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process group's leader, its group and all below it; what has ended is left out.

    The group remains when its leader has ended: it was made for the member.
    """
    outside = [each for each in processes_of(pid) if _group_of(each) != pid]
    with suppress(ProcessLookupError):
        os.killpg(pid, number)
    for each in outside:
        with suppress(psutil.NoSuchProcess):
            each.send_signal(number)


def stand_still(pid: int) -> bool:
    """Whether all of them are in state T (stopped)."""
    found = processes_of(pid)
    return bool(found) and all(_status(each) == psutil.STATUS_STOPPED for each in found)


def _lives(process: psutil.Process) -> bool:
    return _status(process) not in _NO_MORE


def _status(process: psutil.Process) -> str:
    try:
        return str(process.status())
    except psutil.NoSuchProcess:
        return str(psutil.STATUS_DEAD)


def _group_of(process: psutil.Process) -> int:
    try:
        return os.getpgid(process.pid)
    except ProcessLookupError:
        return -1
