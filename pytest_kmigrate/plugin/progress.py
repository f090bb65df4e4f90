"""Progress while a run is under way: phase, nodes up, operations per second, elapsed; never silent for long."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pytest_kmigrate.model.event import PHASE, Event, EventKind
from pytest_kmigrate.plugin.terminal import Terminal
from pytest_kmigrate.running import Run
from pytest_kmigrate.waiting import repeat

_TTY_EVERY_S = 1.0
_LOG_EVERY_S = 10.0
_TOLD_AT_ONCE = {EventKind.STEP_BEGAN: "step", EventKind.FAULT_BEGAN: "fault"}


@contextmanager
def shown(run: Run, terminal: Terminal) -> Iterator[None]:
    """Show the progress of a run while the block lasts."""
    over = threading.Event()
    status = _Status(run, terminal)
    every_s = _TTY_EVERY_S if terminal.is_tty else _LOG_EVERY_S
    thread = threading.Thread(target=repeat, args=(status.show, every_s, over), name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        status.show()
        terminal.line("")


class _Status:
    def __init__(self, run: Run, terminal: Terminal) -> None:
        self._run = run
        self._terminal = terminal
        self._began = time.monotonic()
        self._told = 0
        self._acked = 0
        self._at = self._began

    def show(self) -> None:
        """The events since the last time, one line each, then the state of things."""
        events = list(self._run.recorder.events[self._told :])
        self._told += len(events)
        for event in events:
            if sentence := _sentence(event):
                self._terminal.line(f"{event.at_ns / 1e9:7.1f} s  {sentence}")
        self._terminal.status(self._state())

    def _state(self) -> str:
        now, acked = time.monotonic(), self._run.traffic.acked()
        rate = max(0, acked - self._acked) / max(0.001, now - self._at)
        self._at, self._acked = now, acked
        nodes = self._run.cluster.nodes()
        up = sum(node.alive for node in nodes)
        phases = [event.data["state"] for event in self._run.recorder.events if _is_phase(event)]
        phase = phases[-1] if phases else "-"
        return f"{now - self._began:7.1f} s  {phase}, {up}/{len(nodes)} nodes up, {rate:.0f} writes/s"


def _sentence(event: Event) -> str | None:
    key = _TOLD_AT_ONCE.get(event.kind)
    if key:
        return f"{key} {event.data.get(key)}"
    return f"{PHASE} {event.data['state']}" if _is_phase(event) else None


def _is_phase(event: Event) -> bool:
    return event.kind is EventKind.STATE and event.data["of"] == PHASE
