"""Administration that few tests ask for, by raw requests to a chosen broker: elections, whole configs, placements."""

from collections.abc import Mapping, Sequence

from kio.schema.alter_configs.v2 import request as configs_request
from kio.schema.alter_configs.v2.response import AlterConfigsResponse
from kio.schema.create_topics.v5 import request as create_request
from kio.schema.create_topics.v5.response import CreateTopicsResponse
from kio.schema.elect_leaders.v2 import request as election_request
from kio.schema.elect_leaders.v2.response import ElectLeadersResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import i8, i16, i32

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, as_timeout, ask, named

_PREFERRED = 0


def elect_leader_at(peer: Peer | str, topic: str, partition: int, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Let the preferred replica lead a partition: the error; ELECTION_NOT_NEEDED if it does so already."""
    wanted = election_request.TopicPartitions(topic=TopicName(topic), partitions=(i32(partition),))
    request = election_request.ElectLeadersRequest(
        election_type=i8(_PREFERRED), topic_partitions=(wanted,), timeout=as_timeout(within_s)
    )
    answer = ask(peer, request, ElectLeadersResponse, within_s)
    results = [part for each in answer.replica_election_results for part in each.partition_result]
    return named(results[0].error_code if results else answer.error_code)


def replace_configs_at(
    peer: Peer | str, resource_type: int, name: str, wanted: Mapping[str, str], *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """Let a resource have these dynamic configs and no others, by the request that is not incremental: the error."""
    configs = tuple(configs_request.AlterableConfig(name=key, value=value) for key, value in wanted.items())
    resource = configs_request.AlterConfigsResource(
        resource_type=i8(resource_type), resource_name=name, configs=configs
    )
    request = configs_request.AlterConfigsRequest(resources=(resource,), validate_only=False)
    return named(ask(peer, request, AlterConfigsResponse, within_s).responses[0].error_code)


def create_placed_topic_at(
    peer: Peer | str, topic: str, partitions: int, brokers: Sequence[int], *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """Create a topic that has a replica of each partition on each of these brokers: the error."""
    placed = tuple(
        create_request.CreatableReplicaAssignment(
            partition_index=i32(number), broker_ids=tuple(BrokerId(i32(each)) for each in brokers)
        )
        for number in range(partitions)
    )
    wanted = create_request.CreatableTopic(
        name=TopicName(topic), num_partitions=i32(-1), replication_factor=i16(-1), assignments=placed, configs=()
    )
    request = create_request.CreateTopicsRequest(topics=(wanted,), timeout=as_timeout(within_s), validate_only=False)
    (created,) = ask(peer, request, CreateTopicsResponse, within_s).topics
    return named(created.error_code)
