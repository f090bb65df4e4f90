"""Check that one roll is enough: each node is started once with the new release, and the level is raised afterwards."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_778.procedure import LOWER, RAISE, UpgradePhase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE, Event, is_a
from pytest_kmigrate.model.events.nodes import NodeDied, NodeInstalled, NodeStarted, NodeStopped
from pytest_kmigrate.model.events.steps import StepBegan
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Kind, Verdict, Violation

_ROW = "K778-UPG-single-roll"


def _ends_raised(history: History) -> bool:
    """Whether the run raised the level, or tried to, and did not go back: who goes back rolls every node again."""
    begun = {event.what.step for event in history.of(StepBegan)}
    return RAISE.name in begun and LOWER not in begun


@checker(_ROW, in_every_run=_ends_raised, anomaly="second roll", needs=[Capability.INSTALL])
def one_roll_is_enough(history: History) -> Verdict:
    """A node is started once after it got the new release, and with this the level can be raised.

    Starts after a death do not count.

    Source: K778-UPG-single-roll.
    """
    rows = ByRequirement(_ROW)
    installed = {str(event.node): event for event in history.of(NodeInstalled)}
    for name, event in installed.items():
        rows.looked_at(_ROW)
        starts = [each for each in history.of(NodeStarted) if is_after(each, event) and _was_asked(history, each)]
        if len(starts) != 1:
            observed = f"{name} was started {counted(len(starts), 'time')} with the new release"
            rows.violated(_ROW, Violation("each node is started once", observed, event.at_ns, (f"event {event.seq}",)))
    if installed and not any(change.what.state == UpgradePhase.RAISED.name for change in history.states(PHASE)):
        at_ns = history.of(StepBegan)[-1].at_ns
        found = Violation("the level can be raised after the roll", "it was not", at_ns, ())
        rows.violated(_ROW, found, Kind.LIVENESS)
    text = f"{counted(len(installed), 'node')} rolled once each, and the level was raised"
    return rows.verdict(text, "no node got another release in this run")


def _was_asked(history: History, start: Event) -> bool:
    """Whether it follows a controlled stop: a node that was killed, or died, is started again for that reason."""
    ends = [each for each in history.of(NodeStopped, NodeDied) if each.node == start.node]
    before = [each for each in ends if each.seq < start.seq]
    return not before or (is_a(before[-1], NodeStopped) and before[-1].what.how in ("controlled", "hung"))


def is_after(later: Event, earlier: Event) -> bool:
    """Whether an event is about the same node, and came later."""
    return later.node == earlier.node and later.seq > earlier.seq
