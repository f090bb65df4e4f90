"""KAFKA-15450 and KAFKA-17457: a node runs that later releases refuse, though a migration of it cannot be sound."""

import re

from pytest_kmigrate.checkers.evidence.expected_ends import ExpectedEnd, expected_ends
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_SEVERAL_DISKS = re.compile(
    r"\blog\.dirs = [^\n]*,[^\n]*\n(?:(?!\blog\.dirs = ).)*?zookeeper\.metadata\.migration\.enable = true"
    r"(?:(?!\blog\.dirs = ).)*?started \(kafka\.server\.KafkaServer\)",
    re.DOTALL,
)
"""What a broker logs of its properties, and then that it runs."""
_OLD_LEVEL = re.compile(r"etting metadata version to (?:3\.[45]-IV\d+|3\.6-IV0)\b")
_COPIES = "Starting ZK migration"


@diagnosis("KAFKA-15450")
def broker_with_several_disks_runs(history: History, verdict: Verdict) -> bool:
    """A broker started with several log directories and the flag of the migration, and served."""
    missing = _missing(history, verdict)
    return bool(missing) and all(_SEVERAL_DISKS.search(log_of(history, each.node)) for each in missing)


@diagnosis("KAFKA-17457")
def quorum_without_transactions_copies(history: History, verdict: Verdict) -> bool:
    """A controller began to copy at a metadata.version that has no metadata transactions."""
    logs = [log_of(history, each.node) for each in _missing(history, verdict)]
    return bool(logs) and all(_OLD_LEVEL.search(log) and _COPIES in log for log in logs)


def _missing(history: History, verdict: Verdict) -> list[ExpectedEnd]:
    """The nodes that a test expected to end, and that did not; none if the verdict is about something else."""
    ends = expected_ends(history) if verdict.check == "expected_ends_came" else []
    missing = [each for each in ends if each.end is None]
    return missing if len(missing) == verdict.count else []
