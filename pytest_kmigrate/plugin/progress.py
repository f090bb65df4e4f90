"""Progress of the run that is under way: step, phase, nodes up, writes per second; never silent for long."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pytest_kmigrate.model.event import PHASE, Event, EventKind
from pytest_kmigrate.plugin.terminal import Showing
from pytest_kmigrate.running import Run
from pytest_kmigrate.waiting import repeat

_PAINTED_EVERY_S = 1.0
_WRITTEN_EVERY_S = 10.0
_SHOWN_AT_ONCE = {EventKind.STEP_BEGAN: "step", EventKind.FAULT_BEGAN: "fault"}


class Progress:
    """Shows one run after the other; the only clock is the run's own, which its events have as well."""

    def __init__(self, terminal: Showing) -> None:
        self._terminal = terminal
        self._state: Callable[[], str] = str

    @contextmanager
    def shown(self, beginning: str) -> Iterator[None]:
        """Show progress while the block runs: ``beginning``, and from ``follow`` on the run."""
        self._state = lambda: beginning
        over = threading.Event()
        every_s = _PAINTED_EVERY_S if self._terminal.is_tty else _WRITTEN_EVERY_S
        thread = threading.Thread(target=repeat, args=(self._show, every_s, over), name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._terminal.ended()

    def follow(self, run: Run) -> None:
        """Show this run from now on."""
        self._state = _Followed(run, self._terminal).state

    def _show(self) -> None:
        self._terminal.status(self._state())


class _Followed:
    def __init__(self, run: Run, terminal: Showing) -> None:
        self._run = run
        self._terminal = terminal
        self._seen = 0
        self._acked = 0
        self._at_ns = 0
        self._phase = "-"
        self._step = ""

    def state(self) -> str:
        """The events since the last time, a line for each that matters; then the state of things."""
        events = list(self._run.recorder.events[self._seen :])
        self._seen += len(events)
        for event in events:
            self._note(event)
            if sentence := _sentence(event):
                self._terminal.line(f"{event.at_ns / 1e9:7.1f} s  {sentence}")
        now_ns, acked = self._run.recorder.now_ns(), self._run.traffic.acked()
        rate = max(0, acked - self._acked) / max(0.001, (now_ns - self._at_ns) / 1e9)
        self._at_ns, self._acked = now_ns, acked
        nodes = self._run.cluster.nodes()
        up = sum(node.alive for node in nodes)
        parts = [self._phase, f"{up}/{len(nodes)} nodes up", f"{rate:.0f} writes/s", self._step]
        return f"{now_ns / 1e9:7.1f} s  {', '.join(part for part in parts if part)}"

    def _note(self, event: Event) -> None:
        if _is_phase(event):
            self._phase = str(event.data["state"])
        if event.kind is EventKind.STEP_BEGAN:
            self._step = f"step {event.data.get('step')}"
        if event.kind is EventKind.STEP_ENDED:
            self._step = ""


def _sentence(event: Event) -> str | None:
    key = _SHOWN_AT_ONCE.get(event.kind)
    if key:
        return f"{key} {event.data.get(key)}"
    return f"{PHASE} {event.data['state']}" if _is_phase(event) else None


def _is_phase(event: Event) -> bool:
    return event.kind is EventKind.STATE and event.data["of"] == PHASE
