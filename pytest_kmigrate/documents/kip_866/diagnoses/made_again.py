"""KAFKA-14616: a broker in KRaft mode has no replica of a topic that was made again while it was down."""

import re

from pytest_kmigrate.checkers.evidence.expectations import lacking_members
from pytest_kmigrate.checkers.evidence.logs import log_of
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import EventKind, Recorded
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_STRAY = re.compile(
    r"Found stray log dir Log\(dir=[^\s,]*/([\w.-]+)-\d+,[^\n]*the topicId \S+ does not exist in the metadata image"
)


@diagnosis("KAFKA-14616")
def replica_went_with_the_former_topic(history: History, verdict: Verdict) -> bool:
    """The broker that is not in sync found, and deleted, a replica of a former topic of that name as it started."""
    return all_unmet(history, verdict, lambda event: _is_about(history, event))


def _is_about(history: History, event: Recorded[ExpectationEnded]) -> bool:
    lacking = lacking_members(event)
    brokers = set[object]().union(*lacking) if lacking else set[object]()
    words = set(re.findall(r"[\w.-]+", event.what.name))
    names = [f"broker-{each}" for each in brokers]
    return bool(names) and all(
        words & set(_STRAY.findall(log_of(history, each))) and _had_been_away(history, each, event.at_ns)
        for each in names
    )


def _had_been_away(history: History, node: str, at_ns: int) -> bool:
    """Whether a node had been down before, and started again."""
    kinds = (EventKind.NODE_STOPPED, EventKind.NODE_DIED, EventKind.NODE_STARTED)
    seen = [each.kind for each in history.of(*kinds) if each.node == node and each.at_ns <= at_ns]
    return seen[-1:] == [EventKind.NODE_STARTED] and any(each is not EventKind.NODE_STARTED for each in seen)
