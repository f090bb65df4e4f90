"""Check of what nodes answer to ApiVersions at each start: who is ready to migrate, who accepts control requests."""

from pytest_kmigrate.catalogue import is_before
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.nodes.starts import Started, last_start
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Event, Recorded
from pytest_kmigrate.model.events.nodes import RequestsReported
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_READY, _ONLY_ZOOKEEPER = "K866-RPC-ApiVersions-ready", "K866-RPC-listener-zkBroker"
_OLD = "K866-RPC-old-versions-kept"
_CONTROL = {"4": ("LeaderAndIsr", 6), "5": ("StopReplica", 3), "6": ("UpdateMetadata", 7)}
"""By number: name, and the highest version before KIP-866."""


def _has_requests(history: History) -> bool:
    return bool(history.of(RequestsReported))


@checker(
    _READY,
    _ONLY_ZOOKEEPER,
    _OLD,
    in_every_run=_has_requests,
    anomaly="requests of another kind of node",
    needs=[Capability.REQUESTS],
)
def readiness_is_told_by_controllers_only(history: History) -> Verdict:
    """At each start, controllers with the migration enabled report that they are ready, and no other node does.

    Only brokers in ZooKeeper mode accept LeaderAndIsr, StopReplica and UpdateMetadata, those also in every version from
    before KIP-866: one that they do not announce they cannot take. What they announce proves nothing; a test sends it.
    """
    rows = ByRequirement(_READY, _ONLY_ZOOKEEPER, _OLD)
    answers = history.of(RequestsReported)
    for event in answers:
        node = last_start(history, event)
        if node is not None:
            _judge_readiness(history, rows, event, node)
            _judge_requests(history, rows, event, node)
    text = f"{counted(len(answers), 'answer')} of nodes at their start, each as its kind of node has to"
    return rows.verdict(text, "no node was asked at its start")


def _judge_readiness(history: History, rows: ByRequirement, event: Recorded[RequestsReported], node: Started) -> None:
    is_controller = node.role == "controller"
    if node.role == "combined" or (is_controller and is_before(node.kafka, "3.5.0")):
        return  # KIP-866 has no combined nodes; before 3.5 the field does not exist
    expected = is_controller and node.is_migrating
    reported = event.what.is_ready_to_migrate is True
    if reported == expected:
        rows.looked_at(_READY)
        return
    observed = f"{node} {'reports' if reported else 'does not report'} that it is ready to migrate"
    _violate(history, rows, _READY, event, "only controllers with the migration enabled report it", observed)


def _judge_requests(history: History, rows: ByRequirement, event: Recorded[RequestsReported], node: Started) -> None:
    if not node.is_kraft and is_before(node.kafka, "3.4.0"):
        return
    for number, (name, highest) in _CONTROL.items():
        versions = event.what.requests.get(number, ())
        if node.is_kraft:
            rows.looked_at(_ONLY_ZOOKEEPER)
            if versions:
                expected = f"only brokers in ZooKeeper mode accept {name}"
                _violate(history, rows, _ONLY_ZOOKEEPER, event, expected, f"{node} accepts it")
        elif not versions or versions[0] > 0 or versions[1] < highest:
            accepted = f"versions {versions[0]} to {versions[1]}" if versions else "none"
            expected = f"brokers in ZooKeeper mode accept versions 0 to {highest} of {name}"
            _violate(history, rows, _OLD, event, expected, f"{node} accepts {accepted}")


def _violate(history: History, rows: ByRequirement, row: str, event: Event, expected: str, observed: str) -> None:
    rows.violated(row, timed_violation(history, expected, observed, event.at_ns, f"event {event.seq}"))
