"""Settled images: what the sides of the metadata held at one moment, and where the migration stood then."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.claims import kraft_claims
from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.evidence.moments import faults_during, phase_at
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.checkers.metadata.snapshots import snapshot
from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.model.event import PHASE, Recorded
from pytest_kmigrate.model.events.evidence import ImagesSettled
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage

LOG, ZOOKEEPER, BROKERS = "metadata-log", "zookeeper", "admin"
"""The sides, as images name their source."""
DUAL_WRITE = (Phase.HYBRID.name, Phase.ALL_KRAFT.name)
"""The phases in which KRaft controllers write to ZooKeeper, too."""


@dataclass(frozen=True)
class Settled:
    """Images of several sides that were taken together; ``labels`` by side."""

    labels: Mapping[str, str]
    began_ns: int
    """From when on the images that were kept were taken."""
    ended_ns: int
    life: int
    phase: str | None

    @property
    def is_dual_write(self) -> bool:
        """Whether the controllers wrote to ZooKeeper, too."""
        return self.phase in DUAL_WRITE

    def has(self, *sides: str) -> bool:
        """Whether there is an image of each of these sides."""
        return all(side in self.labels for side in sides)


def settled_images(history: History) -> list[Settled]:
    """Each settling at a quiet moment: no fault was in force, and no change of metadata under way."""
    return [each for each in _settlings(history) if _is_quiet(history, each)]


def first_logs_in_dual_write(history: History) -> list[Settled]:
    """The first settling in dual write with an image of the log, of each life of the metadata log."""
    firsts: dict[int, Settled] = {}
    for each in settled_images(history):
        if each.is_dual_write and each.has(LOG):
            firsts.setdefault(each.life, each)
    return list(firsts.values())


def image_of(history: History, settled: Settled, side: str) -> MetadataImage:
    """The image of one side; KeyError if it has none."""
    return history.images[settled.labels[side]]


def takeover_ns(history: History, life: int) -> int | None:
    """When a KRaft controller first took ``/controller`` in this life of the metadata log.

    None where it was not observed: no controller did it, or it was before the checkpoint that the run began from.
    """
    if not life and is_inherited(history):
        return None
    starts = life_starts_ns(history)
    return min((each.at_ns for each in kraft_claims(history) if life_at(starts, each.at_ns) == life), default=None)


def is_inherited(history: History) -> bool:
    """Whether the run began from a checkpoint: its first metadata log came with it, copy and all."""
    return history.header.inherited_offset >= 0


def dual_write_ns(history: History, life: int) -> int | None:
    """When dual write was first seen in this life of the metadata log: later changes are mirrored, not copied."""
    starts = life_starts_ns(history)
    seen = (each.at_ns for each in history.states(PHASE) if each.what.state in DUAL_WRITE)
    return min((at_ns for at_ns in seen if life_at(starts, at_ns) == life), default=None)


def _settlings(history: History) -> list[Settled]:
    starts, found = life_starts_ns(history), []
    for event in history.of(ImagesSettled):
        taken = {label: snapshot(history, label) for label in event.what.images}
        images = {label: each for label, each in taken.items() if each is not None and label in history.images}
        if images:
            began = min(began_ns(each) for each in images.values())
            labels = {history.images[label].source: label for label in images}
            life, phase = life_at(starts, event.at_ns), phase_at(history, event.at_ns)
            found.append(Settled(labels, began, event.at_ns, life, phase))
    return found


def _is_quiet(history: History, settled: Settled) -> bool:
    changes = history.of(MetadataChanged)
    under_way = any(_overlaps(each, settled) for each in changes)
    return not under_way and not faults_during(history, settled.began_ns, settled.ended_ns)


def _overlaps(change: Recorded[MetadataChanged], settled: Settled) -> bool:
    return began_ns(change) < settled.ended_ns and change.at_ns > settled.began_ns
