"""Tests of the embedded consumer without a broker: what it sends, and when."""

import queue
from collections.abc import Iterator

import pytest
from confluent_kafka import TopicPartition

from pytest_kmigrate.documents.kip_125.reference import embedded
from pytest_kmigrate.documents.kip_125.reference.embedded import EmbeddedConsumer
from pytest_kmigrate.documents.kip_125.reference.lines import Lines
from pytest_kmigrate.documents.kip_125.reference.settings import Settings


class _Consumer:
    """Stands in for a consumer whose coordinator takes everything."""

    def __init__(self, config: dict[str, object]) -> None:
        self.commits: list[list[TopicPartition]] = []

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> list[TopicPartition]:
        self.commits.append(offsets)
        return [TopicPartition(each.topic, each.partition, each.offset) for each in offsets]

    def assign(self, partitions: list[TopicPartition]) -> None: ...

    def pause(self, partitions: list[TopicPartition]) -> None: ...

    def unassign(self) -> None: ...

    def close(self) -> None: ...


class _Member:
    """An embedded consumer whose connector does at once what is posted to its loop."""

    def __init__(self) -> None:
        settings = Settings("127.0.0.1:2181", "migrating", "migrating_a", "a", {"orders": 1})
        self.consumer = EmbeddedConsumer(settings, Lines(), lambda work: work(), lambda _, __, over: over.set())

    @property
    def kafka(self) -> _Consumer:
        return self.consumer._consumer  # type: ignore[return-value]

    def committed(self) -> str:
        """Commit one offset, and return the error."""
        answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.consumer.commit({("orders", 0): 5}, answers.put)
        return answers.get(timeout=5)


@pytest.fixture
def member(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Member]:
    """One that has not joined yet."""
    monkeypatch.setattr(embedded, "Consumer", _Consumer)
    member = _Member()
    yield member
    member.consumer.close()


def test_nothing_is_committed_before_it_has_joined(member: _Member) -> None:
    """Sent without a member id, a commit is refused, and the consumer joins once more beside itself."""
    assert member.committed() == "_STATE"
    assert member.kafka.commits == []


def test_a_member_commits_until_it_is_lost(member: _Member) -> None:
    """It is one from its first assignment on, also while the group rebalances."""
    consumer, partitions = member.kafka, [TopicPartition("orders", 0)]
    member.consumer._assigned(consumer, partitions)  # type: ignore[arg-type]
    member.consumer._revoked(consumer, partitions)  # type: ignore[arg-type]
    assert member.committed() == ""
    member.consumer._lost(consumer, partitions)  # type: ignore[arg-type]
    assert member.committed() == "_STATE"
    assert len(consumer.commits) == 1
