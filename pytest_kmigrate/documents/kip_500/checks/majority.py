"""Check that a controller acknowledges no change of metadata while it cannot reach a majority of the quorum."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import plays, processes, roles
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.moments import healed_ns
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind, Recorded, is_a
from pytest_kmigrate.model.events.faults import FaultApplied, FaultBegan
from pytest_kmigrate.model.events.nodes import NodeStarted
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.metrics import RAFT_STATES
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.model.verdict import Verdict

_WITHOUT, _CUT_OFF = "K500-QRM-majority-required", "K500-QRM-minority-leader-harmless"
_ENDS = (EventKind.NODE_STOPPED, EventKind.NODE_DIED)
_STATE = "RaftCurrentState"


@dataclass(frozen=True)
class _Time:
    """A time in which a controller could not have reached a majority."""

    began_ns: int
    ended_ns: int

    def holds(self, change: Recorded[MetadataChanged]) -> bool:
        """Whether a change was requested and answered within it."""
        return self.began_ns <= began_ns(change) and change.at_ns <= self.ended_ns


def _asked_of_controllers(history: History) -> list[Recorded[MetadataChanged]]:
    """Changes of metadata that were requested of one controller."""
    by_role = roles(history)
    changes = history.of(MetadataChanged)
    return [each for each in changes if each.node and plays(by_role.get(each.node), Role.CONTROLLER)]


def _was_asked(history: History) -> bool:
    return bool(_asked_of_controllers(history))


@checker(
    _WITHOUT,
    _CUT_OFF,
    in_every_run=_was_asked,
    anomaly="acknowledged without a majority",
    needs=[Capability.REQUESTS, Capability.METRICS],
)
def nothing_is_acknowledged_without_a_majority(history: History) -> Verdict:
    """A leader acknowledges no change while most controllers are down, or while it is cut off from all others.

    Only a change that a leader was requested to make counts: it was acknowledged, or the controller reported that it
    leads while the request waited there. One that does not lead refuses at once, which proves nothing.

    Source: K500-QRM-majority-required, K500-QRM-minority-leader-harmless.
    """
    rows = ByRequirement(_WITHOUT, _CUT_OFF)
    without, looked_at = list(_without_a_majority(history)), 0
    for change in _asked_of_controllers(history):
        times = {_WITHOUT: without, _CUT_OFF: list(_cut_off(history, str(change.node)))}
        for row in (row for row, those in times.items() if any(each.holds(change) for each in those)):
            if change.what.outcome == "ok":
                expected = f"{change.node} acknowledges nothing without a majority of controllers"
                observed = f"it acknowledged {change.what.change} of {change.what.subject}"
                rows.violated(row, timed_violation(history, expected, observed, change.at_ns, f"event {change.seq}"))
            elif _led_meanwhile(history, change):
                rows.looked_at(row)
                looked_at += 1
    text = f"{counted(looked_at, 'change')} requested of a leader without a majority, none acknowledged"
    return rows.verdict(text, "no leader without a majority was requested to change metadata")


def _without_a_majority(history: History) -> Iterator[_Time]:
    """The times in which at most half of the controllers were up."""
    controllers = {name for name, role in roles(history).items() if plays(role, Role.CONTROLLER)}
    down, began = set[str](), None
    for event in history.of(EventKind.NODE_STARTED, *_ENDS):
        if event.node not in controllers:
            continue
        down = down - {event.node} if is_a(event, NodeStarted) else down | {event.node}
        is_lost = (len(controllers) - len(down)) * 2 <= len(controllers)
        if is_lost and began is None:
            began = event.at_ns
        elif not is_lost and began is not None:
            yield _Time(began, event.at_ns)
            began = None
    if began is not None:
        yield _Time(began, history.end_ns)


def _cut_off(history: History, node: str) -> Iterator[_Time]:
    """The times in which a fault isolated this node from all controllers."""
    faults = {event.what.fault_id: event for event in history.of(FaultBegan)}
    healed = healed_ns(history)
    for applied in history.of(FaultApplied):
        id_ = applied.what.fault_id
        began = faults.get(id_)
        if began is not None and applied.what.targets == [node] and _isolates(began.what.fault):
            yield _Time(applied.at_ns, healed.get(id_, history.end_ns))


def _isolates(fault: str) -> bool:
    """Whether a fault cuts its node off from controllers, whichever other roles it names."""
    _, _, from_roles = fault.removesuffix(")").partition(" from ")
    return fault.startswith("isolate(") and (not from_roles or Role.CONTROLLER.value in from_roles)


def _led_meanwhile(history: History, change: Recorded[MetadataChanged]) -> bool:
    """Whether the controller reported to lead between the request and its answer."""
    return any(
        sample.values.get(_STATE) == RAFT_STATES["leader"]
        for samples in processes(history, Role.CONTROLLER)
        for sample in samples
        if sample.node == change.node and began_ns(change) <= sample.at_ns <= change.at_ns
    )
