"""Requests that brokers send to controllers, to change an ISR, for producer ids or for a client, byte for byte."""

import io
import uuid

from kio.schema.allocate_producer_ids.v0.request import AllocateProducerIdsRequest
from kio.schema.allocate_producer_ids.v0.response import AllocateProducerIdsResponse
from kio.schema.alter_partition.v3 import request as alter_request
from kio.schema.alter_partition.v3.response import AlterPartitionResponse
from kio.schema.default_principal_data.v0.data import DefaultPrincipalData
from kio.schema.envelope.v0.request import EnvelopeRequest
from kio.schema.envelope.v0.response import EnvelopeResponse
from kio.schema.types import BrokerId
from kio.serial import entity_writer
from kio.static.primitive import i32

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, ask, frame_of, named

_LOOPBACK = bytes([127, 0, 0, 1])


def alter_partition_at(
    controller: Peer | str, broker_id: int, topic_id: uuid.UUID, *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """Ask, as this broker, to be the only one in the ISR of partition 0: the error of the whole request."""
    request = _alter_partition(broker_id, topic_id)
    return named(ask(controller, request, AlterPartitionResponse, within_s).error_code)


def forwarded_alter_partition_at(
    controller: Peer | str, broker_id: int, topic_id: uuid.UUID, *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """The same in an Envelope, as brokers forward what clients ask for: the error of the envelope."""
    principal = io.BytesIO(bytes(2))  # the version of what follows
    principal.seek(2)
    anonymous = DefaultPrincipalData(type_="User", name="ANONYMOUS", token_authenticated=False)
    entity_writer(DefaultPrincipalData)(principal, anonymous)
    request = EnvelopeRequest(
        request_data=frame_of(_alter_partition(broker_id, topic_id)),
        request_principal=principal.getvalue(),
        client_host_address=_LOOPBACK,
    )
    return named(ask(controller, request, EnvelopeResponse, within_s).error_code)


def _alter_partition(broker_id: int, topic_id: uuid.UUID) -> alter_request.AlterPartitionRequest:
    alone = alter_request.BrokerState(broker_id=BrokerId(broker_id))
    partition = alter_request.PartitionData(
        partition_index=i32(0), leader_epoch=i32(0), new_isr_with_epochs=(alone,), partition_epoch=i32(0)
    )
    topic = alter_request.TopicData(topic_id=topic_id, partitions=(partition,))
    return alter_request.AlterPartitionRequest(broker_id=BrokerId(broker_id), topics=(topic,))


def allocate_producer_ids_at(controller: Peer | str, broker_id: int, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Ask, as this broker, for a block of producer ids: the error."""
    request = AllocateProducerIdsRequest(broker_id=BrokerId(broker_id))
    return named(ask(controller, request, AllocateProducerIdsResponse, within_s).error_code)
