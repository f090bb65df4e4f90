"""Checks of the run itself: the faults bit, no node died by itself."""

import re

from pytest_kmigrate.checkers.evidence.findings import violation_at
from pytest_kmigrate.checkers.evidence.moments import when
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.run.deaths import dead_threads, failed_stops, unexpected_deaths
from pytest_kmigrate.checkers.run.doubts import unwitnessed_faults
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import Cause, always, checker
from pytest_kmigrate.model.event import Recorded, is_a
from pytest_kmigrate.model.events.faults import FaultBegan, FaultNotWitnessed
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStarted, NodeStopped, ThreadDied, ToolRan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation, conforms, inconclusive, not_applicable, violates

_BEFORE_NS = 60_000_000_000
"""So long before the end of a node its cause may lie: longer than its sessions last."""
_End = Recorded[NodeDied | NodeStopped | ThreadDied]

_LATE = re.compile(r"time[d ]*out|expired|session|NodeExists", re.IGNORECASE)
"""What the last words of a node are about that came too late: a session that is still there is one that ends late."""


def _has_faults(history: History) -> bool:
    """Whether a fault was asked for, begun or not."""
    return bool(history.of(FaultBegan, FaultNotWitnessed))


@checker(in_every_run=_has_faults)
def every_fault_was_witnessed(history: History) -> Verdict:
    """Every fault that began was seen to bite; otherwise nothing that held under it proves anything.

    Source: the rules of conformance (a verdict needs a witness).
    """
    faults = history.of(FaultBegan)
    without = unwitnessed_faults(history)
    if not faults and not without:
        return inconclusive(Kind.VACUOUS, "no fault was injected")
    if without:
        text = "; ".join(f"{doubt.text} (event {doubt.event.seq})" for doubt in without)
        return inconclusive(Kind.VACUOUS, text, faults=len(faults), unwitnessed=len(without))
    names = ", ".join(event.what.fault for event in faults)
    return conforms(f"{counted(len(faults), 'fault')} witnessed: {names}", faults=len(faults))


@checker(in_every_run=always, needs=[Capability.START], doubt=Cause.DEATH, ends_test=True)
def no_unexpected_death(history: History) -> Verdict:
    """No node's process ended unless the harness or a fault ended it, and no thread of one ended by an error.

    The node's log names such a thread; it is not restarted, so its work stops. A node
    that is stopped ends in time, and not by an error, unless a fault is in force.
    A dead node also makes every other verdict of the run doubtful. It is NOT_APPLICABLE where a test ran a tool and
    started no node.
    """
    nodes = {event.node for event in history.of(NodeStarted)}
    deaths, threads, stops = unexpected_deaths(history), dead_threads(history), failed_stops(history)
    if deaths or threads or stops:
        found = [
            *(_death(history, event) for event in deaths),
            *(_thread_death(history, event) for event in threads),
            *(_failed_stop(history, event) for event in stops),
        ]
        named = [f"{event.node} {when(history, event.at_ns)}" for event in deaths]
        ended = [f"{event.what.thread} of {event.node}" for event in threads]
        reported = [
            f"{counted(len(names), noun)} died unasked: {'; '.join(names)}"
            for noun, names in (("node", named), ("thread", ended))
            if names
        ]
        reported += [f"{event.node} was asked to stop: {_ended(event)}" for event in stops]
        return violates(Kind.LIVENESS, found, "; ".join(reported))
    if not nodes and history.of(ToolRan):
        return not_applicable("no node was started: the test ran a tool")
    if not nodes:
        return inconclusive(Kind.VACUOUS, "no node was started")
    return conforms(f"none of {counted(len(nodes), 'node')} died unasked", nodes=len(nodes))


def _death(history: History, event: Recorded[NodeDied]) -> Violation:
    said = event.what.said
    observed = f"it ended with exit code {event.what.exit_code} {when(history, event.at_ns)}"
    return _of_node(
        history, event, f"{event.node} runs until it is stopped", observed + (f"; its log ends: {said}" if said else "")
    )


def _failed_stop(history: History, event: Recorded[NodeStopped]) -> Violation:
    observed = f"{_ended(event)} {when(history, event.at_ns)}; its log ends: {event.what.said}"
    return _of_node(history, event, f"{event.node} ends as it is asked to", observed)


def _ended(event: Recorded[NodeStopped]) -> str:
    if event.what.how == "hung":
        return f"it was killed after {event.what.took_ms} ms"
    return f"it ended with exit code {event.what.exit_code}"


def _thread_death(history: History, event: Recorded[ThreadDied]) -> Violation:
    expected = f"every thread of {event.node} runs until the node is stopped"
    return _of_node(history, event, expected, f"{event.what.thread} ended: {event.what.said}")


def _of_node(history: History, event: _End, expected: str, observed: str) -> Violation:
    evidence = (f"event {event.seq}", f"logs/{event.node}/")
    awaited = (event.at_ns - _BEFORE_NS, event.at_ns) if _is_of_time(event) else None
    return violation_at(history, expected, observed, event.at_ns, *evidence, awaited=awaited)


def _is_of_time(event: _End) -> bool:
    """Whether a node may have ended, or hung, since something came late: only that a busy machine explains."""
    said, is_hung = event.what.said, is_a(event, NodeStopped) and event.what.how == "hung"
    return not said or is_hung or _LATE.search(said) is not None
