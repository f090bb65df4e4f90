"""Check of the readiness in answers to ApiVersions as the draft has it: a number, from version 4 on, of controllers."""

from collections.abc import Mapping

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import Started, last_start
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.nodes import NodeReconfigured, RequestsReported
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_VERSION, _VALUES = "K866D-RPC-ApiVersions-v4", "K866D-RPC-ApiVersions-values"
_CONTROLLERS = "K866D-RPC-ApiVersions-controllers-only"
_FIELD, _OLD, _NEW = "ZkMigrationReady", "3", "4"
_NOT_READY, _READY = 0, 1


@checker(
    *(_VERSION, _VALUES, _CONTROLLERS),
    in_every_run=lambda history: bool(history.of(RequestsReported)),
    anomaly="readiness unlike the draft",
    needs=[Capability.REQUESTS],
)
def readiness_is_that_of_the_draft(history: History) -> Verdict:
    """Controllers answer version 4 of ApiVersions with ZkMigrationReady, 1 with the flag and 0 without; no other does.

    A controller without ``zookeeper.connect`` is no candidate and leaves the field out. Folders of 0.1 hold only
    whether version 3 has the field.
    """
    rows = ByRequirement(_VERSION, _VALUES, _CONTROLLERS)
    answers = history.of(RequestsReported)
    for event in answers:
        node, sent = last_start(history, event), event.what.readiness
        if node is not None and node.role == "broker":
            _judge_broker(history, rows, event, node)
        elif node is not None and node.role == "controller" and sent is not None:
            _judge_version(history, rows, event, node, sent)
            _judge_value(history, rows, event, node, sent)
    text = f"{counted(len(answers), 'answer')} of nodes at their start, each as the draft has it"
    return rows.verdict(text, "no node was asked at its start")


def _judge_broker(history: History, rows: ByRequirement, event: Recorded[RequestsReported], node: Started) -> None:
    sent = event.what.readiness or {}
    if event.what.is_ready_to_migrate is True or any(each is not None for each in sent.values()):
        _violate(history, rows, _CONTROLLERS, event, f"only controllers send {_FIELD}", f"{node} sends it")
    else:
        rows.looked_at(_CONTROLLERS)


def _judge_version(
    history: History, rows: ByRequirement, event: Event, node: Started, sent: Mapping[str, int | None]
) -> None:
    expected = f"version {_NEW} has {_FIELD}, and version {_OLD} has not"
    if sent.get(_OLD) is not None:
        _violate(history, rows, _VERSION, event, expected, f"version {_OLD} of {node} has it")
    elif node.is_migrating and sent.get(_NEW) is None:
        observed = f"version {_NEW} of {node} has it not" if _NEW in sent else f"{node} knows no version {_NEW}"
        _violate(history, rows, _VERSION, event, expected, observed)
    elif node.is_migrating:
        rows.looked_at(_VERSION)


def _judge_value(
    history: History, rows: ByRequirement, event: Event, node: Started, sent: Mapping[str, int | None]
) -> None:
    """That it is 1 with the flag is no sign of a number: a boolean is 1, too."""
    value = next((each for each in (sent.get(_NEW), sent.get(_OLD)) if each is not None), None)
    due = _READY if node.is_migrating else _NOT_READY if _has_zookeeper(history, event) else None
    if value != due:
        expected = f"{_FIELD} is {'not sent' if due is None else due}"
        observed = f"{node} sends {'none' if value is None else value}"
        _violate(history, rows, _VALUES, event, expected, observed)
    elif due == _NOT_READY:
        rows.looked_at(_VALUES)


def _has_zookeeper(history: History, at: Event) -> bool:
    """Whether the node was last configured with the address of ZooKeeper."""
    found = False
    for event in history.of(NodeReconfigured):
        changed = event.what.changed
        if event.node == at.node and event.seq < at.seq:
            found = changed.get("zookeeper.connect") is not None if "zookeeper.connect" in changed else found
    return found


def _violate(history: History, rows: ByRequirement, row: str, event: Event, expected: str, observed: str) -> None:
    rows.violated(row, timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}"))
