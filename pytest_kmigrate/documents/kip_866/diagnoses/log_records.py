"""The records of the metadata log, as a run keeps them: where a place was changed, and what the log held of it before.

They are there for an image of the log whose records were kept beside it. Offsets are evidence where times are none:
a controller may write to ZooKeeper long after a change was acknowledged.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

from pytest_kmigrate.checkers.controllers.lives import life_starts_ns
from pytest_kmigrate.checkers.metadata.differences import PARTITION_FIELDS, both_entries, family_differences
from pytest_kmigrate.checkers.metadata.snapshots import images_beside
from pytest_kmigrate.documents.kip_866.checks.settled import LOG
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage
from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.probes.metadata_replay import Place, changed_at, image_from_records

_NOTHING: Mapping[Place, Sequence[int]] = {}


def last_log(history: History) -> MetadataImage | None:
    """The image of the metadata log that goes furthest; None if no records were kept.

    Nor is there one where a run has several logs, one after the other: their offsets are not comparable.
    """
    if life_starts_ns(history):
        return None
    logs = [each for each in history.images.values() if each.source == LOG and each.read_from]
    return max(logs, key=lambda each: each.of_log.get("last_offset", -1), default=None)


def log_beside(history: History, label: str, others: Sequence[str]) -> MetadataImage | None:
    """The image of the metadata log that was taken together with another image, or is compared with it."""
    compared = [history.images[each] for each in others if each in history.images]
    together = [*images_beside(history, label), *compared]
    return next((each for each in together if each.source == LOG and each.read_from), None)


def offsets_of(log: MetadataImage | None, place: Place) -> Sequence[int]:
    """Where the log has changes of a place."""
    return (_changes(log) if log is not None else _NOTHING).get(place, ())


@kept
def _changes(log: MetadataImage) -> Mapping[Place, Sequence[int]]:
    return changed_at(log.read_from)


@kept
def log_at(log: MetadataImage, offset: int) -> MetadataImage:
    """What the log held after the record at an offset."""
    return image_from_records(each for each in log.read_from if _offset(each) <= offset)


def _offset(record: Mapping[str, object]) -> int:
    offset = record["offset"]
    return offset if isinstance(offset, int) else -1


def lacks_only_the_last(log: MetadataImage, other: MetadataImage, place: Place, is_lost: Callable[[int], bool]) -> bool:
    """Whether another side holds of a place what the log held before its last changes, and all of these are lost."""
    offsets = offsets_of(log, place)
    lost = list(takewhile(is_lost, reversed(offsets)))[::-1]
    before = offsets[: len(offsets) - len(lost)]
    held_since = [*(before[-1:] or [-1]), *lost[:-1]]
    return bool(lost) and any(is_equal_at(log_at(log, each), other, place) for each in held_since)


def is_equal_at(one: MetadataImage, other: MetadataImage, place: Place) -> bool:
    """Whether two images hold the same of one place."""
    family, key = place
    ours, theirs = ({key: side[key]} if key in side else {} for side in both_entries(one, other, family))
    return not family_differences(family, (ours, theirs), PARTITION_FIELDS)
