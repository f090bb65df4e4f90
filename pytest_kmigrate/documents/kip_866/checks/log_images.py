"""Log images: what each image of the metadata log has of the migration itself, beside the metadata it holds."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.controllers.lives import life_at, life_starts_ns
from pytest_kmigrate.checkers.metadata.changes import began_ns
from pytest_kmigrate.documents.kip_866.phases import ZkMigrationState, zk_migration_state
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.evidence import SnapshotTaken
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.image import MetadataImage

_WITH_TRANSACTIONS = 13  # metadata.version 3.6-IV1


@dataclass(frozen=True)
class RecordedState:
    """One migration state in the log; ``outside``: how much metadata per type came before it in no transaction."""

    offset: int
    number: int
    state: ZkMigrationState | None
    """What the release means by the number; None: nothing."""
    outside: Mapping[str, int]

    def __str__(self) -> str:
        return self.state.value if self.state else "an unknown state"


@dataclass(frozen=True)
class LogImage:
    """One image; the log was read at some moment from ``began_ns`` to ``ended_ns``."""

    file: str
    began_ns: int
    ended_ns: int
    life: int
    """Which of the run's metadata logs it is of."""
    states: tuple[RecordedState, ...]
    transactions: tuple[tuple[int, str], ...]
    """Offset, and ``begin``, ``end`` or ``abort``."""
    metadata_until: Mapping[int, Mapping[str, int]]
    """By the offset of the ``end`` of a transaction with metadata, how much of it per type."""
    topics_held_back: tuple[tuple[int, int, str], ...]
    """Per transaction with topics: the offsets of the first topic and of what ended it, and ``end`` or ``abort``."""
    registered: Mapping[str, bool]
    """By the id of each broker that is registered, whether it is as one in migration mode."""
    has_transactions: bool
    """Whether the metadata version knows transactions."""
    begins_with_snapshot: bool
    inherited_until: int = -1
    """The last offset that came with a checkpoint; records up to there are no evidence of this run's own."""

    @property
    def migrating_brokers(self) -> int:
        """How many brokers are registered as ones in migration mode."""
        return sum(self.registered.values())

    @property
    def copied(self) -> RecordedState | None:
        """The record that ends the copy; None before it is in the log."""
        return next((each for each in self.states if each.state is ZkMigrationState.MIGRATION), None)

    @property
    def copied_from(self) -> int | None:
        """The offset from which on anything was copied, also by a copy that was given up; None if nothing was yet.

        Without transactions, and behind a snapshot, it is that of the record that ends the copy.
        """
        began = -1
        for offset, event in self.transactions:
            if event == "begin":
                began = offset
            elif event == "abort" or offset in self.metadata_until:
                return began
        return self.open_since if self.copied is None else self.copied.offset

    @property
    def hidden(self) -> tuple[int, int] | None:
        """Where topics of the copy, and of copies aborted before it, are in the log and must not be seen.

        The offsets of the first one and of the record that ends the copy; None if the log lacks them, or the copy
        was inherited.
        """
        ended = [until for _, until, event in self.topics_held_back if event == "end"]
        if not self.has_transactions or self.begins_with_snapshot or not ended or ended[0] <= self.inherited_until:
            return None
        return self.topics_held_back[0][0], ended[0]

    @property
    def open_since(self) -> int | None:
        """The offset of the transaction that has no end yet; None when there is none."""
        offset, event = self.transactions[-1] if self.transactions else (-1, "end")
        return offset if event == "begin" else None


def log_images(history: History) -> list[LogImage]:
    """The images of metadata logs that the history holds, in the order in which they were taken."""
    starts = life_starts_ns(history)
    images = [_log_image(history, image, event, starts) for image, event in _of_logs(history)]
    return sorted(images, key=lambda each: each.began_ns)


def has_log_images(history: History) -> bool:
    """Whether there is any; its content may still be unreadable."""
    return bool(_of_logs(history))


def _of_logs(history: History) -> list[tuple[MetadataImage, Recorded[SnapshotTaken]]]:
    # Of two images with one label the folder keeps the later one.
    taken = {event.what.label: event for event in history.of(SnapshotTaken)}
    of_logs = {label: image for label, image in history.images.items() if "migration_states" in image.of_log}
    return [(image, taken[label]) for label, image in of_logs.items() if label in taken]


def _log_image(history: History, image: MetadataImage, event: Recorded[SnapshotTaken], starts: list[int]) -> LogImage:
    own = image.of_log
    life = life_at(starts, began_ns(event))
    states = (
        # Runs recorded by an earlier release of ours do not say what came outside of transactions.
        RecordedState(
            each["offset"],
            each["number"],
            zk_migration_state(each["number"], history.header.kafka),
            each.get("outside", {}),
        )
        for each in own["migration_states"]
    )
    held_back = own.get("topics_held_back", ())  # nor where in transactions topics are
    return LogImage(
        file=event.what.file,
        began_ns=began_ns(event),
        ended_ns=event.at_ns,
        life=life,
        states=tuple(states),
        transactions=tuple((each["offset"], each["event"]) for each in own["transactions"]),
        # Older runs do not say what was in a transaction.
        metadata_until={each["offset"]: each["copied"] for each in own["transactions"] if each.get("copied")},
        topics_held_back=tuple((each["first"], each["until"], each["event"]) for each in held_back),
        registered={str(each): bool(value["is_migrating_zk_broker"]) for each, value in own["brokers"].items()},
        has_transactions=image.features.get("metadata.version", 0) >= _WITH_TRANSACTIONS,
        begins_with_snapshot=bool(own.get("begins_with_snapshot")),
        inherited_until=-1 if life else history.header.inherited_offset,
    )
