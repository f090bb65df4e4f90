"""Fetches records of chosen partitions and hands them over in order, from the position on, without a gap."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Message, TopicPartition

from pytest_kmigrate.documents.kip_125.reference import decision
from pytest_kmigrate.documents.kip_125.reference.lines import Fetched
from pytest_kmigrate.documents.kip_125.reference.zookeeper import Post

_MOST_RECORDS = 200
_WITHIN_S = 0.02
_ENDS_WITHIN_S = 3.0


class Fetcher:
    """A KafkaConsumer that is assigned partitions by hand: it joins no group and commits nothing."""

    def __init__(self, connection: Mapping[str, str], reset: str, post: Post) -> None:
        own = {"group.id": "not-a-member", "enable.auto.commit": False, "auto.offset.reset": reset}
        self._consumer = Consumer({**connection, **own, "fetch.wait.max.ms": 100})
        self._post = post
        self._is_from_the_beginning = reset == "earliest"
        self._positions: dict[decision.TopicPartition, int] = {}
        self._sought: dict[decision.TopicPartition, int] = {}
        self._in_hand: list[Message] = []
        self._lookups = ThreadPoolExecutor(1)

    def add(self, partition: decision.TopicPartition, position: int) -> None:
        """Fetch a partition from a position on."""
        self._positions[partition] = position
        self._consumer.incremental_assign([TopicPartition(*partition, position)])

    def remove(self, partition: decision.TopicPartition) -> int:
        """Fetch it no more, forget what is in hand of it, and return the position: the next offset to hand over."""
        self._consumer.incremental_unassign([TopicPartition(*partition)])
        self._in_hand = [each for each in self._in_hand if (each.topic(), each.partition()) != partition]
        self._sought.pop(partition, None)
        return self._positions.pop(partition)

    def position(self, partition: decision.TopicPartition) -> int:
        """The next offset to hand over."""
        return self._positions[partition]

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to fetch."""
        return not self._positions

    def records(self, may_deliver: Callable[[], bool]) -> list[Fetched]:
        """The next records, all of which may be handed over now.

        While they must not be handed over nothing is taken from the consumer, and what is in hand is kept: dropping it
        and reading on would pass records over when the session survives.
        """
        if not may_deliver():
            return []
        if not self._in_hand:
            self._in_hand = self._consumer.consume(_MOST_RECORDS, _WITHIN_S)
        # The process may have stood still since it looked.
        if not may_deliver():
            return []
        taken, self._in_hand = self._in_hand, []
        sent_back = set[decision.TopicPartition]()
        return [record for message in taken if (record := self._next(message, sent_back))]

    def _next(self, message: Message, sent_back: set[decision.TopicPartition]) -> Fetched | None:
        """A record if it is the next one of its partition; otherwise the consumer is sent back to the position once.

        What it then brings is the next record there is: offsets without a record exist.
        """
        if message.error():
            return None
        partition = (str(message.topic()), int(message.partition()))
        offset, position = int(message.offset()), self._positions.get(partition)
        if position is None or offset < position or partition in sent_back:
            return None
        if offset > position and self._sought.get(partition) != position:
            self._sought[partition] = position
            sent_back.add(partition)
            self._consumer.seek(TopicPartition(*partition, position))
            return None
        self._positions[partition] = offset + 1
        return (*partition, offset, (message.value() or b"").decode("utf-8", "replace"))

    def first(self, partition: decision.TopicPartition, then: Callable[[int], None]) -> None:
        """Look up where a partition without a stored offset begins."""

        def work() -> None:
            try:
                low, high = self._consumer.get_watermark_offsets(TopicPartition(*partition), timeout=_ENDS_WITHIN_S)
                offset = low if self._is_from_the_beginning else high
            except KafkaException:
                offset = OFFSET_BEGINNING
            self._post(lambda: then(max(0, offset)))

        self._lookups.submit(work)

    def close(self) -> None:
        """End it."""
        self._lookups.shutdown(wait=False, cancel_futures=True)
        self._consumer.close()
