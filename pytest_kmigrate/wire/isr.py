"""Changes of a partition's ISR, asked of one chosen controller as the partition's leader would."""

import uuid
from dataclasses import dataclass

from kio.schema.alter_partition.v3 import request as alter
from kio.schema.alter_partition.v3.response import AlterPartitionResponse
from kio.schema.types import BrokerId
from kio.static.primitive import i8, i32, i64

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, ask, named


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
    partition = alter.PartitionData(
        partition_index=i32(change.partition),
        leader_epoch=i32(change.leader_epoch),
        new_isr_with_epochs=tuple(alter.BrokerState(broker_id=BrokerId(each)) for each in change.isr),
        leader_recovery_state=i8(0),
        partition_epoch=i32(change.partition_epoch),
    )
    request = alter.AlterPartitionRequest(
        broker_id=BrokerId(change.broker_id),
        broker_epoch=i64(change.broker_epoch),
        topics=(alter.TopicData(topic_id=change.topic_id, partitions=(partition,)),),
    )
    answer = ask(controller, request, AlterPartitionResponse, within_s)
    errors = [answer.error_code, *(each.error_code for topic in answer.topics for each in topic.partitions)]
    return next((named(each) for each in errors if named(each) != "NONE"), "NONE")
