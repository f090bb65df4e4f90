"""Registrations of brokers and levels of features, as images of the metadata log and the logs of nodes have them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import RaftLogRead, SnapshotTaken
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import REGISTER_BROKER
from pytest_kmigrate.model.keeping import kept


@dataclass(frozen=True)
class AnnouncedLog:
    """The announced records of one metadata log, in its order."""

    records: Sequence[Mapping[str, Any]]
    """Each {offset, type, version, data}."""
    inherited: int
    """Up to this offset the log is from before the run; -1: all of it is the run's own."""
    end: int
    """The last offset that it has."""
    at_ns: int
    evidence: str
    snapshot: int = -1
    """The offset of the records that a snapshot stands for, with which the log begins; -1: it begins with none."""

    def registrations(self) -> list[Mapping[str, Any]]:
        """Those of brokers."""
        return [each for each in self.records if each["type"] == REGISTER_BROKER]


def announced_logs(history: History) -> list[AnnouncedLog]:
    """Those of images of the metadata log, and those of the nodes at the end of the run."""
    return [*_of_images(history), *announced_at_end(history)]


@kept
def announced_at_end(history: History) -> list[AnnouncedLog]:
    """Those of the nodes at the end; none of a run in which all controllers were emptied, nor of older folders."""
    if life_starts_ns(history):
        return []
    return [
        _at_end(history, event, event.what.announced)
        for event in history.of(RaftLogRead)
        if event.what.announced is not None and event.what.batches
    ]


def _at_end(history: History, event: Recorded[RaftLogRead], announced: Sequence[Mapping[str, Any]]) -> AnnouncedLog:
    """A node's; what a snapshot announces is recorded first, all of it as of the snapshot's end."""
    first, last = int(event.what.batches[0][0] or 0), int(event.what.batches[-1][1] or 0)
    snapshot = announced[0]["offset"] if first > 0 and announced else -1
    inherited = history.header.inherited_offset
    return AnnouncedLog(announced, inherited, last, event.at_ns, f"event {event.seq}", snapshot)


def _of_images(history: History) -> Iterator[AnnouncedLog]:
    starts = life_starts_ns(history)
    for event in history.of(SnapshotTaken):
        image = history.images.get(event.what.label)
        if image is not None and "announced" in image.of_log:
            inherited = history.header.inherited_offset if life_at(starts, began_ns(event)) == 0 else -1
            announced, end = image.of_log["announced"], image.of_log.get("last_offset", -1)
            yield AnnouncedLog(announced, inherited, end, event.at_ns, event.what.file)
