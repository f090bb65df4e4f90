"""A message as a client hands it over: not every release of confluent-kafka lets one be made by hand."""

from confluent_kafka import KafkaError


class PlayedMessage:
    """A record that was read or sent, or an error in its place."""

    def __init__(
        self,
        partition: int,
        offset: int,
        *,
        topic: str = "orders",
        value: bytes | None = None,
        error: KafkaError | None = None,
    ) -> None:
        self._topic = topic
        self._partition, self._offset = partition, offset
        self._value, self._error = value, error

    def topic(self) -> str:
        """Of which topic."""
        return self._topic

    def partition(self) -> int:
        """Which of the topic's."""
        return self._partition

    def offset(self) -> int:
        """Where in the partition."""
        return self._offset

    def value(self) -> bytes | None:
        """The record's content."""
        return self._value

    def error(self) -> KafkaError | None:
        """What there is in place of a record."""
        return self._error
