"""A change of an ISR as it is on the wire."""

import uuid

from kio.schema.alter_partition.v3 import response as altered
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId
from kio.static.primitive import i8, i32

from pytest_kmigrate.wire.broker_requests import IsrChange, alter_partition_at
from tests.unit.wire.test_describing import AT_ONCE
from tests.unit.wire.test_features import answering

TOPIC = uuid.UUID(int=7)
CHANGE = IsrChange(1, 40, TOPIC, 0, leader_epoch=5, partition_epoch=9, isr=(1, 2))


def answer(of_all: ErrorCode, of_partition: ErrorCode) -> altered.AlterPartitionResponse:
    """What a controller says of one partition."""
    partition = altered.PartitionData(
        partition_index=i32(0),
        error_code=of_partition,
        leader_id=BrokerId(1),
        leader_epoch=i32(5),
        isr=(),
        leader_recovery_state=i8(0),
        partition_epoch=i32(9),
    )
    topics = (altered.TopicData(topic_id=TOPIC, partitions=(partition,)),)
    return altered.AlterPartitionResponse(throttle_time=AT_ONCE, error_code=of_all, topics=topics)


def test_the_error_is_of_the_request_or_of_its_partition() -> None:
    """A broker's stale epoch refuses the whole; a leader's the partition alone."""
    cases = {
        "STALE_BROKER_EPOCH": answer(ErrorCode.stale_broker_epoch, ErrorCode.none),
        "FENCED_LEADER_EPOCH": answer(ErrorCode.none, ErrorCode.fenced_leader_epoch),
        "NONE": answer(ErrorCode.none, ErrorCode.none),
    }
    requests: list[bytes] = []
    for expected, given in cases.items():
        with answering(given, requests) as address:
            assert alter_partition_at(address, CHANGE) == expected
    assert TOPIC.bytes in requests[0]
