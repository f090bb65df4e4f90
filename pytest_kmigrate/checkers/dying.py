"""What nodes and their threads say last, and the known bugs that they then die of."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.findings import signatures_of_all
from pytest_kmigrate.checkers.moments import faults_during
from pytest_kmigrate.model.event import Event, EventKind
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


def _under_fault(history: History, stopped: Event) -> bool:
    began_ns = stopped.at_ns - int(str(stopped.data.get("took_ms", 0))) * 1_000_000
    return bool(faults_during(history, began_ns, stopped.at_ns))


def signatures_of_last_words(deaths: Sequence[Event]) -> list[str]:
    """The known bugs that all these deaths look like by what was said last; none if one death is another's."""
    named = [[name for words, name in _DYING_OF.items() if words in str(event.data.get("said"))] for event in deaths]
    return signatures_of_all(named)
