"""Check of how KRaft controllers write to ZooKeeper: conditionally on the epoch, and together with ``/migration``."""

from collections import defaultdict

from pytest_kmigrate.checkers.controllers.claims import CONTROLLER_EPOCH
from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_866.checks.transactions.sessions import (
    EVIDENCE,
    data_of,
    dual_writes,
    has_transactions,
    named,
    position_set,
)
from pytest_kmigrate.documents.kip_866.checks.znodes.migration_znode import MIGRATION
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History, Transaction, Write
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K866-DW-multi"
NOTIFICATIONS = ("/config/changes/", "/kafka-acl-changes/", "/kafka-acl-extended-changes/")
"""By what lies below them brokers in ZooKeeper mode learn of a change."""
_ONLY_CHECKED = f"only check {MIGRATION}"
_NOTIFIED = "write a change notification or an empty parent by itself"
_ALONE = "write data by itself"
_NO_EPOCH = f"do not check {CONTROLLER_EPOCH}"
_NO_POSITION = f"neither check nor set {MIGRATION}"


@checker(_ROW, in_every_run=has_transactions, anomaly="unconditional write", needs=[Capability.ZOOKEEPER_LOG])
def every_write_of_a_controller_is_conditional(history: History) -> Verdict:
    """Each change that a KRaft controller makes in ZooKeeper sets ``/migration`` in the same transaction.

    The transaction checks ``/controller_epoch`` as well. Judged by ZooKeeper's own log, in which the versions that a
    set requires are not recorded: a transaction that sets ``/migration`` counts as conditional.
    """
    rows = ByRequirement(_ROW)
    unlike = defaultdict[str, list[Transaction]](list)
    count = placed = 0
    for each in dual_writes(history):
        placed += int(_ONLY_CHECKED in unlike and position_set(each) is not None)
        if not data_of(each):
            continue
        count += 1
        rows.looked_at(_ROW)
        if shape := _unlike(each):
            unlike[shape].append(each)
    for shape, found in sorted(unlike.items()):
        first = found[0]
        what = f"the first is {named(first)}, of {data_of(first)[0].path}"
        others = f", and {placed} later ones set it" if shape == _ONLY_CHECKED else ""
        observed = f"{len(found)} of {counted(count, 'transaction')} {shape}{others}; {what}"
        expected = f"each write checks {CONTROLLER_EPOCH} and sets {MIGRATION} in one transaction"
        rows.violated(_ROW, timed_violation(history, expected, observed, first.at_ns, EVIDENCE))
    text = f"{counted(count, 'transaction')} of KRaft controllers, each with {MIGRATION}"
    return rows.verdict(text, "ZooKeeper logged no change by a KRaft controller in charge", transactions=count)


def _unlike(transaction: Transaction) -> str:
    """What a transaction lacks; empty if nothing."""
    if not transaction.is_multi:
        return _NOTIFIED if all(map(_is_secondary, data_of(transaction))) else _ALONE
    checked = {each.path for each in transaction.writes if each.operation == "check"}
    if CONTROLLER_EPOCH not in checked:
        return _NO_EPOCH
    if position_set(transaction) is not None:
        return ""
    return _ONLY_CHECKED if MIGRATION in checked else _NO_POSITION


def _is_secondary(write: Write) -> bool:
    return write.operation == "create" and (not write.data or write.path.startswith(NOTIFICATIONS))
