"""How far the replicas of the metadata log have fetched it, asked of one controller byte for byte."""

from collections.abc import Mapping
from dataclasses import dataclass

from kio.schema.describe_quorum.v0 import request as quorum_request
from kio.schema.describe_quorum.v0.response import DescribeQuorumResponse
from kio.schema.types import TopicName
from kio.static.primitive import i32

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, ask, named

_LOG = TopicName("__cluster_metadata")


@dataclass(frozen=True)
class DescribedQuorum:
    """The quorum as its leader reports it."""

    leader: int
    epoch: int
    high_watermark: int
    """The offset up to which the log is committed, exclusive."""
    voters: Mapping[int, int]
    """By controller, the offset from which it fetches next; of the leader its end of the log."""
    observers: Mapping[int, int]
    """By broker, the offset from which it fetches next."""


def quorum_at(controller: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> DescribedQuorum:
    """The quorum as this controller reports it; ClusterError when it does not lead, besides the errors of ``ask``."""
    asked = quorum_request.TopicData(
        topic_name=_LOG, partitions=(quorum_request.PartitionData(partition_index=i32(0)),)
    )
    answer = ask(controller, quorum_request.DescribeQuorumRequest(topics=(asked,)), DescribeQuorumResponse, within_s)
    partitions = [each for topic in answer.topics for each in topic.partitions]
    errors = [named(code) for code in (answer.error_code, *(each.error_code for each in partitions)) if code]
    if errors or not partitions:
        raise ClusterError(f"expected the leader of the quorum to describe it; got {', '.join(errors) or 'no answer'}")
    (found,) = partitions
    voters, observers = (
        {int(each.replica_id): int(each.log_end_offset) for each in group}
        for group in (found.current_voters, found.observers)
    )
    return DescribedQuorum(int(found.leader_id), int(found.leader_epoch), int(found.high_watermark), voters, observers)
