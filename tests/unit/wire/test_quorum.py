"""The quorum as its leader describes it, on the wire."""

import pytest
from kio.schema.describe_quorum.v0 import response as described
from kio.schema.errors import ErrorCode
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i32, i64

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.quorum import DescribedQuorum, quorum_at
from tests.unit.wire.test_features import answering


def answer(error: ErrorCode) -> described.DescribeQuorumResponse:
    """What a controller answers; one that does not lead knows of no replica."""
    voters, observers = (
        tuple(described.ReplicaState(replica_id=BrokerId(i32(each)), log_end_offset=i64(at)) for each, at in group)
        for group in (((3000, 12), (3001, 10)), ((0, 11),))
    )
    partition = described.PartitionData(
        partition_index=i32(0),
        error_code=error,
        leader_id=BrokerId(i32(3000)),
        leader_epoch=i32(4),
        high_watermark=i64(10),
        current_voters=voters,
        observers=observers,
    )
    topic = described.TopicData(topic_name=TopicName("__cluster_metadata"), partitions=(partition,))
    return described.DescribeQuorumResponse(error_code=ErrorCode.none, topics=(topic,))


def test_a_leader_describes_how_far_each_replica_has_fetched() -> None:
    """By node, controllers apart from brokers."""
    requests: list[bytes] = []
    with answering(answer(ErrorCode.none), requests) as address:
        assert quorum_at(address) == DescribedQuorum(3000, 4, 10, {3000: 12, 3001: 10}, {0: 11})
    assert b"__cluster_metadata" in requests[0]


def test_another_controller_describes_nothing() -> None:
    """The error is that of the partition."""
    with (
        answering(answer(ErrorCode.not_leader_or_follower), []) as address,
        pytest.raises(ClusterError, match=r"the leader of the quorum to describe it; got NOT_LEADER_OR_FOLLOWER"),
    ):
        quorum_at(address)
