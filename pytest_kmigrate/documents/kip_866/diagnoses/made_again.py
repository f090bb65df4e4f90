"""KAFKA-14616: a broker in KRaft mode has no replica of a topic that was made again while it was down."""

import re

from pytest_kmigrate.checkers.evidence.expectations import lacking_members
from pytest_kmigrate.checkers.evidence.logs import line_to, log_of, was_logged_between
from pytest_kmigrate.checkers.run.steps import all_unmet
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Recorded, is_a
from pytest_kmigrate.model.events.evidence import ExpectationEnded
from pytest_kmigrate.model.events.nodes import NodeDied, NodeStarted, NodeStopped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.topology import BrokerMode
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
    return bool(names) and all(words & _strays(history, each, event.at_ns) for each in names)


def _strays(history: History, node: str, at_ns: int) -> set[str]:
    """The topics of which a broker in KRaft mode found former replicas when it was started last, after it was down."""
    starts_and_ends = history.of(NodeStopped, NodeDied, NodeStarted)
    seen = [each for each in starts_and_ends if each.node == node and each.at_ns <= at_ns]
    last = seen[-1] if seen else None
    if last is None or not is_a(last, NodeStarted) or last.what.mode != BrokerMode.KRAFT.value:
        return set()
    if all(is_a(each, NodeStarted) for each in seen):
        return set()
    log = log_of(history, node)
    found = ((each[1], line_to(log, each.end())) for each in _STRAY.finditer(log))
    return {topic for topic, line in found if was_logged_between(history, line, last.at_ns, at_ns, node)}
