"""Snapshots: when an image of the metadata was taken, as the history records it, and what had been changed by then."""

import itertools
from dataclasses import replace

from pytest_kmigrate.checkers.metadata.changes import began_ns, has_failed
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import ImagesSettled, SnapshotTaken
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage


def missing_images(history: History, *labels: str) -> str:
    """A sentence about the images among these that were never taken; empty when there are all."""
    missing = [label for label in labels if label not in history.images]
    taken = ", ".join(sorted(history.images)) or "none"
    return f"no image named {' or '.join(missing)} was taken; there are: {taken}" if missing else ""


def snapshot(history: History, label: str) -> Recorded[SnapshotTaken] | None:
    """The event of the image of this label, which came when the image was whole."""
    taken = [event for event in history.of(SnapshotTaken) if event.what.label == label]
    return taken[-1] if taken else None


def images_beside(history: History, label: str) -> list[MetadataImage]:
    """All images that were taken together with this one, to see whether the sides agree."""
    settled = [each.what.images for each in history.of(ImagesSettled) if label in each.what.images]
    return [history.images[each] for each in itertools.chain.from_iterable(settled) if each in history.images]


def _taking_began_ns(history: History, taken: Recorded[SnapshotTaken]) -> int:
    """The earliest that an image can show: it was recorded when it was whole, and taking it takes time."""
    for settled in history.of(ImagesSettled):
        if taken.what.label in settled.what.images:
            recorded = [each for each in history.of(SnapshotTaken) if each.what.label in settled.what.images]
            return min(each.at_ns for each in recorded) - int(settled.what.took_s * 1e9)
    return taken.what.began_ns


def changes_before(history: History, label: str) -> list[Recorded[MetadataChanged]]:
    """The changes that ended before the image was taken; those in progress at that time count as indefinite."""
    taken = snapshot(history, label)
    changes = history.of(MetadataChanged)
    if taken is None:
        return changes
    earliest_ns = _taking_began_ns(history, taken)
    before = [event for event in changes if event.at_ns <= earliest_ns]
    during = [event for event in changes if event.at_ns > earliest_ns and began_ns(event) < taken.at_ns]
    return before + [replace(e, data={**e.data, "outcome": "indefinite"}) for e in during if not has_failed(e)]
