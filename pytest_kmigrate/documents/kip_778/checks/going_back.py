"""Check that the software can go back: a node starts with an older release once the level was raised and lowered."""

from packaging.version import Version

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K778-DWN-software-after"
_LOWER = "lower-the-level"


def _is_lowered(history: History) -> bool:
    return any(_has_lowered(event) for event in history.of(EventKind.STEP_ENDED))


def _has_lowered(event: Event) -> bool:
    return event.data["step"] == _LOWER and event.data["outcome"] == "done"


@checker(_ROW, in_every_run=_is_lowered, anomaly="no way back", needs=[Capability.INSTALL])
def software_goes_back(history: History) -> Verdict:
    """After the level was lowered, each node that gets an older release than before becomes ready with it, and stays.

    Source: K778-DWN-software-after.
    """
    rows = ByRequirement("software_goes_back", _ROW)
    lowered = min((event.seq for event in history.of(EventKind.STEP_ENDED) if _has_lowered(event)), default=None)
    back = [each for each in history.of(EventKind.NODE_INSTALLED) if lowered is not None and _is_back(history, each)]
    for event in (each for each in back if lowered is not None and each.seq > lowered):
        # A controller is ready before it has read all of its log.
        ends = [each for each in history.of(EventKind.NODE_DIED, EventKind.NODE_STOPPED) if _is_next(each, event)]
        if any(_is_next(each, event) for each in history.of(EventKind.NODE_READY, EventKind.NODE_DIED)):
            rows.looked_at(_ROW)
        if ends and ends[0].kind is EventKind.NODE_DIED:
            expected = f"{event.node} runs Kafka {event.data['version']} again"
            observed = f"it ended: {str(ends[0].data['said'])[:200]}"
            rows.violated(_ROW, timed_violation(history, expected, observed, ends[0].at_ns, f"event {ends[0].seq}"))
    text = f"{counted(len(back), 'node')} with the older release again"
    return rows.verdict(text, "no node got an older release after the level was lowered")


def _is_back(history: History, installed: Event) -> bool:
    """Whether the node had a newer release before."""
    runs = [each.data["kafka"] for each in history.of(EventKind.NODE_STARTED) if _is_next(installed, each)]
    return bool(runs) and Version(str(installed.data["version"])) < Version(str(runs[-1]))


def _is_next(later: Event, earlier: Event) -> bool:
    return later.node == earlier.node and later.seq > earlier.seq
