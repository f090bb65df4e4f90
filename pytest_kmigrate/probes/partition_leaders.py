"""The leader of each partition, as brokers report it to an admin client."""

import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ClusterMetadata

from pytest_kmigrate.model.errors import ClusterError

_WITHIN_S = 9.0
_ATTEMPT_S = 2.0
"""How long one question may wait: brokers that are dead may be asked first, and asking again finds another."""
# librdkafka's own codes have an underscore although they are public
_TRANSIENT = (KafkaError._TIMED_OUT, KafkaError._TRANSPORT, KafkaError.REQUEST_TIMED_OUT)  # noqa: SLF001


def partition_leaders(connection: Mapping[str, str]) -> dict[tuple[str, int], int]:
    """The leader of every partition as brokers report it, -1 for none; ``connection`` is librdkafka's properties.

    ClusterError when no broker answers in time.
    """
    # log_level 2: librdkafka would print every refused connection of a broker that was killed on purpose
    metadata = _metadata({"log_level": 2, **connection})
    return {
        (name, partition.id): partition.leader
        for name, topic in metadata.topics.items()
        for partition in topic.partitions.values()
    }


def _metadata(properties: Mapping[str, str | int]) -> ClusterMetadata:
    deadline = time.monotonic() + _WITHIN_S
    while True:
        # A new client each time: a broker that has just started may make one forget all brokers.
        admin = AdminClient(dict(properties))
        try:
            return admin.list_topics(timeout=_ATTEMPT_S)
        except KafkaException as error:
            if error.args[0].code() not in _TRANSIENT or time.monotonic() >= deadline:
                raise ClusterError(
                    f"expected the brokers to report the list of topics, got {error.args[0].str()}; "
                    f"check the bootstrap list, the security settings and that a broker is up"
                ) from error
