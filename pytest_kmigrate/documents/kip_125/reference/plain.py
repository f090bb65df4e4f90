"""A plain KafkaConsumer that prints the lines of the adapter contract: no ZooKeeper, no special setting."""

import queue
import time
from collections.abc import Mapping

from confluent_kafka import Consumer, KafkaException, TopicPartition

from pytest_kmigrate.documents.kip_125.reference import decision
from pytest_kmigrate.documents.kip_125.reference.java_keys import for_librdkafka
from pytest_kmigrate.documents.kip_125.reference.lines import Fetched, Lines

_MOST_RECORDS = 200
_WITHIN_S = 0.05


class PlainConsumer:
    """One member of the Kafka group, in one thread."""

    def __init__(self, given: Mapping[str, str], topics: Mapping[str, int], lines: Lines) -> None:
        self._lines = lines
        self._topics = sorted(topics)
        self._commit_every_s = int(given.get("auto.commit.interval.ms", "5000")) / 1000
        own = {"enable.auto.commit": False}
        known = {key: value for key, value in given.items() if key != "auto.commit.interval.ms"}
        self._consumer = Consumer({"auto.offset.reset": "earliest", **for_librdkafka(known), **own})
        self._positions: dict[decision.TopicPartition, int] = {}
        self._orders: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._is_reading, self._is_over = True, False

    def post(self, order: str) -> None:
        """Have an order obeyed; safe to call from any thread."""
        self._orders.put(order)

    def run(self) -> None:
        """Be a member until it is ordered to stop."""
        self._consumer.subscribe(self._topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost)
        next_commit = time.monotonic() + self._commit_every_s
        while not self._is_over:
            while not self._orders.empty():
                self._obey(self._orders.get())
            self._lines.consumed(self._records())
            if time.monotonic() >= next_commit:
                next_commit = time.monotonic() + self._commit_every_s
                self._commit()
        self._consumer.close()

    def _obey(self, order: str) -> None:
        if order == "stop":
            self._is_over = True
        elif order == "pause-reading":
            self._consumer.pause([TopicPartition(*each) for each in self._positions])
        elif order == "resume-reading":
            self._consumer.resume([TopicPartition(*each) for each in self._positions])

    def _records(self) -> list[Fetched]:
        found: list[Fetched] = []
        for message in self._consumer.consume(_MOST_RECORDS, _WITHIN_S):
            partition = (str(message.topic()), int(message.partition()))
            if not message.error() and partition in self._positions:
                self._positions[partition] = message.offset() + 1
                found.append((*partition, message.offset(), (message.value() or b"").decode("utf-8", "replace")))
        return found

    def _commit(self) -> None:
        offsets = [TopicPartition(*each, position) for each, position in self._positions.items() if position >= 0]
        if not offsets:
            return
        error = ""
        try:
            self._consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as refused:
            error = refused.args[0].name()
        self._lines.committed([((each.topic, each.partition), each.offset) for each in offsets], "kafka", error)

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        for each in consumer.committed(partitions, 5.0) if partitions else []:
            partition = (each.topic, each.partition)
            self._positions[partition] = each.offset
            self._lines.assigned(partition, max(each.offset, -1), "kafka")
        consumer.assign([TopicPartition(*each, position) for each, position in self._positions.items()])

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._commit()
        self._lost(consumer, partitions)

    def _lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        self._positions.clear()
        self._lines.revoked(((each.topic, each.partition) for each in partitions), "not assigned by kafka")
        consumer.unassign()
