"""Checks of transactions: what is read of them is whole, or nothing."""

import numpy as np

from pytest_kmigrate.checkers import kernels
from pytest_kmigrate.checkers.evidence.findings import violated, violation_at
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.checkers.kernels import AnomalyClass
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.model.verdict import Kind, Verdict, conforms, inconclusive

_EXPECTED = {
    AnomalyClass.ABORTED_READ: "no record of an aborted transaction is read",
    AnomalyClass.INTERMEDIATE_READ: "no record of a transaction is read before its last send began",
    AnomalyClass.TORN_TRANSACTION: "of a transaction that was not aborted all acknowledged records are read, or none",
    AnomalyClass.REORDERED_TRANSACTIONS: "transactions that followed one another lie in a partition in their order",
}
"""What is judged here; cycles of open transactions are no violation, Kafka promises nothing of them."""


@checker(needs=[Capability.TRAFFIC])
def transactions_all_or_nothing(history: History) -> Verdict:
    """Readers of committed records see each transaction whole or not at all, never an aborted one, and in their order.

    A transaction whose end is unknown may be there or not, but not in part. Source: KIP-98 (atomic writes, reads of
    committed records).
    """
    ended = _ended(history.operations)
    if not ended["committed"]:
        return inconclusive(Kind.VACUOUS, "no transaction was committed, so none could be torn", **ended)
    found = [each for each in kernels.anomalies_of(history.operations) if each.name in _EXPECTED]
    reported = f"{counted(ended['committed'], 'committed transaction')}, {ended['aborted']} aborted"
    if not found:
        if not _finally_read(history.operations):
            return inconclusive(Kind.VACUOUS, f"{reported}, but no record of any was finally read", **ended)
        return conforms(f"{reported}: each is there whole or not at all", **ended)
    examples = [
        violation_at(history, _EXPECTED[each.name], each.counterexample, each.at_ns, each.evidence) for each in found
    ]
    count = sum(each.count for each in found)
    classes = ", ".join(f"{each.count} x {each.name.value}" for each in found)
    return violated(Kind.SAFETY, f"{classes}; of {reported}", examples, count, **ended)


def _finally_read(operations: Operations) -> int:
    """How many records of transactions were finally read."""
    is_part = (operations.kind == OperationKind.PRODUCE) & (operations.transaction >= 0)
    is_read = (operations.kind == OperationKind.FINAL_READ) & (operations.outcome == OperationOutcome.OK)
    return int(np.isin(operations.producer[is_read], kernels.different(operations.producer[is_part])).sum())


def _ended(operations: Operations) -> dict[str, int]:
    """How many transactions ended how."""
    is_part = (operations.kind == OperationKind.PRODUCE) & (operations.transaction >= 0)
    _, first = np.unique(operations.transaction[is_part], return_index=True)
    outcomes = operations.transaction_outcome[is_part][first]
    return {
        "committed": int((outcomes == OperationOutcome.OK).sum()),
        "aborted": int((outcomes == OperationOutcome.FAILED).sum()),
        "indefinite": int((outcomes == OperationOutcome.INDEFINITE).sum()),
    }
