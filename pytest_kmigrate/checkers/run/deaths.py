"""Deaths: nodes that ended unexpectedly, and nodes that were stopped and did not end as they should."""

import re

from pytest_kmigrate.checkers.evidence.expected_ends import is_expected_end
from pytest_kmigrate.checkers.evidence.logs import line_to, log_of, was_logged_between
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of, faults_during, targets_of
from pytest_kmigrate.checkers.evidence.taken import ends_allowed, may_end
from pytest_kmigrate.model.event import PHASE, Event, Recorded
from pytest_kmigrate.model.events.faults import FaultApplied
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReady, NodeStarted, NodeStopped, ThreadDied
from pytest_kmigrate.model.history import History

_ENDS_ITSELF = ("Shutdown broker because", "Halting broker because", "Encountered fatal fault")
"""What Kafka logs as it ends a process on purpose."""
_CANNOT_YET = re.compile(r"Fatal error during KafkaServer shutdown[^\n]*\n[^\n]*still starting up, cannot shut down")
"""A broker in ZooKeeper mode that is asked to stop before it is up halts (KafkaServer.scala: shutdown)."""
_NOTICED_WITHIN_NS = 30_000_000_000
"""So late the end of a process is noticed at most: its output is read to the end before."""


def unexpected_deaths(history: History) -> list[Recorded[NodeDied]]:
    """Deaths that no test expected, nor Kafka's design, and that this machine did not cause.

    A node that a fault killed is recorded as stopped. One that lacks a disk by a fault may end: Kafka ends a broker
    whose last log directory fails, or that with the metadata log. So may one under a fault that declares it. An end
    that is noticed after the fault counts as one within it if the node itself dates its last words there.
    """
    return [
        death
        for death in history.of(NodeDied)
        if not (death.what.cause or is_expected_end(history, death) or _dies_by_design(history, death))
        if not (_is_planted(history, death) or _ended_itself_before(history, death))
    ]


def dead_threads(history: History) -> list[Recorded[ThreadDied]]:
    """Threads that an error ended in nodes that may not end by a fault."""
    return [each for each in history.of(ThreadDied) if not _is_planted(history, each)]


def failed_stops(history: History) -> list[Recorded[NodeStopped]]:
    """Controlled stops under no fault that failed: the process had to be killed, or ended by an error.

    A node that was not up yet, and says that it therefore cannot shut down, has done nothing that it could have ended.
    Runs recorded by version 0.1 do not say what a node logged last; their stops are left out.
    """
    return [
        event
        for event in history.of(NodeStopped)
        if event.what.said and not _is_by_design(history, event)
        if not (_under_fault(history, event) or _was_starting(history, event))
    ]


def _is_planted(history: History, ended: Event) -> bool:
    return may_end(history, ended.node, ended.at_ns)


def _ended_itself_before(history: History, death: Recorded[NodeDied]) -> bool:
    """Whether a node ended itself while a fault let it, and was noticed to have shortly after the fault was healed."""
    said = death.what.said
    return any(words in said for words in _ENDS_ITSELF) and any(
        was_logged_between(history, said, since_ns, to_ns, str(death.node))
        for since_ns, to_ns in ends_allowed(history, death.node)
        if to_ns <= death.at_ns <= to_ns + _NOTICED_WITHIN_NS
    )


def _dies_by_design(history: History, death: Recorded[NodeDied]) -> bool:
    """Whether a node ended itself as the document means it to, because a fault kept it from what it was to do."""
    phases = [event.at_ns for event in history.states(PHASE) if event.seq < death.seq]
    since_ns = max(phases, default=0)
    return _is_by_design(history, death) and bool(faults_during(history, since_ns, death.at_ns))


def _is_by_design(history: History, ended: Recorded[NodeDied] | Recorded[NodeStopped]) -> bool:
    return any(words in ended.what.said for words in history.dies_by_design)


def _was_starting(history: History, stopped: Recorded[NodeStopped]) -> bool:
    """Whether a node was not ready since its start as it was asked to stop, and its log says so at that time."""
    began_ns, node = stopped.at_ns - stopped.what.took_ms * 1_000_000, str(stopped.node)
    started = [each.at_ns for each in history.of(NodeStarted) if each.node == node and each.at_ns < began_ns]
    if not started or any(each.node == node and started[-1] < each.at_ns < began_ns for each in history.of(NodeReady)):
        return False
    log = log_of(history, node)
    return any(
        was_logged_between(history, line_to(log, found.start()), began_ns, stopped.at_ns, node)
        for found in _CANNOT_YET.finditer(log)
    )


def _under_fault(history: History, stopped: Recorded[NodeStopped]) -> bool:
    """Whether a fault was in force besides the one that stopped the node, which excuses nothing."""
    began_ns = stopped.at_ns - stopped.what.took_ms * 1_000_000
    hit = {e.what.fault_id for e in history.of(FaultApplied) if stopped.node in targets_of(e)}
    in_force = faults_begun_of(history, began_ns, stopped.at_ns)
    return any(each.what.effect != "stop" or each.what.fault_id not in hit for each in in_force)
