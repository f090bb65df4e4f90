"""The group as its coordinator describes it, asked for by a public DescribeGroups request."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from confluent_kafka import ConsumerGroupState, KafkaException
from confluent_kafka.admin import AdminClient

from pytest_kmigrate.documents.kip_125.reference.decision import TopicPartition
from pytest_kmigrate.documents.kip_125.reference.zookeeper import Post

_ANSWERED_WITHIN_S = 3.0


@dataclass(frozen=True)
class Description:
    """What the coordinator reports; while the group rebalances its members have no partitions."""

    is_stable: bool = False
    members: Mapping[str, frozenset[TopicPartition]] = field(default_factory=dict)
    """By client id."""


class Describer:
    """Asks by a worker, and answers in the connector's loop."""

    def __init__(self, bootstrap: str, group: str, post: Post) -> None:
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        self._group = group
        self._post = post
        self._worker = ThreadPoolExecutor(1)

    def describe(self, then: Callable[[Description], None]) -> None:
        """Ask; ``then`` gets a description that is not stable when there is no answer."""

        def work() -> None:
            try:
                found = self._admin.describe_consumer_groups([self._group])[self._group].result(_ANSWERED_WITHIN_S)
                held = {each.client_id: _partitions(each.assignment) for each in found.members}
                description = Description(found.state == ConsumerGroupState.STABLE, held)
            except (KafkaException, TimeoutError):
                description = Description()
            self._post(lambda: then(description))

        self._worker.submit(work)

    def close(self) -> None:
        """Ask no more."""
        self._worker.shutdown(wait=False, cancel_futures=True)


def _partitions(assignment: object) -> frozenset[TopicPartition]:
    listed = getattr(assignment, "topic_partitions", None) or ()
    return frozenset((each.topic, each.partition) for each in listed)
