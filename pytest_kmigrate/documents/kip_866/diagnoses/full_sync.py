"""kmigrate-2 and kmigrate-10: a new active controller begins its full sync with ZooKeeper again and again."""

import re
from collections import Counter

from pytest_kmigrate.checkers.evidence.expectations import all_unmet
from pytest_kmigrate.checkers.evidence.logs import logs_of
from pytest_kmigrate.checkers.metadata.wrong import wrong_in
from pytest_kmigrate.model.document import diagnosis
from pytest_kmigrate.model.event import Event
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Verdict

_RETRIED = "Encountered ZooKeeper error during event SyncKRaftMetadataEvent"
_NO_STATE = re.compile(r"Could not find partition state in ZK for (\S+)\. Initializing this partition")
_UNKNOWN = re.compile(
    r"Unhandled error in SyncKRaftMetadataEvent[^\n]*\n[^\n]*Unknown config resource type CLIENT_METRICS"
)
_AGAIN = 3
"""So often a sync begins that does not end; one that is disturbed once does so twice."""
_BEFORE_CONFIGS = frozenset({"topics", "partitions"})
"""What a full sync writes before it comes to the configs."""


@diagnosis("kmigrate-2")
def full_sync_begins_again_before_new_partitions(history: History, verdict: Verdict) -> bool:
    """A controller found the same partition without a state, again and again, and each full sync failed after it.

    It explains what ZooKeeper lacks while it has that partition without a state.
    """
    blocking = {each for _, log in logs_of(history, "controller") for each in _without_state(log)}
    wrong = wrong_in(history, verdict)
    label = wrong.behind(history, "zookeeper") if wrong else None
    if label is not None:
        stateless = {each for each, value in history.images[label].partitions.items() if value.get("isr") is None}
        return bool(blocking & stateless)
    return bool(blocking) and all_unmet(history, verdict, lambda event: _is_about(event, blocking))


@diagnosis("kmigrate-10")
def full_sync_begins_again_before_client_metrics(history: History, verdict: Verdict) -> bool:
    """Each full sync of a controller failed at the configs of CLIENT_METRICS.

    It explains that ZooKeeper lacks what comes later than topics and partitions.
    """
    is_blocked = any(len(_UNKNOWN.findall(log)) >= _AGAIN for _, log in logs_of(history, "controller"))
    wrong = wrong_in(history, verdict)
    if wrong is not None and wrong.behind(history, "zookeeper"):
        return is_blocked and not any(family in _BEFORE_CONFIGS for family, _ in wrong.places)
    return is_blocked and all_unmet(history, verdict, lambda event: "/config/" in str(event.data.get("name")))


def _without_state(log: str) -> list[str]:
    """The partitions before which a controller's full sync failed, again and again."""
    found = Counter(_NO_STATE.findall(log)) if log.count(_RETRIED) >= _AGAIN else Counter[str]()
    return [partition for partition, times in found.items() if times >= _AGAIN]


def _is_about(event: Event, partitions: set[str]) -> bool:
    words = re.findall(r"[\w.-]+", str(event.data.get("name")))
    return event.data.get("expected") is True and not partitions.isdisjoint(words)
