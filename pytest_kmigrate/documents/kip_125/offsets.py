"""Both stores of the group's offsets, as an operator reaches them."""

from collections.abc import Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from pytest_kmigrate.documents.kip_125.kinds import NAME, OFFSETS, TOPIC
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.protocols import Scene

_ANSWER_WITHIN_S = 30


class GroupOffsets:
    """Offsets of the topic's partitions: those in ZooKeeper, those that Kafka has committed, and the log's ends."""

    def __init__(self, scene: Scene, partitions: int) -> None:
        self._znodes = scene.znodes
        self._admin = AdminClient(dict(scene.cluster.client_connection()))
        self._topic = [TopicPartition(TOPIC, number) for number in range(partitions)]
        self._highest: dict[int, int] = {}

    def stored(self) -> dict[int, int]:
        """By partition, the offset in ZooKeeper; without those that have none."""
        found = {each.partition: self._znodes.get(f"{OFFSETS}/{TOPIC}/{each.partition}") for each in self._topic}
        return {partition: int(data) for partition, data in found.items() if data}

    def store(self, offsets: Mapping[int, int]) -> None:
        """Write offsets to ZooKeeper."""
        for partition, offset in offsets.items():
            self._znodes.set(f"{OFFSETS}/{TOPIC}/{partition}", str(offset).encode())

    def committed(self) -> dict[int, int]:
        """By partition, the offset that Kafka has for the group; without those that have none."""
        asked = [ConsumerGroupTopicPartitions(NAME, self._topic)]
        found = _result(self._admin.list_consumer_group_offsets(asked)[NAME])
        return {each.partition: each.offset for each in found.topic_partitions if each.offset >= 0}

    def commit(self, offsets: Mapping[int, int]) -> str:
        """Commit to Kafka as an old consumer does, which is no member of the group; the error, or an empty text."""
        given = [TopicPartition(TOPIC, partition, offset) for partition, offset in offsets.items()]
        try:
            future = self._admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(NAME, given)])[NAME]
            answers = future.result(_ANSWER_WITHIN_S).topic_partitions
        except KafkaException as refused:
            return str(refused.args[0].name())
        return next((str(each.error.name()) for each in answers if each.error), "")

    def ends(self) -> dict[int, int]:
        """By partition, the offset that the next record gets."""
        asked = self._admin.list_offsets({each: OffsetSpec.latest() for each in self._topic})
        return {each.partition: _result(future).offset for each, future in asked.items()}

    def behind(self, expected: Mapping[int, int]) -> list[int]:
        """Partitions whose offset in Kafka is lower than this one."""
        now = self.committed()
        return sorted(each for each, offset in expected.items() if now.get(each, 0) < offset)

    def stored_behind(self, expected: Mapping[int, int]) -> list[int]:
        """Partitions whose offset in ZooKeeper is lower than this one."""
        now = self.stored()
        return sorted(each for each, offset in expected.items() if now.get(each, 0) < offset)

    def gone_back(self) -> dict[int, tuple[int, int]]:
        """By partition, the highest offset that Kafka had when it was asked here before, and a lower one now."""
        now = self.committed()
        back = {each: (self._highest[each], now.get(each, -1)) for each in self._highest}
        self._highest |= {each: max(offset, self._highest.get(each, 0)) for each, offset in now.items()}
        return {each: (before, after) for each, (before, after) in back.items() if after < before}


def _result(future: Any) -> Any:
    try:
        return future.result(_ANSWER_WITHIN_S)
    except KafkaException as error:
        raise ClusterError(f"expected the broker to report offsets; got {error}") from error
