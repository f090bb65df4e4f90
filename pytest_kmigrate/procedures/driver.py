"""Walks a procedure: forward to a state, part of a step, and back; every step is an event."""

import enum
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pytest_kmigrate.model.capabilities import require
from pytest_kmigrate.model.document import Move, Step, name_of
from pytest_kmigrate.model.errors import (
    AwaitTimeoutError,
    ClusterError,
    EnvironmentLackError,
    KmigrateError,
    WrongUseError,
)
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded, StepOutcome
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.procedures.waits import waited_in_vain
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

STATE_REACHED = "a state is reached"
"""The expectation of a test that waits for a state, and names requirements."""


def described(troubles: Mapping[str, str]) -> str:
    """Return what nodes report that their machine lacks, as one text."""
    return "; ".join(f"{node}: {trouble}" for node, trouble in troubles.items())


class ProcedureDriver:
    """Walks one cluster through the steps of a document. States are read from the cluster, never assumed."""

    def __init__(self, scene: Scene, steps: Sequence[Step]) -> None:
        self._scene = scene
        self._steps = steps
        self._next = 0
        self._half_done: tuple[Step, int] | None = None
        self._took_over: tuple[int, str] | None = None

    def advance_to(self, value: str | enum.Enum) -> None:
        """Take every step up to the one that reaches ``value``, and wait until it is reached.

        WrongUseError when no step reaches it, or only one before those that were taken: the way leads forward.
        """
        place = self._place_of(name_of(value))
        while self._next <= place:
            self._walk(self._steps[self._next])
            self._next += 1
        self.await_state(*self._steps[place].reaches)

    def begin(self, step: Step, moves: int) -> None:
        """Take only the first ``moves`` moves of the next step; ``advance_to`` later takes the rest."""
        if self._next >= len(self._steps) or self._steps[self._next] is not step:
            expected = self._steps[self._next].name if self._next < len(self._steps) else "none, all are done"
            raise WrongUseError(f"the next step is expected to be {expected}; got {step.name}")
        self._walk(step, moves)

    def make(self, name: str, *moves: Move) -> None:
        """Take an operator's own moves, as one step of this name that no document has.

        Where they lead is for the test to expect. WrongUseError for the name of a step of the document, or no moves.
        """
        known = [step.name for step in self._steps]
        if name in known or not moves:
            got = f"the documented step {name}" if name in known else f"none for {name}"
            raise WrongUseError(f"make: expected a name of the test's own and moves, got {got}")
        with self._recorded(name, moves, 0, len(moves)):
            for move in moves:
                move.make(self._scene)

    def resume_at(self, value: str) -> None:
        """Take up where another driver had come to ``value``, and wait until the cluster is there again."""
        place = self._place_of(value)
        self._next = place + 1
        self.await_state(*self._steps[place].reaches)

    def go_back(self, ways: Sequence[Step]) -> None:
        """Take these steps, each from its first move; the way forward begins anew afterwards."""
        for step in ways:
            self._half_done = None
            self._walk(step)
        self._half_done = None
        self._next = 0

    def await_state(
        self,
        name: str,
        value: str | enum.Enum,
        within_s: float = PATIENCE_S,
        requirements: Sequence[str] = (),
    ) -> None:
        """Return when a state of the document has this value.

        ``requirements``: those that are violated if it never has.
        """
        wanted = name_of(value)
        try:
            until(lambda: self._is_in(name, wanted), awaited=f"{name} {wanted}", within_s=within_s)
        except AwaitTimeoutError as error:
            found = "; ".join([str(error.last_seen), *self._obstacles(wanted)])
            late = AwaitTimeoutError(error.awaited, error.within_s, found)
            if requirements:
                waited_in_vain(self._scene.recorder, STATE_REACHED, late, requirements)
            raise late from error

    def await_new_active_controller(self, within_s: float = PATIENCE_S) -> str:
        """Return the node that took over since the last fault began."""
        before = self._active_before_last_fault()
        found = until(
            lambda: self._other_than(before),
            awaited=f"an active controller other than {before}",
            within_s=within_s,
        )
        self._took_over = len(self._scene.recorder.events), found
        return found

    def _obstacles(self, _wanted: str) -> Sequence[str]:
        """Sentences that say what keeps the cluster from this value, as far as its evidence shows; a document's own."""
        return ()

    def _place_of(self, value: str) -> int:
        values = [step.reaches[1] for step in self._steps]
        if value not in values:
            raise WrongUseError(f"advance_to: expected one of {', '.join(values) or 'none'}, got {value}")
        place = max(number for number, each in enumerate(values) if each == value)
        if place < self._next - 1:
            ahead = ", ".join(values[self._next - 1 :])
            raise WrongUseError(f"advance_to: expected one of {ahead}, as the way leads forward only; got {value}")
        return place

    def _walk(self, step: Step, moves: int | None = None) -> None:
        all_moves = step.moves(self._scene.cluster)
        done = self._half_done[1] if self._half_done and self._half_done[0] is step else 0
        last = len(all_moves) if moves is None else min(done + moves, len(all_moves))
        outcome: StepOutcome = "done" if moves is None else "stopped"
        with self._recorded(step.name, all_moves, done, last, outcome, step.requirements):
            for number in range(done, last):
                all_moves[number].make(self._scene)
                self._half_done = (step, number + 1)
            if moves is None:
                self.await_state(*step.reaches)

    @contextmanager
    def _recorded(
        self,
        name: str,
        moves: Sequence[Move],
        first: int,
        last: int,
        outcome: StepOutcome = "done",
        requirements: Sequence[str] = (),
    ) -> Iterator[None]:
        """Record what happens meanwhile as one step, by the moves from ``first`` to ``last``."""
        recorder = self._scene.recorder
        needs = frozenset(need for move in moves for need in move.needs)
        require(self._scene.cluster.capabilities, needs, f"step {name}", recorder)
        recorder.record(StepBegan(name, first, last, len(moves)))
        try:
            yield
        except ClusterError as error:
            recorder.record(StepEnded(name, "failed", str(error), list(requirements) or None))
            error.is_recorded = True
            if troubles := self._scene.cluster.machine_troubles():
                raise EnvironmentLackError(f"{error}; {described(troubles)}") from error
            raise
        except KmigrateError as error:  # trouble of user or machine, none of Kafka's
            of_machine = isinstance(error, EnvironmentLackError) or None
            recorder.record(HarnessTrouble(f"step {name}", str(error), of_machine))
            recorder.record(StepEnded(name, "stopped", str(error)))
            raise
        recorder.record(StepEnded(name, outcome, reason=""))

    def _is_in(self, name: str, value: str) -> bool | NotYet:
        reading = self._scene.view.state(name)
        seen = reading.value if reading else "unknown"
        return seen == value or NotYet(f"{name} {seen}")

    def _active_before_last_fault(self) -> str | None:
        """The active controller last seen before the last fault began; without a fault, the present one.

        The probe may see a controller that took over only after the next fault began, so what this driver has seen
        counts as well.
        """
        events = list(self._scene.recorder.events)
        faults = [event.seq for event in events if event.kind is EventKind.FAULT_BEGAN]
        horizon = faults[-1] if faults else len(events)
        recorded = events[:horizon]
        seen = [(each.seq, each.node) for each in recorded if each.kind is EventKind.ACTIVE_CONTROLLER and each.node]
        if self._took_over is not None and self._took_over[0] <= horizon:
            seen.append(self._took_over)
        return max(seen)[1] if seen else None

    def _other_than(self, before: str | None) -> str | NotYet:
        now = self._scene.view.active_controller()
        return now if now and now != before else NotYet(f"active controller {now}")
