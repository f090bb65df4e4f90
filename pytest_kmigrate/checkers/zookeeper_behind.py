"""What known bugs look like in an image of ZooKeeper that dual write does not reach any more."""

from pytest_kmigrate.checkers.migration_znode import is_given_up_at
from pytest_kmigrate.checkers.snapshots import snapshot
from pytest_kmigrate.model.history import History


def signatures_of_zookeeper(history: History, *labels: str) -> list[str]:
    """The signatures that the images of ZooKeeper among these bear; they explain what ZooKeeper lacks, nothing else."""
    of_zookeeper = [label for label in labels if history.images[label].source == "zookeeper"]
    found = []
    if any(_has_partition_without_state(history, label) for label in of_zookeeper):
        found.append("new-partitions-block-the-full-sync")
    if any(_is_given_up(history, label) for label in of_zookeeper):
        found.append("answer-of-zookeeper-lost")
    return found


def _has_partition_without_state(history: History, label: str) -> bool:
    """Partitions that have replicas, but no state yet: the full sync begins again and again before them."""
    return any(value.get("isr") is None for value in history.images[label].partitions.values())


def _is_given_up(history: History, label: str) -> bool:
    """The controller that is active does not write to it any more."""
    taken = snapshot(history, label)
    return taken is not None and is_given_up_at(history, taken.at_ns)
