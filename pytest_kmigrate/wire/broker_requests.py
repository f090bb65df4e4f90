"""Requests that brokers send to controllers, to change an ISR, for producer ids or for a client, byte for byte."""

import io
import uuid
from dataclasses import dataclass

from kio.schema.allocate_producer_ids.v0.request import AllocateProducerIdsRequest
from kio.schema.allocate_producer_ids.v0.response import AllocateProducerIdsResponse
from kio.schema.alter_partition.v3 import request as alter_request
from kio.schema.alter_partition.v3.response import AlterPartitionResponse
from kio.schema.default_principal_data.v0.data import DefaultPrincipalData
from kio.schema.envelope.v0.request import EnvelopeRequest
from kio.schema.envelope.v0.response import EnvelopeResponse
from kio.schema.types import BrokerId
from kio.serial import entity_writer
from kio.static.primitive import i32, i64

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, ask, frame_of, named

_LOOPBACK = bytes([127, 0, 0, 1])


@dataclass(frozen=True)
class IsrChange:
    """Who asks for which ISR of which partition, and what they take its epochs for."""

    broker_id: int
    broker_epoch: int
    topic_id: uuid.UUID
    partition: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


def alter_partition_at(controller: Peer | str, change: IsrChange, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Kafka's name of the error, of the request or else of the partition, or ``NONE``; errors are those of ``ask``."""
    answer = ask(controller, _alter_partition(change), AlterPartitionResponse, within_s)
    errors = [answer.error_code, *(each.error_code for topic in answer.topics for each in topic.partitions)]
    return next((named(each) for each in errors if named(each) != "NONE"), "NONE")


def forwarded_alter_partition_at(
    controller: Peer | str, change: IsrChange, *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """The same in an Envelope, as brokers forward what clients ask for: the error of the envelope."""
    principal = io.BytesIO(bytes(2))  # the version of what follows
    principal.seek(2)
    anonymous = DefaultPrincipalData(type_="User", name="ANONYMOUS", token_authenticated=False)
    entity_writer(DefaultPrincipalData)(principal, anonymous)
    request = EnvelopeRequest(
        request_data=frame_of(_alter_partition(change)),
        request_principal=principal.getvalue(),
        client_host_address=_LOOPBACK,
    )
    return named(ask(controller, request, EnvelopeResponse, within_s).error_code)


def _alter_partition(change: IsrChange) -> alter_request.AlterPartitionRequest:
    partition = alter_request.PartitionData(
        partition_index=i32(change.partition),
        leader_epoch=i32(change.leader_epoch),
        new_isr_with_epochs=tuple(alter_request.BrokerState(broker_id=BrokerId(each)) for each in change.isr),
        partition_epoch=i32(change.partition_epoch),
    )
    topic = alter_request.TopicData(topic_id=change.topic_id, partitions=(partition,))
    broker, epoch = BrokerId(change.broker_id), i64(change.broker_epoch)
    return alter_request.AlterPartitionRequest(broker_id=broker, broker_epoch=epoch, topics=(topic,))


def allocate_producer_ids_at(controller: Peer | str, broker_id: int, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Ask, as this broker, for a block of producer ids: the error."""
    request = AllocateProducerIdsRequest(broker_id=BrokerId(broker_id))
    return named(ask(controller, request, AllocateProducerIdsResponse, within_s).error_code)
