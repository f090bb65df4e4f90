"""Whether a state of a document came to a value, and what that proves; documents declare checks of it."""

from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import failed_steps, time_of_step, when
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.checkers.run.doubts import harness_troubles, machine_troubles
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, conforms, inconclusive, violates


def state_reached(history: History, name: str, value: str) -> Verdict:
    """Judge that a state came to this value.

    If it did not, that is a violation only when a step towards it failed, under no fault, and the harness had no
    trouble of its own; a step never begun, or stopped on purpose, proves nothing.
    """
    changes, reached = history.states(name), _change_to(history, name, value)
    if reached is not None:
        return conforms(f"{value} reached {span(reached.at_ns)} after the run began", at_ns=reached.at_ns)
    last = changes[-1].what.state if changes else f"no {name} at all"
    troubles = [*machine_troubles(history), *harness_troubles(history)]
    if troubles:
        return inconclusive(troubles[0].kind, f"{value} not reached, stayed in {last}; {troubles[0].text}")
    blamed, excused = failed_steps(history)
    if not blamed and excused:
        step = excused[-1].what.step
        text = f"{value} not reached, stayed in {last}; {step} failed while a fault was in force"
        return inconclusive(Kind.VACUOUS, text)
    if not blamed:
        return inconclusive(Kind.VACUOUS, f"{value} not reached, and no step towards it failed; last: {last}")
    observed = f"stayed in {last}; {_failure(history, blamed[-1])}"
    at_ns, awaited = blamed[-1].at_ns, time_of_step(history, blamed[-1])
    evidence = f"event {blamed[-1].seq}"
    violation = violation_at(history, f"{value} is reached", observed, at_ns, evidence, awaited=awaited)
    return violates(Kind.LIVENESS, [violation], f"{value} was not reached: {observed}")


def state_not_reached(history: History, name: str, value: str) -> Verdict:
    """Judge that a state never came to this value; inconclusive if it did."""
    reached = _change_to(history, name, value)
    if reached is None and history.states(name):
        return conforms(f"{value} was never reached")
    if reached is None:
        return inconclusive(Kind.VACUOUS, f"no {name} was recorded")
    return inconclusive(Kind.VACUOUS, f"{value} was reached {span(reached.at_ns)} after the run began")


def _change_to(history: History, name: str, value: str) -> Event | None:
    return next((event for event in history.states(name) if event.what.state == value), None)


def _failure(history: History, event: Recorded[StepEnded]) -> str:
    return f"step {event.what.step} failed {when(history, event.at_ns)}: {event.what.reason}"
