"""Checks of the run itself: the phase was reached, the faults bit, no node died by itself."""

from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import failed_steps, when
from pytest_kmigrate.checkers.evidence.wording import counted, span
from pytest_kmigrate.checkers.run.doubts import harness_troubles, unexpected_deaths, unwitnessed_faults
from pytest_kmigrate.documents.kip_866.diagnoses.dying import failed_stops, signatures_of_last_words
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.checks import always, checker
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import PHASE, Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, violates


def _has_faults(history: History) -> bool:
    """Whether a fault was asked for, begun or not."""
    return bool(history.of(EventKind.FAULT_BEGAN, EventKind.FAULT_NOT_WITNESSED))


@checker()
def phase_reached(history: History, phase: str) -> Verdict:
    """The migration came to this phase of the operator.

    If it did not, that is a violation only when a step towards it failed, under no fault, and the harness had no
    trouble of its own; a step never begun, or stopped on purpose, says nothing. Source: K866-TEST-happy-path.
    """
    name = "phase_reached"
    edges, reached = history.states(PHASE), _edge_into(history, phase)
    if reached is not None:
        return conforms(name, f"{phase} reached {span(reached.at_ns)} after the run began", at_ns=reached.at_ns)
    last = str(edges[-1].data.get("state")) if edges else "no phase at all"
    troubles = harness_troubles(history)
    if troubles:
        return inconclusive(name, Kind.HARNESS, f"{phase} not reached, stayed in {last}; {troubles[0].text}")
    blamed, excused = failed_steps(history)
    if not blamed and excused:
        text = (
            f"{phase} not reached, stayed in {last}; {excused[-1].data.get('step')} failed while a fault was in force"
        )
        return inconclusive(name, Kind.VACUOUS, text)
    if not blamed:
        return inconclusive(name, Kind.VACUOUS, f"{phase} not reached, and no step towards it failed; last: {last}")
    observed = f"stayed in {last}; {_failure(history, blamed[-1])}"
    violation = violation_at(history, f"{phase} is reached", observed, blamed[-1].at_ns, f"event {blamed[-1].seq}")
    return violates(name, Kind.LIVENESS, [violation], f"{phase} was not reached: {observed}")


@checker()
def phase_not_reached(history: History, phase: str) -> Verdict:
    """The migration never came to this phase of the operator: what was undone, was undone before.

    Kafka may go on that far; the run is then about something else, and inconclusive. Source: K866-RB-any-point.
    """
    name = "phase_not_reached"
    reached = _edge_into(history, phase)
    if reached is None and history.states(PHASE):
        return conforms(name, f"{phase} was never reached")
    if reached is None:
        return inconclusive(name, Kind.VACUOUS, "no phase was recorded")
    return inconclusive(name, Kind.VACUOUS, f"{phase} was reached {span(reached.at_ns)} after the run began")


@checker(in_every_run=_has_faults)
def every_fault_was_witnessed(history: History) -> Verdict:
    """Every fault that began was seen to bite; otherwise nothing that held under it proves anything.

    Source: the rules of conformance (a verdict needs a witness).
    """
    name = "every_fault_was_witnessed"
    faults = history.of(EventKind.FAULT_BEGAN)
    without = unwitnessed_faults(history)
    if not faults and not without:
        return inconclusive(name, Kind.VACUOUS, "no fault was injected")
    if without:
        text = "; ".join(f"{doubt.text} (event {doubt.event.seq})" for doubt in without)
        return inconclusive(name, Kind.VACUOUS, text, faults=len(faults), unwitnessed=len(without))
    names = ", ".join(str(event.data.get("fault")) for event in faults)
    return conforms(name, f"{counted(len(faults), 'fault')} witnessed: {names}", faults=len(faults))


@checker(in_every_run=always)
def no_unexpected_death(history: History) -> Verdict:
    """No node's process ended unless the harness or a fault ended it, and no thread of one ended by an error.

    Such a thread is told by the node's log; nobody starts it again, and what it was for is not done any more. A node
    that is stopped ends in time, and not by an error, unless a fault is in force.
    Source: K866-TEST-happy-path; a dead node also makes every other verdict of the run doubtful.
    """
    name = "no_unexpected_death"
    nodes = {event.node for event in history.of(EventKind.NODE_STARTED)}
    deaths, threads, stops = unexpected_deaths(history), history.of(EventKind.THREAD_DIED), failed_stops(history)
    if deaths or threads or stops:
        found = [
            *(_death(history, event) for event in deaths),
            *(_thread_death(history, event) for event in threads),
            *(_failed_stop(history, event) for event in stops),
        ]
        named = [f"{event.node} {when(history, event.at_ns)}" for event in deaths]
        ended = [f"{event.data.get('thread')} of {event.node}" for event in threads]
        told = [
            f"{counted(len(names), noun)} died unasked: {'; '.join(names)}"
            for noun, names in (("node", named), ("thread", ended))
            if names
        ]
        told += [f"{event.node} was told to stop: {_ended(event)}" for event in stops]
        signatures = signatures_of_last_words([*deaths, *threads, *stops])
        return violates(name, Kind.LIVENESS, found, "; ".join(told), signatures=signatures)
    if not nodes:
        return inconclusive(name, Kind.VACUOUS, "no node was started")
    return conforms(name, f"none of {counted(len(nodes), 'node')} died unasked", nodes=len(nodes))


def _edge_into(history: History, phase: str) -> Event | None:
    if phase not in Phase.__members__:
        raise WrongUseError(f"phase: expected one of {', '.join(Phase.__members__)}, got {phase!r}")
    return next((event for event in history.states(PHASE) if event.data.get("state") == phase), None)


def _failure(history: History, event: Event) -> str:
    return f"step {event.data.get('step')} failed {when(history, event.at_ns)}: {event.data.get('reason')}"


def _death(history: History, event: Event) -> Violation:
    said = event.data.get("said")
    observed = f"it ended with exit code {event.data.get('exit_code')} {when(history, event.at_ns)}"
    return _of_node(
        history, event, f"{event.node} runs until it is stopped", observed + (f"; its log ends: {said}" if said else "")
    )


def _failed_stop(history: History, event: Event) -> Violation:
    observed = f"{_ended(event)} {when(history, event.at_ns)}; its log ends: {event.data.get('said')}"
    return _of_node(history, event, f"{event.node} ends as it is told to", observed)


def _ended(event: Event) -> str:
    if event.data.get("how") == "hung":
        return f"it was killed after {event.data.get('took_ms')} ms"
    return f"it ended with exit code {event.data.get('exit_code')}"


def _thread_death(history: History, event: Event) -> Violation:
    expected = f"every thread of {event.node} runs until the node is stopped"
    return _of_node(history, event, expected, f"{event.data.get('thread')} ended: {event.data.get('said')}")


def _of_node(history: History, event: Event, expected: str, observed: str) -> Violation:
    return violation_at(history, expected, observed, event.at_ns, f"event {event.seq}", f"logs/{event.node}/")
