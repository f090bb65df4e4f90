"""The lines that a member prints: JSON in the vocabulary of Kafka's VerifiableConsumer, flushed one by one."""

import json
import sys
import time
from collections.abc import Iterable

from pytest_kmigrate.documents.kip_125.reference.decision import TopicPartition

Fetched = tuple[str, int, int, str]
"""Topic, partition, offset and value of a record."""


class Lines:
    """Standard output of one member; for use by one thread."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def say(self, name: str, **more: object) -> None:
        """Print one line."""
        line = {"name": name, "timestamp": time.time_ns() // 1_000_000, "ns": time.monotonic_ns(), **more}
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    def assigned(self, partition: TopicPartition, position: int, by: str) -> None:
        """A partition is held, and its first record is yet to come."""
        topic, number = partition
        listed = [{"topic": topic, "partition": number, "position": position}]
        self.say("partitions_assigned", partitions=listed, source=by)

    def revoked(self, partitions: Iterable[TopicPartition], why: str) -> None:
        """The last record of these partitions was handed over."""
        self.say("partitions_revoked", partitions=plain(partitions), why=why)

    def warn_once(self, code: str, text: str) -> None:
        """Print a warning, unless one of its code was printed before."""
        if code not in self._warned:
            self._warned.add(code)
            self.say("warning", code=code, text=text)

    def consumed(self, records: list[Fetched]) -> None:
        """The application got these records."""
        if records:
            self.say("records_consumed", count=len(records), records=records)

    def committed(self, offsets: Iterable[tuple[TopicPartition, int]], store: str, error: str = "") -> None:
        """The answer to a commit came."""
        listed = [{"topic": topic, "partition": number, "offset": offset} for (topic, number), offset in offsets]
        if listed:
            self.say("offsets_committed", offsets=listed, success=not error, error=error, store=store)


def plain(partitions: Iterable[TopicPartition]) -> list[dict[str, object]]:
    """Partitions as the lines hold them."""
    return [{"topic": topic, "partition": number} for topic, number in sorted(partitions)]
