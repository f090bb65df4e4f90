"""Doubts: what happened in a run that takes the ground from under a verdict "conforms"."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind

_KILLING_EFFECTS = ("kill", "crash")


@dataclass(frozen=True)
class Doubt:
    """One reason to believe nothing good of a run; ``text`` is a sentence without a full stop."""

    kind: Kind
    text: str
    event: Event


def doubts(history: History) -> list[Doubt]:
    """Our own trouble first, then nodes that died by themselves, then faults that were never witnessed."""
    return [*harness_troubles(history), *deaths_as_doubts(history), *unwitnessed_faults(history)]


def harness_troubles(history: History) -> list[Doubt]:
    """What the harness itself failed to do."""
    found = history.of(EventKind.HARNESS_TROUBLE)
    return [Doubt(Kind.HARNESS, _trouble(event.data), event) for event in found]


def deaths_as_doubts(history: History) -> list[Doubt]:
    """Nodes that died by themselves: whatever was tested, it was not this."""
    return [
        Doubt(Kind.INFRA, f"{event.node} died by itself with exit code {event.data.get('exit_code')}", event)
        for event in unexpected_deaths(history)
    ]


def unwitnessed_faults(history: History) -> list[Doubt]:
    """Faults without a witness that they bit: a conforming cluster proves nothing about them."""
    witnessed = {event.data.get("fault_id") for event in history.of(EventKind.FAULT_WITNESSED)}
    sought = {event.data.get("fault_id"): event.data.get("witness") for event in _not_witnessed(history)}
    return [
        Doubt(Kind.VACUOUS, _unwitnessed(event.data, sought.get(event.data.get("fault_id"))), event)
        for event in history.of(EventKind.FAULT_BEGAN)
        if event.data.get("fault_id") not in witnessed
    ]


def unexpected_deaths(history: History) -> list[Event]:
    """Deaths that no killing fault in force on that node explains."""
    return [event for event in history.of(EventKind.NODE_DIED) if not _was_killed(history, event)]


def _was_killed(history: History, death: Event) -> bool:
    healed = {event.data.get("fault_id"): event.seq for event in history.of(EventKind.FAULT_HEALED)}
    for fault in history.of(EventKind.FAULT_BEGAN):
        targets = fault.data.get("targets")
        is_aimed = isinstance(targets, list | tuple) and death.node in targets
        kills = any(word in str(fault.data.get("effect")).lower() for word in _KILLING_EFFECTS)
        if is_aimed and kills and fault.seq < death.seq < healed.get(fault.data.get("fault_id"), death.seq + 1):
            return True
    return False


def _not_witnessed(history: History) -> list[Event]:
    return history.of(EventKind.FAULT_NOT_WITNESSED)


def _trouble(data: Mapping[str, object]) -> str:
    error = data.get("error")
    return f"the harness had trouble: {data.get('what')}" + (f" ({error})" if error else "")


def _unwitnessed(data: Mapping[str, object], sought: object) -> str:
    looked_for = f" (looked for: {sought})" if sought else ""
    return f"{data.get('fault')} was never witnessed to bite{looked_for}"
