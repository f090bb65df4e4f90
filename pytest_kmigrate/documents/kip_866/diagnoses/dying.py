"""What nodes and their threads say last, and the known bugs that they then die of."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.findings import signatures_of_all
from pytest_kmigrate.checkers.evidence.moments import faults_begun_of, faults_during, targets_of
from pytest_kmigrate.model.event import PHASE, Event, EventKind
from pytest_kmigrate.model.history import History

_DYING_OF = {
    "Should not have ZK migrations enabled on a cluster running metadata.version 3.0-IV1": (
        "controller-ends-after-a-lost-bootstrap"
    ),
    "already exists, can't register another one": "channel-to-the-controller-ends",
}
"""What is said last, and the signature of the known bug."""


_BY_DESIGN = "Aborting the ZK migration"
"""A controller that cannot end its copy ends itself, for the next one to abort it (QuorumController.java)."""


def failed_stops(history: History) -> list[Event]:
    """Controlled stops under no fault that were none: the process had to be killed, or ended by an error.

    Only where what it said is known: runs recorded by an earlier release of ours do not tell.
    """
    return [
        event
        for event in history.of(EventKind.NODE_STOPPED)
        if event.data.get("said") and _BY_DESIGN not in str(event.data["said"]) and not _under_fault(history, event)
    ]


def dies_by_design(history: History, death: Event) -> bool:
    """Whether a controller ended itself because a fault kept it from ending its copy: that is what it should do."""
    phases = [event.at_ns for event in history.states(PHASE) if event.seq < death.seq]
    since_ns = max(phases, default=0)
    return _BY_DESIGN in str(death.data.get("said")) and bool(faults_during(history, since_ns, death.at_ns))


def _under_fault(history: History, stopped: Event) -> bool:
    """Whether a fault was in force besides the one that told the node to stop, which excuses nothing."""
    began_ns = stopped.at_ns - int(str(stopped.data.get("took_ms", 0))) * 1_000_000
    hit = {e.data.get("fault_id") for e in history.of(EventKind.FAULT_APPLIED) if stopped.node in targets_of(e)}
    in_force = faults_begun_of(history, began_ns, stopped.at_ns)
    return any(each.data.get("effect") != "stop" or each.data.get("fault_id") not in hit for each in in_force)


def signatures_of_last_words(deaths: Sequence[Event]) -> list[str]:
    """The known bugs that all these deaths look like by what was said last; none if one death is another's."""
    named = [[name for words, name in _DYING_OF.items() if words in str(event.data.get("said"))] for event in deaths]
    return signatures_of_all(named)
