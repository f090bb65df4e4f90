"""What a member hands over: records of its partitions in order, none passed over, none without a lease."""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition

from pytest_kmigrate.documents.kip_125 import reference
from pytest_kmigrate.documents.kip_125.reference import fetching
from pytest_kmigrate.documents.kip_125.reference.fetching import Fetcher


@dataclass
class PlayedMessage:
    """A record of the topic."""

    at: int
    number: int = 0
    failure: str = ""

    def topic(self) -> str:
        """Its topic."""
        return "orders"

    def partition(self) -> int:
        """Its partition."""
        return self.number

    def offset(self) -> int:
        """Its offset."""
        return self.at

    def value(self) -> bytes:
        """Its value."""
        return b"v%d" % self.at

    def error(self) -> str:
        """Whether it is an error instead."""
        return self.failure


@dataclass
class PlayedConsumer:
    """Returns the batches it is given, and notes where it was sent back to."""

    batches: list[list[PlayedMessage]] = field(default_factory=list)
    sought: list[tuple[int, int]] = field(default_factory=list)

    def consume(self, _most: int, _within_s: float) -> list[PlayedMessage]:
        """The next batch."""
        return self.batches.pop(0) if self.batches else []

    def seek(self, to: TopicPartition) -> None:
        """Noted."""
        self.sought.append((to.partition, to.offset))

    def incremental_assign(self, _: Sequence[TopicPartition]) -> None:
        """Nothing to do."""

    incremental_unassign = incremental_assign


@pytest.fixture
def consumer(monkeypatch: pytest.MonkeyPatch) -> PlayedConsumer:
    """What the fetcher fetches with."""
    played = PlayedConsumer()
    monkeypatch.setattr(fetching, "Consumer", lambda _config: played)
    return played


@pytest.fixture
def fetcher(consumer: PlayedConsumer) -> Fetcher:
    """A fetcher of partition 0, from offset 5 on."""
    made = Fetcher({}, "earliest", lambda _event: None)
    made.add(("orders", 0), 5)
    return made


def offsets(fetcher: Fetcher, may_deliver: Callable[[], bool] = lambda: True) -> list[int]:
    """The offsets handed over next."""
    return [offset for _, _, offset, _ in fetcher.records(may_deliver)]


def test_what_was_fetched_while_the_lease_was_out_is_handed_over_later(
    consumer: PlayedConsumer, fetcher: Fetcher
) -> None:
    """Dropping it and reading on would pass it over; nothing more is taken meanwhile."""
    consumer.batches = [[PlayedMessage(5), PlayedMessage(6)], [PlayedMessage(7)]]
    answers = iter([True, False])  # it ran out while the records were fetched
    assert offsets(fetcher, lambda: next(answers)) == []
    assert offsets(fetcher, lambda: False) == []
    assert len(consumer.batches) == 1
    assert offsets(fetcher) == [5, 6]
    assert offsets(fetcher) == [7]
    assert fetcher.position(("orders", 0)) == 8


def test_a_gap_sends_the_consumer_back_once(consumer: PlayedConsumer, fetcher: Fetcher) -> None:
    """What it brings then is the next record there is; of the batch with the gap nothing is handed over."""
    consumer.batches = [[PlayedMessage(8), PlayedMessage(9)], [PlayedMessage(5), PlayedMessage(8)]]
    assert offsets(fetcher) == []
    assert consumer.sought == [(0, 5)]
    assert offsets(fetcher) == [5]
    consumer.batches = [[PlayedMessage(8)]]  # there is nothing between 5 and 8
    assert offsets(fetcher) == [8]
    assert consumer.sought == [(0, 5), (0, 6)]


def test_records_of_others_are_not_handed_over(consumer: PlayedConsumer, fetcher: Fetcher) -> None:
    """Those below the position, errors, and those of partitions that were given up with records in hand."""
    consumer.batches = [[PlayedMessage(4), PlayedMessage(5, failure="gone"), PlayedMessage(5, number=1)]]
    assert offsets(fetcher) == []
    consumer.batches = [[PlayedMessage(5)]]
    answers = iter([True, False])
    assert offsets(fetcher, lambda: next(answers)) == []
    assert fetcher.remove(("orders", 0)) == 5
    fetcher.add(("orders", 0), 5)
    assert offsets(fetcher) == []


def test_the_reference_uses_public_parts_of_its_clients_only() -> None:
    """Any client of the document could be built so."""
    for file in Path(str(reference.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("kazoo", "confluent_kafka")):
                assert not any(each.startswith("_") or each == "cimpl" for each in str(node.module).split("."))
                assert not any(alias.name.startswith("_") for alias in node.names)
