"""What the clients' process counts and where its rows go."""

import time
from dataclasses import asdict, dataclass, field
from typing import Protocol

from pytest_kmigrate.model.operations import OperationOutcome

Partition = tuple[str, int]
"""Topic and number."""

Row = tuple[int, int, int, str, int, int, int, int, int, int, str, bool, str]
"""One operation, its values in the order of ``model.operations.COLUMNS``."""


TransactionalRow = tuple[int, int, int, str, int, int, int, int, int, int, str, bool, str, int, int]
"""One operation of a transaction: the values of ``model.operations.OPTIONAL_COLUMNS`` follow."""


class Rows(Protocol):
    """Where rows go."""

    def append(self, row: Row) -> None:
        """Take one row."""
        ...


class TransactionalRows(Protocol):
    """Where rows of transactions go."""

    def append(self, row: TransactionalRow) -> None:
        """Take one row."""
        ...


@dataclass
class Counts:
    """How far the clients are; sends are counted in ``acked``, ``failed`` and ``indefinite``."""

    acked: int = 0
    failed: int = 0
    indefinite: int = 0
    skipped: int = 0
    """Sends not even tried because too many were unanswered."""
    consumed: int = 0
    committed: int = 0
    ends: dict[Partition, int] = field(default_factory=dict)
    """Where each partition ends at least: behind the last record that was acknowledged there."""

    def sent(self, outcome: OperationOutcome, topic: str, partition: int, offset: int) -> None:
        """Count one send that ended."""
        if outcome is OperationOutcome.OK:
            self.acked += 1
            self.ends[topic, partition] = max(self.ends.get((topic, partition), 0), offset + 1)
        elif outcome is OperationOutcome.FAILED:
            self.failed += 1
        else:
            self.indefinite += 1

    def plain(self) -> dict[str, int]:
        """As a line of JSON holds it, without the ends of partitions."""
        return {name: count for name, count in asdict(self).items() if isinstance(count, int)}


@dataclass(frozen=True)
class RunClock:
    """Nanoseconds since the run began, by the monotonic clock that all processes of a machine share."""

    start_ns: int

    def now_ns(self) -> int:
        """Nanoseconds since the run began."""
        return time.monotonic_ns() - self.start_ns
