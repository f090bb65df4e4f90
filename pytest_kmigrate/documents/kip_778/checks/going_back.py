"""Check that the software can go back: a node starts with an older release once the level was raised and lowered."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.distributions.versions import numbers_of
from pytest_kmigrate.documents.kip_778.checks.rolls import is_after
from pytest_kmigrate.documents.kip_778.procedure import LOWER
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded, is_a
from pytest_kmigrate.model.events.nodes import NodeDied, NodeInstalled, NodeReady, NodeStarted, NodeStopped
from pytest_kmigrate.model.events.steps import StepEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K778-DWN-software-after"


def _lowered(history: History) -> list[Event]:
    """The ends of steps that lowered the level."""
    ended = history.of(StepEnded)
    return [each for each in ended if each.what.step == LOWER and each.what.outcome == "done"]


@checker(_ROW, in_every_run=lambda history: bool(_lowered(history)), anomaly="no way back", needs=[Capability.INSTALL])
def software_goes_back(history: History) -> Verdict:
    """After the level was lowered, each node that gets an older release than before becomes ready with it, and stays.

    Source: K778-DWN-software-after.
    """
    rows = ByRequirement(_ROW)
    installed = [each for each in history.of(NodeInstalled) if _is_back(history, each)]
    back = [each for each in installed if any(lowered.seq < each.seq for lowered in _lowered(history))]
    for event in back:
        # A controller is ready before it has read all of its log.
        ends = [each for each in history.of(NodeDied, NodeStopped) if is_after(each, event)]
        if any(is_after(each, event) for each in history.of(NodeReady, NodeDied)):
            rows.looked_at(_ROW)
        if ends and is_a(ends[0], NodeDied):
            expected = f"{event.node} runs Kafka {event.what.version} again"
            observed = f"it ended: {ends[0].what.said[:200]}"
            rows.violated(_ROW, timed_violation(history, expected, observed, ends[0].at_ns, f"event {ends[0].seq}"))
    text = f"{counted(len(back), 'node')} with the older release again"
    return rows.verdict(text, "no node got an older release after the level was lowered")


def _is_back(history: History, installed: Recorded[NodeInstalled]) -> bool:
    """Whether the node had a newer release before."""
    runs = [each.what.kafka for each in history.of(NodeStarted) if is_after(installed, each)]
    return bool(runs) and numbers_of(installed.what.version) < numbers_of(runs[-1])
