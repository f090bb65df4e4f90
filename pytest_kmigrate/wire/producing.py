"""Records sent to one chosen broker by a raw request: what its answer shows are the configs that it acts by."""

from collections.abc import Sequence

from kio.schema.produce.v7 import request as produce_request
from kio.schema.produce.v7.response import ProduceResponse
from kio.schema.types import TopicName
from kio.static.primitive import Records, i16, i32

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.record_batches import batch_of
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, as_timeout, ask, named

_ALL_IN_SYNC = -1


def produce_at(
    peer: Peer | str, topic: str, values: Sequence[bytes], partition: int = 0, *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """The broker's answer to one batch of records: Kafka's name of its error, or ``NONE``; errors are those of ``ask``.

    ``NOT_LEADER_OR_FOLLOWER`` of a broker that does not lead the partition.
    """
    data = produce_request.PartitionProduceData(index=i32(partition), records=Records(batch_of(values)))
    request = produce_request.ProduceRequest(
        acks=i16(_ALL_IN_SYNC),
        timeout=as_timeout(within_s),
        topic_data=(produce_request.TopicProduceData(name=TopicName(topic), partition_data=(data,)),),
    )
    (answer,) = ask(peer, request, ProduceResponse, within_s).responses[0].partition_responses
    return named(answer.error_code)
