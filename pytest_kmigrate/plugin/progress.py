"""Progress of the run that is under way: step n of m, phase, nodes up, writes per second, and the time that is left."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeGuard

from pytest_kmigrate.model.event import PHASE, Event, EventKind, Recorded, is_a
from pytest_kmigrate.model.events.evidence import ChecksRequested
from pytest_kmigrate.model.events.faults import FaultBegan
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.steps import StateChanged, StepBegan, StepEnded
from pytest_kmigrate.plugin.terminal import Showing
from pytest_kmigrate.running import Run
from pytest_kmigrate.waiting import repeat

_PAINTED_EVERY_S = 1.0
_WRITTEN_EVERY_S = 10.0
_WORKLOADS = {EventKind.WORKLOAD_BEGAN: 1, EventKind.WORKLOAD_ENDED: -1}


class Progress:
    """Shows one run after the other; the only clock is the run's own, which its events have as well."""

    def __init__(self, terminal: Showing) -> None:
        self._terminal = terminal
        self._state: Callable[[], str] = str
        self._took_s: list[float] = []
        self._left = ""

    @contextmanager
    def shown(self, beginning: str, tests_left: int | None = None) -> Iterator[None]:
        """Show progress while the block runs: ``beginning``, and from ``follow`` on the run.

        ``tests_left``: how many tests with a cluster come in this process, this one included; None: it is not known.
        """
        self._state = lambda: beginning
        self._left = time_left(self._took_s, tests_left)
        began_s = time.monotonic()
        over = threading.Event()
        every_s = _PAINTED_EVERY_S if self._terminal.is_tty else _WRITTEN_EVERY_S
        thread = threading.Thread(target=repeat, args=(self._show, every_s, over), name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._took_s.append(time.monotonic() - began_s)
            self._terminal.ended()

    def follow(self, run: Run) -> None:
        """Show this run from now on."""
        self._state = _Followed(run, self._terminal).state

    def _show(self) -> None:
        self._terminal.status(f"{self._state()}{self._left}")


def time_left(took_s: Sequence[float], tests: int | None) -> str:
    """How long so many tests may take by those that ended, as the end of a line; empty where nothing is known."""
    if tests is None or not took_s:
        return ""
    minutes = sum(took_s) / len(took_s) * tests / 60
    shown = f"{minutes:.0f} min" if minutes >= 1 else "less than a minute"
    return f"; {tests} test{'s' * (tests != 1)} left, about {shown}"


class _Followed:
    def __init__(self, run: Run, terminal: Showing) -> None:
        self._run = run
        self._terminal = terminal
        self._seen = 0
        self._acked = 0
        self._at_ns = 0
        self._phase = "-"
        self._step = ""
        self._steps = run.steps
        self._started: set[str] = set()
        self._workloads = 0
        self._is_judged = False

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
        parts = [self._phase, self._nodes(), self._traffic(rate), self._step]
        return f"{now_ns / 1e9:7.1f} s  {', '.join(part for part in parts if part)}"

    def _nodes(self) -> str:
        """How many nodes are up of those that were ever started; the others come later, as controllers do."""
        nodes = self._run.cluster.nodes()
        begun = [node for node in nodes if node.alive or node.name in self._started]
        later = len(nodes) - len(begun)
        up = f"{sum(node.alive for node in begun)}/{len(begun)} nodes up"
        return f"{up}, {later} not started yet" if later else up

    def _traffic(self, rate: float) -> str:
        """Writes per second while anything writes; without traffic a rate of 0 says nothing."""
        if self._is_judged:
            return "judging"
        return f"{rate:.0f} writes/s" if self._workloads > 0 else ""

    def _note(self, event: Event) -> None:
        if _is_phase(event):
            self._phase = event.what.state
        if is_a(event, StepBegan):
            self._step = f"step {self._named(event.what.step)}"
        if is_a(event, StepEnded):
            self._step = ""
        if is_a(event, NodeStarted) and event.node:
            self._started.add(event.node)
        self._workloads += _WORKLOADS.get(event.kind, 0)
        self._is_judged |= is_a(event, ChecksRequested)

    def _named(self, step: str) -> str:
        """A step with its place in the document's procedure; an operator's own moves have none."""
        return f"{step} ({self._steps.index(step) + 1} of {len(self._steps)})" if step in self._steps else step


def _sentence(event: Event) -> str | None:
    if is_a(event, StepBegan):
        return f"step {event.what.step}"
    if is_a(event, FaultBegan):
        return f"fault {event.what.fault}"
    return f"{PHASE} {event.what.state}" if _is_phase(event) else None


def _is_phase(event: Event) -> TypeGuard[Recorded[StateChanged]]:
    return is_a(event, StateChanged) and event.what.of == PHASE
