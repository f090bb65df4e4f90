"""Moments: where an instant of a run lies relative to its faults and phases."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.evidence.expected_ends import is_while_an_end_is_expected
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.model.event import PHASE, A, Event, Recorded, is_a
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan, FaultHealed
from pytest_kmigrate.model.events.nodes import NodeStopped
from pytest_kmigrate.model.events.steps import StepBegan, StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept

_FELT_NS = {"misname": 10_000_000_000}
"""So long after its healing an effect is felt: a JVM looks a name up anew 10 s after it did not find it.

Source: ``networkaddress.cache.negative.ttl`` of the JDK.
"""


def when(history: History, at_ns: int) -> str:
    """Such as "1.2 s after kill(active-controller) began, in HYBRID"."""
    phase = phase_at(history, at_ns)
    return since_fault(history, at_ns) + (f", in {phase}" if phase else "")


def since_fault(history: History, at_ns: int) -> str:
    """How long after the nearest edge of a fault (its beginning, or its healing); without a fault, after the start."""
    edge = _last(history.of(FaultBegan, FaultHealed), at_ns)
    if edge is None:
        return f"{span(at_ns)} after the run began"
    fault = fault_names(history).get(edge.what.fault_id, "a fault")
    verb = "began" if is_a(edge, FaultBegan) else "was healed"
    return f"{span(at_ns - edge.at_ns)} after {fault} {verb}"


def phase_at(history: History, at_ns: int) -> str | None:
    """The name of the operator's phase at that instant; None before the first one is known."""
    event = _last(history.states(PHASE), at_ns)
    return None if event is None else event.what.state


def evidence_at(history: History, at_ns: int) -> tuple[str, ...]:
    """The events that place the instant: the last edge of a fault and the last edge of a phase."""
    edge = _last(history.of(FaultBegan, FaultHealed), at_ns)
    phase = _last(history.states(PHASE), at_ns)
    return tuple(f"event {event.seq}" for event in (edge, phase) if event is not None)


def fault_names(history: History) -> dict[str, str]:
    """Every fault's readable name by its id."""
    return {event.what.fault_id: event.what.fault for event in history.of(FaultBegan)}


def faults_during(history: History, from_ns: int, to_ns: int) -> list[str]:
    """The faults in force at any time between two instants."""
    return [event.what.fault for event in faults_begun_of(history, from_ns, to_ns)]


def meanwhile(history: History, from_ns: int, to_ns: int, besides: str | None = None) -> str:
    """Such as ", while cut(a->b) and kill(c) lasted"; "" where no fault was in force between two instants.

    ``besides``: the id of a fault that is not named.
    """
    in_force = faults_begun_of(history, from_ns, to_ns)
    faults = [event.what.fault for event in in_force if event.what.fault_id != besides]
    return f", while {' and '.join(faults)} lasted" if faults else ""


def faults_begun_of(history: History, from_ns: int, to_ns: int) -> list[Recorded[FaultBegan]]:
    """How the faults began that were in force at any time between two instants."""
    healed = healed_ns(history)
    began = [event for event in history.of(FaultBegan) if event.at_ns <= to_ns]
    return [event for event in began if healed.get(event.what.fault_id, to_ns) >= from_ns]


@kept
def healed_ns(history: History) -> Mapping[str, int]:
    """When each fault was healed and felt no more, by its id; one that lasts to the end is not among them."""
    felt_ns = {event.what.fault_id: _FELT_NS.get(event.what.effect, 0) for event in history.of(FaultBegan)}
    healed = history.of(FaultHealed)
    return {event.what.fault_id: event.at_ns + felt_ns.get(event.what.fault_id, 0) for event in healed}


def failed_steps(history: History) -> tuple[list[Recorded[StepEnded]], list[Recorded[StepEnded]]]:
    """The steps that are to blame for having failed, and those that failed while a fault was in force.

    A step that failed while the test expected nodes to end is neither.
    """
    failed = [
        event
        for event in history.of(StepEnded)
        if event.what.outcome == "failed" and not is_while_an_end_is_expected(history, event)
    ]
    excused = [event for event in failed if _is_fault_in_force(history, event)]
    return [event for event in failed if event not in excused], excused


def time_of_step(history: History, ended: Recorded[StepEnded]) -> tuple[int, int]:
    """Begin and end of the step that this event ended."""
    begun = [each for each in history.of(StepBegan) if each.seq < ended.seq]
    began = [each.at_ns for each in begun if each.what.step == ended.what.step]
    return max(began, default=0), ended.at_ns


def _is_fault_in_force(history: History, at: Event) -> bool:
    begun = {event.what.fault_id for event in history.of(FaultBegan) if event.seq < at.seq}
    healed = {event.what.fault_id for event in history.of(FaultHealed) if event.seq < at.seq}
    return bool(begun - healed)


def took_ns(event: Event) -> int:
    """How long the stop that an event reports took; 0 for any other event."""
    return event.what.took_ms * 1_000_000 if is_a(event, NodeStopped) else 0


def targets_of(applied: Recorded[FaultApplied]) -> set[str]:
    """The nodes that a fault, as it was applied, hit."""
    return set(applied.what.targets)


def _last(events: Sequence[Recorded[A]], at_ns: int) -> Recorded[A] | None:
    return max((e for e in events if e.at_ns <= at_ns), key=lambda e: (e.at_ns, e.seq), default=None)
