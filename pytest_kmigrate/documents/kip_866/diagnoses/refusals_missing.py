"""KAFKA-15450 and KAFKA-17457: a node runs that later releases refuse, though a migration of it cannot be sound."""

import re

from pytest_kmigrate.checkers.evidence.expected_ends import ExpectedEnd, expected_ends
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.run.ends import expected_ends_came
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict, Violation

_SEVERAL_DISKS = re.compile(
    r"\blog\.dirs = [^\n]*,[^\n]*\n(?:(?!\blog\.dirs = ).)*?zookeeper\.metadata\.migration\.enable = true"
    r"(?:(?!\blog\.dirs = ).)*?started \(kafka\.server\.KafkaServer\)",
    re.DOTALL,
)
"""What a broker logs of its properties, and then that it runs."""
_COPIES_UNPROTECTED = "Starting ZK Migration without metadata transactions enabled"
"""What controllers from 3.6 on log; before, none has such transactions."""


@diagnosis("KAFKA-15450")
def broker_with_several_disks_runs(history: History, verdict: Verdict) -> bool:
    """A broker started with several log directories and the flag of the migration, and served."""
    missing = _missing(history, verdict, "log director")
    return bool(missing) and all(_SEVERAL_DISKS.search(log_of(history, each.node)) for each in missing)


@diagnosis("KAFKA-17457")
def quorum_without_transactions_copies(history: History, verdict: Verdict) -> bool:
    """A controller began to copy, and logged that its metadata.version has no metadata transactions."""
    missing = _missing(history, verdict, "metadata.version")
    return bool(missing) and all(_COPIES_UNPROTECTED in log_of(history, each.node) for each in missing)


def _missing(history: History, verdict: Verdict, reason: str) -> list[ExpectedEnd]:
    """The nodes that a verdict expected to end for a reason, and that did not; none if it is about something else, too.

    A test that expects another reason of the same node has found another defect.
    """
    ends = expected_ends(history) if verdict.is_of(expected_ends_came) else []
    missing = [each for each in ends if each.end is None and reason in each.naming]
    of_each = [[end for end in missing if _is_of(each, end)] for each in verdict.violations]
    return [end for ends in of_each for end in ends] if all(of_each) else []


def _is_of(violation: Violation, end: ExpectedEnd) -> bool:
    """Whether a violation is that this end did not come: one node may be expected to end several times."""
    return violation.expected.startswith(f"{end.node} ") and violation.at_ns == end.expectation.at_ns
