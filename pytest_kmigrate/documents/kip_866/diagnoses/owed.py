"""What a driver that had stopped owed ZooKeeper: what was changed since, and leaders as they have been since."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from pytest_kmigrate.checkers.metadata.changes import State, admissible_states
from pytest_kmigrate.checkers.metadata.snapshots import changes_before
from pytest_kmigrate.checkers.metadata.wrong import Wrong
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.probes.metadata_replay import Place

_MOVING = frozenset({"isr", "leader", "leader_epoch", "partition_epoch", "controller_epoch"})
"""What changes of a partition without any client's request."""


def _owed_places(history: History, labels: Sequence[str], behind: str, owes: Callable[[int], bool]) -> set[Place]:
    """The places of which an image of ZooKeeper may be behind other images, if a driver owed what is of these times.

    That are those that were changed last then, with the partitions of topics that were made, grown or deleted; and what
    moves on without a client's request: leaders and in-sync replicas of partitions, if nothing else of them differs,
    and the next id of producers.
    """
    stale = history.images[behind]
    others = [each for label in labels if (each := history.images[label]).source != stale.source]
    states = [each for each in admissible_states(changes_before(history, behind)) if owes(each.last.at_ns)]
    found = {(each.family, each.slot[1]) for each in states}
    found |= {("partitions", key) for key in _partitions_of(states, stale, others)}
    found |= {("producer_ids", key) for key in _earlier_ids(stale, others)}
    return found | {("partitions", key) for key in _moved(stale.partitions, others)}


def is_owed(history: History, wrong: Wrong, labels: Sequence[str], owes: Callable[[int], bool]) -> bool:
    """Whether all that is wrong is what images of ZooKeeper may lack, if a driver owed what is of these times."""
    behind = [label for label in labels if history.images[label].source == "zookeeper"]
    owed = {place for each in behind for place in _owed_places(history, labels, each, owes)}
    return bool(wrong.every_place) and wrong.every_place <= owed


def _partitions_of(states: Sequence[State], stale: MetadataImage, others: Sequence[MetadataImage]) -> Iterator[str]:
    """The partitions of topics that were made or deleted, and those that a topic was given."""
    made, grown = ({each.slot[1] for each in states if each.family == family} for family in ("topics", "partitions"))
    for image in (stale, *others):
        for key in image.partitions:
            topic = key.rpartition("-")[0]
            if topic in made or (topic in grown and key not in stale.partitions):
                yield key


def _earlier_ids(stale: MetadataImage, others: Sequence[MetadataImage]) -> set[str]:
    """What is the id of the next producer, where ZooKeeper has an earlier one, or none."""
    return {
        key
        for other in others
        for key, now in other.producer_ids.items()
        if isinstance(now, int) and isinstance(before := stale.producer_ids.get(key, -1), int) and before < now
    }


def _moved(stale: Mapping[str, Mapping[str, object]], others: Sequence[MetadataImage]) -> set[str]:
    """The partitions that ZooKeeper has as they were: nothing but leader and in-sync replicas differs, and is older."""
    return {
        key
        for key, held in stale.items()
        for other in others
        if key in other.partitions and _is_older(held, other.partitions[key])
    }


def _is_older(held: Mapping[str, object], now: Mapping[str, object]) -> bool:
    differing = {name for name in {*held, *now} if held.get(name) != now.get(name)}
    before, since = held.get("leader_epoch"), now.get("leader_epoch")
    return differing <= _MOVING and isinstance(before, int) and isinstance(since, int) and before <= since
