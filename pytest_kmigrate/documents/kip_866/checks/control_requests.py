"""Check of the control requests that a stub broker received: their versions, their flag, and what they hold."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pytest_kmigrate.checkers.controllers.lives import controller_ids
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.workloads import ControlRequestReceived
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_Request = Recorded[ControlRequestReceived]

_TRUE, _FALSE = "K866-RPC-isKRaft-true", "K866-RPC-isKRaft-false-from-zk"
_FULL = "K866-RPC-full-state-on-takeover"
_REPLICAS = "LeaderAndIsr"
_VERSIONS: Mapping[str, tuple[str, int]] = {
    _REPLICAS: ("K866-RPC-LeaderAndIsr-v7", 7),
    "StopReplica": ("K866-RPC-StopReplica-v4", 4),
    "UpdateMetadata": ("K866-RPC-UpdateMetadata-v8", 8),
}
"""By request: the requirement that it gains the flag, and the version that has it."""
_FULL_STATE: Mapping[str, str] = {"UpdateMetadata": "every topic", _REPLICAS: "every partition of its"}
"""By request, what the first one of a controller that takes over holds."""
_UPDATED, _STOPPED = "K866-RPC-umr-on-change", "K866-RPC-stopreplica"
_ROWS = (_TRUE, _FALSE, _FULL, _UPDATED, _STOPPED, *(row for row, _ in _VERSIONS.values()))
_NO_EPOCH = -1


@checker(
    *_ROWS,
    in_every_run=lambda history: bool(history.of(ControlRequestReceived)),
    anomaly="wrong control request",
)
def control_requests_are_right(history: History) -> Verdict:
    """Control requests to a stub broker say whether a KRaft controller sent them, in the versions that have the flag.

    The first UpdateMetadata of each KRaft controller that the stub receives holds every topic it was sent before, and
    the first LeaderAndIsr every partition of which it was to have a replica. In an UpdateMetadata those replicas are
    offline whose broker is not among the live ones. A StopReplica that deletes has the partition's leader epoch, or -2
    if the topic is deleted (KIP-570). A LeaderAndIsr says whether it holds all replicas, as a broker deletes others,
    if any request of that controller says so (from 3.6.1).
    Tagged fields are not judged: a flexible version may gain some at any time (KIP-482).
    """
    rows = ByRequirement(*_ROWS)
    received = history.of(ControlRequestReceived)
    controllers = controller_ids(history)
    for event in received:
        is_of_kraft = event.what.controller_id in controllers
        _judge_flag(history, rows, event, is_of_kraft=is_of_kraft)
        if is_of_kraft:
            _judge_layout(history, rows, event)
            _judge_offline(history, rows, event)
            _judge_deleted(history, rows, event)
    groups = _by_controller(received)
    for of_one in groups:
        if of_one[0].what.controller_id in controllers:
            _judge_types(history, rows, of_one)
    for before, after in pairwise(groups):
        if after[0].what.controller_id in controllers:
            _judge_takeover(history, rows, before, after)
    text = f"{counted(len(received), 'control request')} received, each as documented"
    return rows.verdict(text, "no stub broker received a control request")


def _judge_flag(history: History, rows: ByRequirement, event: _Request, *, is_of_kraft: bool) -> None:
    row = _TRUE if is_of_kraft else _FALSE
    if bool(event.what.is_kraft) is is_of_kraft:
        rows.looked_at(row)
        return
    sender = "a KRaft controller" if is_of_kraft else "a controller in ZooKeeper mode"
    expected = f"isKRaftController is {str(is_of_kraft).lower()} in a request of {sender}"
    observed = f"controller {event.what.controller_id} sent {event.what.request} with {event.what.is_kraft}"
    rows.violated(row, _violation(history, event, expected, observed))


def _judge_layout(history: History, rows: ByRequirement, event: _Request) -> None:
    row, version = _VERSIONS[event.what.request]
    expected = f"{event.what.request} has version {version} and the documented fields"
    found = []
    if event.what.version != version:
        found.append(f"it has version {event.what.version}")
    if event.what.unread_bytes:
        found.append(f"{event.what.unread_bytes} bytes are left when its fields are read")
    for observed in found:
        rows.violated(row, _violation(history, event, expected, observed))
    if not found:
        rows.looked_at(row)


def _judge_offline(history: History, rows: ByRequirement, event: _Request) -> None:
    if event.what.replicas is None or event.what.offline is None or not event.what.replicas:
        return
    wanted = sorted(set(event.what.replicas) - set(event.what.live_brokers))
    if list(event.what.offline) == wanted:
        rows.looked_at(_UPDATED)
        return
    expected = f"the replicas of brokers {wanted} are offline, which are not among the live ones"
    rows.violated(_UPDATED, _violation(history, event, expected, f"those of {list(event.what.offline)} are"))


def _judge_deleted(history: History, rows: ByRequirement, event: _Request) -> None:
    if not event.what.deleted_epochs:
        return
    if _NO_EPOCH in event.what.deleted_epochs:
        expected = "a replica is deleted by the leader epoch of its partition, or -2 with its topic"
        rows.violated(_STOPPED, _violation(history, event, expected, f"it has {list(event.what.deleted_epochs)}"))
    else:
        rows.looked_at(_STOPPED)


def _by_controller(received: Sequence[_Request]) -> list[list[_Request]]:
    """The requests in a row of one controller in one epoch."""
    groups: list[list[_Request]] = []
    for event in received:
        if not groups or _sender(groups[-1][0]) != _sender(event):
            groups.append([])
        groups[-1].append(event)
    return groups


def _judge_types(history: History, rows: ByRequirement, of_one: Sequence[_Request]) -> None:
    """Whether each LeaderAndIsr of a controller says what it holds; nothing if none of its requests does."""
    if all(each.what.is_full is None for each in of_one):
        return
    for each in of_one:
        if each.what.request == _REPLICAS and each.what.is_full is None:
            expected = f"the {_REPLICAS} says whether it holds all replicas or what changed"
            rows.violated(_FULL, _violation(history, each, expected, "it says neither, and other requests do"))


def _judge_takeover(
    history: History, rows: ByRequirement, before: Sequence[_Request], after: Sequence[_Request]
) -> None:
    for request, holds in _FULL_STATE.items():
        known = _known_after(before, request)
        first = next((each for each in after if each.what.request == request), None)
        if not known or first is None:
            continue
        if lacking := sorted(topic for topic, count in known.items() if first.what.topics.get(topic, 0) < count):
            expected = f"the first {request} of controller {first.what.controller_id} holds {holds}"
            rows.violated(_FULL, _violation(history, first, expected, f"it lacks partitions of {', '.join(lacking)}"))
        else:
            rows.looked_at(_FULL)


def _known_after(requests: Sequence[_Request], request: str) -> dict[str, int]:
    """The number of partitions of each topic in requests of one kind, without those it received deletions of."""
    known: dict[str, int] = {}
    for event in requests:
        if event.what.request == request:
            for topic, count in event.what.topics.items():
                known[topic] = max(count, known.get(topic, 0))
        for topic in event.what.deleted:
            known.pop(topic, None)
    return known


def _sender(event: _Request) -> tuple[object, object]:
    return event.what.controller_id, event.what.controller_epoch


def _violation(history: History, event: Event, expected: str, observed: str) -> Violation:
    return timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}")
