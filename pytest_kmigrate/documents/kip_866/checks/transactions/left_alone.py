"""Checks that ZooKeeper is left alone: by a new quorum until it takes over, and by everyone after finalization."""

from collections.abc import Iterator, Mapping, Sequence

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import span
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    EVIDENCE,
    broker_sessions,
    claims,
    has_transactions,
    named,
)
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.events.evidence import ChecksRequested
from pytest_kmigrate.model.events.nodes import NodeDied, NodeReconfigured, NodeStarted, NodeStopped
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.verdict import Verdict

_PROVISION, _FINALIZED = "K866-PROC-provision-quorum", "K866-PROC-finalize-no-zk-writes"
_LONG_ENOUGH_NS = 2_000_000_000
"""In less time hardly anything would have been done."""
_ENDED_NS = 5_000_000_000
"""By then what a controller had begun to write as it left is written."""
_OF_EVERY_CLUSTER = (
    "/admin/delete_topics",
    "/brokers/ids",
    "/brokers/seqid",
    "/brokers/topics",
    "/cluster",
    *(f"/config/{each}" for each in ("brokers", "changes", "clients", "ips", "topics", "users")),
    "/consumers",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
)
"""Empty znodes that the first broker creates, also one that then registers nothing."""
_OF_AUTHORIZERS = "/kafka-acl"
"""Brokers write ACLs in sessions of their own, in which they register nothing."""


@checker(_PROVISION, in_every_run=has_transactions, anomaly="quorum disturbs", needs=[Capability.ZOOKEEPER_LOG])
def provisioning_leaves_zookeeper_alone(history: History) -> Verdict:
    """From the start of the first controller to the take-over, controllers create ``/migration`` and nothing else.

    Sessions that registered a broker are brokers'. ``/kafka-acl`` is not judged, as brokers' authorizers write there;
    nor are the empty znodes that every cluster has, and what is below another path that a controller was given as its
    ``zookeeper.connect``. A ``/migration`` that somebody left without data may be made anew in one transaction.
    """
    rows = ByRequirement(_PROVISION)
    from_ns, to_ns = _provisioned(history)
    if history.header.inherited_offset < 0 and to_ns - from_ns >= _LONG_ENOUGH_NS:
        rows.looked_at(_PROVISION)
        brokers = broker_sessions(history)
        others = [
            each for each in history.transactions if each.session not in brokers and from_ns <= each.at_ns < to_ns
        ]
        elsewhere = _elsewhere(history)
        for each, write in _changes(others):
            if write.path.startswith(elsewhere):
                continue
            if not (_is_of_provisioning(write, elsewhere) or _fills_what_was_empty(history, each, write)):
                _violate(history, rows, _PROVISION, each, write, "a quorum that has not taken over writes nothing")
    text = f"a quorum was beside ZooKeeper for {span(max(0, to_ns - from_ns))} and wrote nothing but {MIGRATION}"
    return rows.verdict(text, "no controller was started beside ZooKeeper, and up for 2 s before the take-over")


def _provisioned(history: History) -> tuple[int, int]:
    """From the first controller's start to the first claim of one, or to the end of the evidence."""
    started = [each.at_ns for each in history.of(NodeStarted) if each.what.role == "controller"]
    taken = [each.transaction.at_ns for each in claims(history) if each.is_kraft]
    return (started[0], min(taken, default=_end_ns(history))) if started else (0, 0)


def _elsewhere(history: History) -> tuple[str, ...]:
    """Paths below which controllers were sent to look for the cluster, each with its last slash."""
    changes = [each.what.changed for each in history.of(NodeReconfigured)]
    given = [str(each.get("zookeeper.connect") or "") for each in changes if isinstance(each, Mapping)]
    return tuple(f"/{path}/" for _, slash, path in (each.partition("/") for each in given) if slash)


def _is_of_provisioning(write: Write, elsewhere: Sequence[str]) -> bool:
    if write.path.startswith(_OF_AUTHORIZERS):
        return True
    parent_of = [each for each in (*_OF_EVERY_CLUSTER, *elsewhere) if f"{each}/".startswith(f"{write.path}/")]
    is_parent = bool(parent_of) and not write.data and not write.is_ephemeral
    return write.operation == "create" and (is_parent or write.path == MIGRATION)


def _fills_what_was_empty(history: History, transaction: Transaction, write: Write) -> bool:
    """Whether ``/migration``, which held no data, is deleted only to be created by the same transaction."""
    made = [each.operation for each in transaction.writes if each.path == MIGRATION]
    before = [each for each in history.znodes if each.path == MIGRATION and 0 <= each.mzxid < transaction.zxid]
    was_empty = bool(before) and not before[-1].data
    return write.path == MIGRATION and made == ["delete", "create"] and was_empty


@checker(_FINALIZED, in_every_run=has_transactions, anomaly="ZooKeeper written again", needs=[Capability.ZOOKEEPER_LOG])
def zookeeper_is_left_alone_after_finalization(history: History) -> Verdict:
    """From 5 s after finalization no session changes a znode, as long as no broker is started in ZooKeeper mode."""
    rows = ByRequirement(_FINALIZED)
    finalized = [each.at_ns for each in history.states(PHASE) if each.what.state == Phase.FINALIZED.name]
    since_ns = finalized[0] + _ENDED_NS if finalized else _end_ns(history)
    until_ns = _zookeeper_used_ns(history, since_ns)
    rows.looked_at(_FINALIZED, until_ns - since_ns >= _LONG_ENOUGH_NS)
    later = [each for each in history.transactions if since_ns <= each.at_ns < until_ns]
    for each, write in _changes(later):
        _violate(history, rows, _FINALIZED, each, write, "ZooKeeper is not written once the migration is finalized")
    text = f"ZooKeeper was left alone for {span(max(0, until_ns - since_ns))}"
    return rows.verdict(text, "ZooKeeper was not seen for 2 s more, from 5 s after finalization on")


def _zookeeper_used_ns(history: History, since_ns: int) -> int:
    """When ZooKeeper went down, a broker came back to it, or the evidence ends."""
    ends = [each.at_ns for each in history.of(NodeStopped, NodeDied) if _is_zookeeper(each.node)]
    back = [
        each.at_ns
        for each in history.of(NodeStarted)
        if each.what.mode == "zookeeper" and each.at_ns >= since_ns - _ENDED_NS
    ]
    return min([*ends, *back, _end_ns(history)])


def _is_zookeeper(node: str | None) -> bool:
    return str(node).startswith("zookeeper-")


def _end_ns(history: History) -> int:
    """When ZooKeeper's log was read, or soon after."""
    asked = history.of(ChecksRequested)
    return asked[0].at_ns if asked else history.end_ns


def _changes(transactions: Sequence[Transaction]) -> Iterator[tuple[Transaction, Write]]:
    return ((each, write) for each in transactions for write in each.changes)


def _violate(
    history: History, rows: ByRequirement, row: str, transaction: Transaction, write: Write, expected: str
) -> None:
    at_ns = transaction.at_ns
    observed = f"{named(transaction)}: {write.operation} {write.path}"
    rows.violated(row, timed_violation(history, expected, observed, at_ns, EVIDENCE))
