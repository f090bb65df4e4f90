"""KAFKA-16428: a notification of a changed config names what brokers in ZooKeeper mode cannot read."""

from pytest_kmigrate.checkers.evidence.expectations import claims_of
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_CHANGES = "/config/changes/"
_LEARNED = "K866-DW-watch-acl"
_BEFORE_NS = 5_000_000_000
"""A change is written to ZooKeeper at most so long before a test begins to look for its effect."""


@diagnosis("KAFKA-16428")
def notification_names_an_option(history: History, verdict: Verdict) -> bool:
    """The last change before the end of a test's wait was announced as ``Some(kind)/name``, by ZooKeeper's log.

    It explains what brokers did not learn of in this time by a notification.
    """
    return all_unmet(history, verdict, lambda event: _is_unreadable(history, event))


def _is_unreadable(history: History, event: Recorded[ExpectationEnded]) -> bool:
    from_ns = event.at_ns - event.what.took_ms * 1_000_000 - _BEFORE_NS
    announced = [
        str(write.data)
        for each in history.transactions
        if from_ns <= each.at_ns <= event.at_ns and not each.error
        for write in each.writes
        if write.path.startswith(_CHANGES) and write.data
    ]
    return _LEARNED in claims_of(history, event) and bool(announced) and '"Some(' in announced[-1]
