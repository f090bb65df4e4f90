"""Check of control requests as the draft has them: the id of the KRaft controller follows ControllerId, which is -1."""

from collections.abc import Mapping

from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.steps import ActiveControllerChanged
from pytest_kmigrate.model.events.workloads import ControlRequestReceived
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_ONLY_KRAFT, _MINUS_ONE = "K866D-RPC-KRaftControllerId-only-kraft", "K866D-RPC-ControllerId-minus-one"
_ALL, _LEARNT = "K866D-DW-rpcs", "K866D-FWD-umr-actual-controller"
_VERSIONS: Mapping[str, tuple[str, int]] = {
    "LeaderAndIsr": ("K866D-RPC-LeaderAndIsr-v7", 7),
    "StopReplica": ("K866D-RPC-StopReplica-v4", 4),
    "UpdateMetadata": ("K866D-RPC-UpdateMetadata-v8", 8),
}
"""By request: the requirement that it gains the id, and the version that has it."""
_FIELD, _NONE = "KRaftControllerId", -1
_FOLLOWS_NS = 10_000_000_000
"""So long after another controller took over a request of the former one may still arrive."""


@checker(
    *(row for row, _ in _VERSIONS.values()),
    *(_ONLY_KRAFT, _MINUS_ONE, _ALL, _LEARNT),
    in_every_run=lambda history: bool(history.of(ControlRequestReceived)),
    anomaly="control request unlike the draft",
)
def control_requests_are_those_of_the_draft(history: History) -> Verdict:
    """Control requests of a KRaft controller have its id in four bytes after ControllerId, which is -1 then.

    A controller in ZooKeeper mode sets no such id. All three kinds arrive with it. That brokers learn from it where to
    send requests of their own cannot be seen at a stub: without it in UpdateMetadata they cannot.
    """
    rows = ByRequirement(*control_requests_are_those_of_the_draft.requirements)
    received = history.of(ControlRequestReceived)
    with_id = set[str]()
    for event in received:
        _judge_layout(history, rows, event)
        if not _is_of_kraft(history, event):
            _judge_zookeeper(history, rows, event)
            continue
        _judge_sender(history, rows, event)
        with_id |= {event.what.request} if _named(event) is not None else set()
    if with_id == set(_VERSIONS):
        rows.looked_at(_ALL)
    text = f"{counted(len(received), 'control request')} received, each as the draft has it"
    return rows.verdict(text, "no stub broker received a control request of a version that has the id")


def _judge_layout(history: History, rows: ByRequirement, event: Recorded[ControlRequestReceived]) -> None:
    row, version = _VERSIONS[event.what.request]
    if event.what.version < version:
        return
    if _named(event) is not None and not event.what.unread_bytes:
        rows.looked_at(row)
        return
    follows = "a boolean follows" if event.what.is_kraft is not None else "nothing new follows"
    observed = f"{follows} ControllerId in version {event.what.version}"
    rows.violated(row, _violation(history, event, observed, f"{_FIELD}, four bytes, follows ControllerId"))


def _judge_zookeeper(history: History, rows: ByRequirement, event: Recorded[ControlRequestReceived]) -> None:
    named = _named(event)
    if named is None or named == _NONE:
        rows.looked_at(_ONLY_KRAFT)
        return
    observed = f"broker-{event.what.controller_id} set it to {named}"
    rows.violated(_ONLY_KRAFT, _violation(history, event, observed, f"only KRaft controllers set {_FIELD}"))


def _judge_sender(history: History, rows: ByRequirement, event: Recorded[ControlRequestReceived]) -> None:
    named, controller = _named(event), event.what.controller_id
    if controller == _NONE:
        rows.looked_at(_MINUS_ONE)
    else:
        observed = f"ControllerId is {controller} in {event.what.request}"
        rows.violated(_MINUS_ONE, _violation(history, event, observed, "ControllerId of a KRaft controller is -1"))
    if named is None:
        observed = f"{event.what.request} of controller-{controller} has none"
        for row in (_ONLY_KRAFT, _ALL, *([_LEARNT] if event.what.request == "UpdateMetadata" else [])):
            rows.violated(row, _violation(history, event, observed, f"KRaft controllers set {_FIELD}"))
    elif f"controller-{named}" in _possible(history, event):
        rows.looked_at(_ONLY_KRAFT)
    else:
        observed = f"it names controller-{named}"
        expected = f"{_FIELD} names the active controller"
        rows.violated(_ONLY_KRAFT, _violation(history, event, observed, expected))


def _possible(history: History, event: Event) -> set[str]:
    """Who was active, or just before; and who becomes so in a moment, since the observer may be late."""
    active = history.of(ActiveControllerChanged)
    near = [each for each in active if abs(each.at_ns - event.at_ns) <= _FOLLOWS_NS]
    former = [each for each in active if each.at_ns < event.at_ns - _FOLLOWS_NS]
    return {str(each.what.controller) for each in (*near, *former[-1:])}


def _is_of_kraft(history: History, event: Recorded[ControlRequestReceived]) -> bool:
    named = _named(event)
    if named is not None and event.what.controller_id == _NONE:
        return named != _NONE
    return event.what.controller_id in controller_ids(history)


def _named(event: Recorded[ControlRequestReceived]) -> int | None:
    """The id of a KRaft controller in the request; None: it has no such field, as in all folders of 0.1."""
    return event.what.kraft_controller_id


def _violation(history: History, event: Event, observed: str, expected: str) -> Violation:
    return timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}")
