"""What a member decides from what it sees: pure functions, computed anew at every change."""

import enum
from collections.abc import Collection, Mapping, Sequence

TopicPartition = tuple[str, int]
KAFKA_MODE = b"kafka"


class Source(enum.StrEnum):
    """The system whose assignment is followed."""

    ZOOKEEPER = "zookeeper"
    KAFKA = "kafka"


def source(ids: Collection[str], migrating: Collection[str], mode: bytes | None) -> Source:
    """Kafka decides only if the mode is exactly ``kafka`` and every registered member can follow it.

    A member that is registered in ``ids`` alone is of an older build, or has migration disabled; it knows no mode.
    """
    return Source.KAFKA if mode == KAFKA_MODE and set(ids) <= set(migrating) else Source.ZOOKEEPER


def threads_of(consumer: str, streams: int) -> list[str]:
    """The thread ids of a consumer, as ZooKeeper's owner nodes hold them."""
    return [f"{consumer}-{number}" for number in range(streams)]


def range_assignment(
    topic: str, partitions: int, subscriptions: Mapping[str, Mapping[str, int]]
) -> dict[TopicPartition, str]:
    """The old consumer's ``range``: each thread, sorted as text, gets a stretch of the topic's partitions.

    ``subscriptions``: by consumer, its number of streams by topic.
    """
    threads = sorted(
        thread for consumer, streams in subscriptions.items() for thread in threads_of(consumer, streams.get(topic, 0))
    )
    if not threads:
        return {}
    share, extra = divmod(partitions, len(threads))
    found: dict[TopicPartition, str] = {}
    for at, thread in enumerate(threads):
        first = share * at + min(at, extra)
        found.update({(topic, each): thread for each in range(first, first + share + (at < extra))})
    return found


def by_zookeeper(
    partitions: Mapping[str, int], subscriptions: Mapping[str, Mapping[str, int]]
) -> dict[TopicPartition, str]:
    """The thread of every partition by ``range``; ``partitions``: by topic, how many it has."""
    found: dict[TopicPartition, str] = {}
    for topic, count in partitions.items():
        found |= range_assignment(topic, count, subscriptions)
    return found


def by_kafka(
    held: Mapping[str, Collection[TopicPartition]], subscriptions: Mapping[str, Mapping[str, int]]
) -> dict[TopicPartition, str]:
    """The thread of every partition that Kafka's coordinator assigned; ``held``: by client id.

    The client id of a connector is the consumer id that it registered with. A member that is not registered is a plain
    KafkaConsumer: it counts as one thread that reads everything.
    """
    found: dict[TopicPartition, str] = {}
    for client, those in held.items():
        everything = {topic: 1 for topic, _ in those}
        found |= thread_split(those, subscriptions.get(client, everything), client)
    return found


def thread_split(
    held: Collection[TopicPartition], streams: Mapping[str, int], consumer: str
) -> dict[TopicPartition, str]:
    """Split a member's own partitions over its threads: round robin over their relative numbers.

    Topics and threads are sorted, one pass goes around all of them, and a thread without the topic is left out.
    """
    most = max(streams.values(), default=0)
    threads: Sequence[str] = sorted(threads_of(consumer, most))
    found: dict[TopicPartition, str] = {}
    at = 0
    for topic, partition in sorted(held):
        subscribed = set(threads_of(consumer, streams.get(topic, 0)))
        if not subscribed:
            continue
        while threads[at % len(threads)] not in subscribed:
            at += 1
        found[topic, partition] = threads[at % len(threads)]
        at += 1
    return found
