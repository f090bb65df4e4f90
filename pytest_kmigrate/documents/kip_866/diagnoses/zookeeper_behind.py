"""What known bugs look like in an image of ZooKeeper that lacks what dual write should have brought there."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.moments import targets_of
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.documents.kip_866.checks.migration_znode import GIVEN_UP, is_given_up_at
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History

# An expired session is noticed with the next request, or with a heartbeat, of which one comes every 6 s.
_AROUND_NS = 10_000_000_000


def signatures_of_zookeeper(history: History, lost_ns: Sequence[int], *labels: str) -> list[str]:
    """The signatures that the images of ZooKeeper among these bear; they explain what ZooKeeper lacks, nothing else.

    ``lost_ns``: when each acknowledged change that these images lack was made.
    """
    of_zookeeper = [label for label in labels if history.images[label].source == "zookeeper"]
    found = []
    if any(_has_partition_without_state(history, label) for label in of_zookeeper):
        found.append("new-partitions-block-the-full-sync")
    if any(_is_given_up(history, label) for label in of_zookeeper):
        found.append(GIVEN_UP)
    if of_zookeeper and _is_lost_with_a_session(history, lost_ns):
        found.append("change-lost-with-the-session")
    return found


def _is_lost_with_a_session(history: History, lost_ns: Sequence[int]) -> bool:
    """Whether all that is missing was acknowledged about when the session of a KRaft controller was expired."""
    began = history.of(EventKind.FAULT_BEGAN)
    expiries = {each.data["fault_id"] for each in began if str(each.data["fault"]).startswith("expire-session(")}
    expired_ns = [
        each.at_ns
        for each in history.of(EventKind.FAULT_APPLIED)
        if each.data["fault_id"] in expiries and any(node.startswith("controller-") for node in targets_of(each))
    ]
    near = (any(abs(lost - expired) <= _AROUND_NS for expired in expired_ns) for lost in lost_ns)
    return bool(lost_ns) and all(near)


def _has_partition_without_state(history: History, label: str) -> bool:
    """Partitions that have replicas, but no state yet: the full sync begins again and again before them."""
    return any(value.get("isr") is None for value in history.images[label].partitions.values())


def _is_given_up(history: History, label: str) -> bool:
    """The controller that is active does not write to it any more."""
    taken = snapshot(history, label)
    return taken is not None and is_given_up_at(history, taken.at_ns)
