"""Check of the control requests that a stub broker received: their versions, their flag, and what they hold."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.events.workloads import ControlRequestReceived
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_TRUE, _FALSE = "K866-RPC-isKRaft-true", "K866-RPC-isKRaft-false-from-zk"
_FULL = "K866-RPC-full-state-on-takeover"
_VERSIONS: Mapping[str, tuple[str, int]] = {
    "LeaderAndIsr": ("K866-RPC-LeaderAndIsr-v7", 7),
    "StopReplica": ("K866-RPC-StopReplica-v4", 4),
    "UpdateMetadata": ("K866-RPC-UpdateMetadata-v8", 8),
}
"""By request: the requirement that it gains the flag, and the version that has it."""
_ROWS = (_TRUE, _FALSE, _FULL, *(row for row, _ in _VERSIONS.values()))


@checker(
    *_ROWS,
    in_every_run=lambda history: bool(history.of(ControlRequestReceived)),
    anomaly="wrong control request",
)
def control_requests_are_right(history: History) -> Verdict:
    """Control requests to a stub broker say whether a KRaft controller sent them, in the versions that have the flag.

    The first UpdateMetadata of each KRaft controller that the stub receives holds every topic it was sent before.
    Tagged fields are not judged: a flexible version may gain some at any time (KIP-482).
    """
    rows = ByRequirement("control_requests_are_right", *_ROWS)
    received = history.of(ControlRequestReceived)
    controllers = controller_ids(history)
    for event in received:
        is_of_kraft = event.data["controller_id"] in controllers
        _judge_flag(history, rows, event, is_of_kraft=is_of_kraft)
        if is_of_kraft:
            _judge_layout(history, rows, event)
    for before, after in pairwise(_by_controller(received)):
        if after[0].data["controller_id"] in controllers:
            _judge_takeover(history, rows, before, after)
    text = f"{counted(len(received), 'control request')} received, each as documented"
    return rows.verdict(text, "no stub broker received a control request")


def _judge_flag(history: History, rows: ByRequirement, event: Event, *, is_of_kraft: bool) -> None:
    row = _TRUE if is_of_kraft else _FALSE
    if bool(event.data["is_kraft"]) is is_of_kraft:
        rows.looked_at(row)
        return
    sender = "a KRaft controller" if is_of_kraft else "a controller in ZooKeeper mode"
    expected = f"isKRaftController is {str(is_of_kraft).lower()} in a request of {sender}"
    observed = f"controller {event.data['controller_id']} sent {event.data['request']} with {event.data['is_kraft']}"
    rows.violated(row, _violation(history, event, expected, observed))


def _judge_layout(history: History, rows: ByRequirement, event: Event) -> None:
    row, version = _VERSIONS[str(event.data["request"])]
    expected = f"{event.data['request']} has version {version} and the documented fields"
    found = []
    if event.data["version"] != version:
        found.append(f"it has version {event.data['version']}")
    if event.data["unread_bytes"]:
        found.append(f"{event.data['unread_bytes']} bytes are left when its fields are read")
    for observed in found:
        rows.violated(row, _violation(history, event, expected, observed))
    if not found:
        rows.looked_at(row)


def _by_controller(received: Sequence[Event]) -> list[list[Event]]:
    """The requests in a row of one controller in one epoch."""
    groups: list[list[Event]] = []
    for event in received:
        if not groups or _sender(groups[-1][0]) != _sender(event):
            groups.append([])
        groups[-1].append(event)
    return groups


def _judge_takeover(history: History, rows: ByRequirement, before: Sequence[Event], after: Sequence[Event]) -> None:
    known = _known_after(before)
    first = next((each for each in after if each.data["request"] == "UpdateMetadata"), None)
    if not known or first is None:
        return
    lacking = {topic: count for topic, count in known.items() if _topics(first).get(topic, 0) < count}
    if not lacking:
        rows.looked_at(_FULL)
        return
    expected = f"the first UpdateMetadata of controller {first.data['controller_id']} holds every topic"
    rows.violated(_FULL, _violation(history, first, expected, f"it lacks partitions of {', '.join(sorted(lacking))}"))


def _known_after(requests: Sequence[Event]) -> dict[str, int]:
    """The number of partitions of each topic that the broker received, without those it received deletions of."""
    known: dict[str, int] = {}
    for event in requests:
        if event.data["request"] == "UpdateMetadata":
            for topic, count in _topics(event).items():
                known[topic] = max(count, known.get(topic, 0))
        deleted = event.data["deleted"]
        for topic in deleted if isinstance(deleted, list | tuple) else ():
            known.pop(str(topic), None)
    return known


def _topics(event: Event) -> dict[str, int]:
    topics = event.data["topics"]
    return {str(topic): int(count) for topic, count in topics.items()} if isinstance(topics, Mapping) else {}


def _sender(event: Event) -> tuple[object, object]:
    return event.data["controller_id"], event.data["controller_epoch"]


def _violation(history: History, event: Event, expected: str, observed: str) -> Violation:
    return timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}")
