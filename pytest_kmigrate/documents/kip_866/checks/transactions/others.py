"""Checks of other writers: none during the copy, and no controller that another one has succeeded."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.documents.kip_866.checks.transactions.copies import (
    CHANGES_NOTIFIED,
    Copy,
    copies,
    is_named_by,
)
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    EVIDENCE,
    Claimed,
    claims,
    has_transactions,
    kraft_sessions,
    named,
)
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.verdict import Verdict

_COPY, _FENCED = "K866-DW-no-writes-during-copy", "K866-FAIL-stale-controller-fenced"
_BAD_VERSION = -103
"""ZooKeeper's error where a znode that a transaction checks, such as ``/controller_epoch``, has another version."""
_METADATA = ("/brokers/topics", "/config", "/admin", "/kafka-acl", "/delegation_token", "/latest_producer_id_block")
"""What is copied; the rest is of brokers that come and go, and of controllers."""


@checker(_COPY, in_every_run=has_transactions, anomaly="write during the copy", needs=[Capability.ZOOKEEPER_LOG])
def nobody_else_writes_during_the_copy(history: History) -> Verdict:
    """From the take-over until ``/migration`` holds a place, only KRaft controllers write metadata to ZooKeeper.

    Refused attempts are no writes, and a notification of what its session wrote before the take-over is no metadata: a
    broker writes a config by one request, and by the next one what other brokers learn of it by. A copy during which
    no other client tried to write, or asked for a change of metadata, proves nothing.
    """
    rows = ByRequirement(_COPY)
    controllers = kraft_sessions(history)
    made = copies(history)
    attempts = 0
    for copy in made:
        rows.looked_at(_COPY, _changes_tried(history, copy))
        for each in copy.transactions:
            if each.session in controllers:
                continue
            attempts += bool(each.error)
            rows.looked_at(_COPY, int(bool(each.error)))
            for write in filter(_is_metadata, each.changes):
                if _notifies_of_an_earlier(history, copy, each, write):
                    continue
                observed = f"{named(each)}: {write.operation} {write.path}"
                expected = "only KRaft controllers write metadata during the copy"
                rows.violated(_COPY, timed_violation(history, expected, observed, each.at_ns, EVIDENCE))
    text = f"{counted(len(made), 'copy', 'copies')}, and no other client wrote metadata"
    lacking = "ZooKeeper logged no copy in this run during which another client tried to change metadata"
    return rows.verdict(text, lacking, refused_attempts=attempts)


def _changes_tried(history: History, copy: Copy) -> int:
    """How many changes of metadata clients had asked for while it lasted."""
    changes = history.of(MetadataChanged)
    return sum(began_ns(each) <= copy.ended_ns and each.at_ns >= copy.began_ns for each in changes)


def _is_metadata(write: Write) -> bool:
    return write.path.startswith(_METADATA)


def _notifies_of_an_earlier(history: History, copy: Copy, notified: Transaction, write: Write) -> bool:
    """Whether a write is the one notification of what its session wrote before the copy began."""
    if write.operation != "create" or not write.path.startswith(CHANGES_NOTIFIED):
        return False
    own = [each for each in history.transactions if each.session == notified.session and each.zxid < notified.zxid]
    for each in reversed(own):
        for change in each.changes:
            if change.path.startswith(CHANGES_NOTIFIED) and change.data == write.data:
                return False
            if is_named_by(write, change):
                return each.zxid < copy.zxid
    return False


@checker(_FENCED, in_every_run=has_transactions, anomaly="former controller writes", needs=[Capability.ZOOKEEPER_LOG])
def former_controller_writes_nothing(history: History) -> Verdict:
    """A session of a KRaft controller changes nothing after another session has claimed ``/controller``.

    A run proves something if a former controller tried to, and was refused for a version that had moved on: that a
    znode is there already, or is gone, refuses anybody.
    """
    rows = ByRequirement(_FENCED)
    by_zxid = {each.transaction.zxid: each for each in claims(history) if each.is_kraft}
    sessions = {each.transaction.session for each in by_zxid.values()}
    claimed, current = set[int](), None
    for each in history.transactions:
        current = by_zxid.get(each.zxid, current)
        if current is None:
            continue
        claimed.add(current.transaction.session)
        if each.session not in claimed or each.session == current.transaction.session:
            continue
        if each.error == _BAD_VERSION or each.changes:
            rows.looked_at(_FENCED)
        for write in each.changes:
            _violate(history, rows, each, write, current)
    text = f"{counted(len(sessions), 'session')} of KRaft controllers, whose later attempts were refused"
    return rows.verdict(text, "no KRaft controller tried to write after another one had taken over")


def _violate(history: History, rows: ByRequirement, transaction: Transaction, write: Write, current: Claimed) -> None:
    observed = f"{named(transaction)}: {write.operation} {write.path}"
    expected = f"only controller-{current.controller} writes after {named(current.transaction)}"
    rows.violated(_FENCED, timed_violation(history, expected, observed, transaction.at_ns, EVIDENCE))
