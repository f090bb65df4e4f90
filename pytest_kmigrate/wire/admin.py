"""Administration by raw requests to a chosen broker; each call answers with Kafka's own error names, "NONE" for none.

A broker is named by its ``host:port``, or by a Peer where the listener is protected. Real bugs depend on which broker
is asked, and an admin client goes to whatever it takes for the controller. Errors are those of ``wire.ask``:
ClusterError when nothing was sent, AwaitTimeoutError when the answer is missing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kio.schema.alter_client_quotas.v1 import request as quotas_request
from kio.schema.alter_client_quotas.v1.response import AlterClientQuotasResponse
from kio.schema.alter_partition_reassignments.v0 import request as reassignments_request
from kio.schema.alter_partition_reassignments.v0.response import AlterPartitionReassignmentsResponse
from kio.schema.create_topics.v5 import request as create_request
from kio.schema.create_topics.v5.response import CreateTopicsResponse
from kio.schema.delete_acls.v1.request import DeleteAclsFilter, DeleteAclsRequest
from kio.schema.delete_acls.v1.response import DeleteAclsResponse
from kio.schema.delete_topics.v4.request import DeleteTopicsRequest
from kio.schema.delete_topics.v4.response import DeleteTopicsResponse
from kio.schema.describe_log_dirs.v3.request import DescribeLogDirsRequest
from kio.schema.describe_log_dirs.v3.response import DescribeLogDirsResponse
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1 import request as configs_request
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.schema.init_producer_id.v2.request import InitProducerIdRequest
from kio.schema.init_producer_id.v2.response import InitProducerIdResponse
from kio.schema.list_partition_reassignments.v0.request import ListPartitionReassignmentsRequest
from kio.schema.list_partition_reassignments.v0.response import ListPartitionReassignmentsResponse
from kio.schema.metadata.v9.request import MetadataRequest, MetadataRequestTopic
from kio.schema.metadata.v9.response import MetadataResponse
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import f64, i8, i16, i32

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.waiting import PATIENCE_S
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, as_timeout, ask, named

TopicPartition = tuple[str, int]

TOPIC_RESOURCE = 2
BROKER_RESOURCE = 4
CLIENT_METRICS_RESOURCE = 16
SET = 0
DELETE = 1


@dataclass(frozen=True)
class DescribedPartition:
    """One partition as one broker reports it to clients; ``leader`` -1 means none."""

    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True)
class DescribedTopic:
    """One topic as one broker reports it to clients; ``error`` UNKNOWN_TOPIC_OR_PARTITION when it knows none."""

    error: str
    partitions: Mapping[int, DescribedPartition]


@dataclass(frozen=True)
class Reassignment:
    """A reassignment under way."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]


@dataclass(frozen=True)
class AclToRemove:
    """One ACL, with the numbers that Kafka's protocol has for its parts."""

    resource_type: int
    name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission: int


_OF_NO_TOPIC = MetadataRequest(
    topics=(),
    allow_auto_topic_creation=False,
    include_cluster_authorized_operations=False,
    include_topic_authorized_operations=False,
)


def create_topics_at(
    peer: Peer | str,
    names: Sequence[str],
    *,
    partitions: int,
    replication: int,
    within_s: float = 10,
    patience_s: float = PATIENCE_S,
) -> dict[str, str]:
    """Create topics by a request to this broker: topic -> error.

    While the broker does not know a topic's leaders it answers REQUEST_TIMED_OUT at the end of ``within_s``, although
    the topic is created. AwaitTimeoutError when it has not answered ``patience_s`` after that.
    """
    topics = tuple(
        create_request.CreatableTopic(
            name=TopicName(name),
            num_partitions=i32(partitions),
            replication_factor=i16(replication),
            assignments=(),
            configs=(),
        )
        for name in names
    )
    request = create_request.CreateTopicsRequest(topics=topics, timeout=as_timeout(within_s), validate_only=False)
    answer = ask(peer, request, CreateTopicsResponse, within_s + patience_s)
    return {str(topic.name): named(topic.error_code) for topic in answer.topics}


def delete_topics_at(peer: Peer | str, names: Sequence[str], *, within_s: float = 10) -> dict[str, str]:
    """Delete topics by a request to this broker: topic -> error.

    While a replica is offline the deletion stays pending, and the broker answers REQUEST_TIMED_OUT at the end of
    ``within_s`` although it took the deletion in.
    """
    request = DeleteTopicsRequest(topic_names=tuple(map(TopicName, names)), timeout=as_timeout(within_s))
    answer = ask(peer, request, DeleteTopicsResponse, within_s + PATIENCE_S)
    return {str(topic.name): named(topic.error_code) for topic in answer.responses}


def alter_broker_config_at(
    peer: Peer | str, broker_id: int, wanted: Mapping[str, str | None], *, within_s: float = ANSWER_WITHIN_S
) -> str:
    """Set (None: unset) dynamic configs of one broker at this broker: the error."""
    return alter_config_at(peer, BROKER_RESOURCE, str(broker_id), wanted, within_s=within_s)


def alter_config_at(
    peer: Peer | str,
    resource_type: int,
    name: str,
    wanted: Mapping[str, str | None],
    *,
    within_s: float = ANSWER_WITHIN_S,
) -> str:
    """Set (None: unset) configs of one resource by an incremental request to this broker: the error."""
    configs = tuple(
        configs_request.AlterableConfig(name=key, config_operation=i8(DELETE if value is None else SET), value=value)
        for key, value in wanted.items()
    )
    resource = configs_request.AlterConfigsResource(
        resource_type=i8(resource_type), resource_name=name, configs=configs
    )
    request = configs_request.IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
    answer = ask(peer, request, IncrementalAlterConfigsResponse, within_s)
    return named(answer.responses[0].error_code)


def describe_topic_at(peer: Peer | str, topic: str, *, within_s: float = ANSWER_WITHIN_S) -> DescribedTopic:
    """What this broker's metadata cache says of a topic."""
    request = MetadataRequest(
        topics=(MetadataRequestTopic(name=TopicName(topic)),),
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )
    (described,) = ask(peer, request, MetadataResponse, within_s).topics
    partitions = {
        int(each.partition_index): DescribedPartition(
            leader=int(each.leader_id),
            leader_epoch=int(each.leader_epoch),
            replicas=_ids(each.replica_nodes),
            isr=_ids(each.isr_nodes),
        )
        for each in described.partitions
    }
    return DescribedTopic(named(described.error_code), dict(sorted(partitions.items())))


def cluster_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> tuple[int, frozenset[int]]:
    """The controller's id (-1: none known) and the ids of the brokers in this broker's metadata cache."""
    controller, brokers = brokers_at(peer, within_s=within_s)
    return controller, frozenset(brokers)


def brokers_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> tuple[int, dict[int, str]]:
    """The same with the host and port of each broker, for clients of the listener that is asked."""
    answer = ask(peer, _OF_NO_TOPIC, MetadataResponse, within_s)
    brokers = {int(broker.node_id): f"{broker.host}:{broker.port}" for broker in answer.brokers}
    return int(answer.controller_id), brokers


def cluster_id_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """The cluster's id as this broker reports it."""
    return str(ask(peer, _OF_NO_TOPIC, MetadataResponse, within_s).cluster_id)


def replicas_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> frozenset[TopicPartition]:
    """The partitions of which this broker has a replica on its disks; ClusterError if it does not report all."""
    answer = ask(peer, DescribeLogDirsRequest(topics=None), DescribeLogDirsResponse, within_s)
    errors = [code for code in (answer.error_code, *(each.error_code for each in answer.results)) if code]
    if errors:
        raise ClusterError(f"expected a broker to report what is on its disks; got {named(errors[0])}")
    return frozenset(
        (str(topic.name), int(partition.partition_index))
        for disk in answer.results
        for topic in disk.topics
        for partition in topic.partitions
    )


def reassign(
    peer: Peer | str, wanted: Mapping[TopicPartition, Sequence[int] | None], *, within_s: float = ANSWER_WITHIN_S
) -> dict[TopicPartition, str]:
    """Begin (None: cancel) reassignments to these replicas: partition -> error; the request's own error for all."""
    by_topic: dict[str, list[reassignments_request.ReassignablePartition]] = {}
    for (topic, number), replicas in wanted.items():
        chosen = None if replicas is None else tuple(BrokerId(i32(broker)) for broker in replicas)
        partition = reassignments_request.ReassignablePartition(partition_index=i32(number), replicas=chosen)
        by_topic.setdefault(topic, []).append(partition)
    topics = tuple(
        reassignments_request.ReassignableTopic(name=TopicName(topic), partitions=tuple(partitions))
        for topic, partitions in by_topic.items()
    )
    request = reassignments_request.AlterPartitionReassignmentsRequest(timeout=as_timeout(within_s), topics=topics)
    answer = ask(peer, request, AlterPartitionReassignmentsResponse, within_s)
    if answer.error_code is not ErrorCode.none:
        return dict.fromkeys(wanted, named(answer.error_code))
    return {
        (str(topic.name), int(each.partition_index)): named(each.error_code)
        for topic in answer.responses
        for each in topic.partitions
    }


def list_reassignments(
    peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S
) -> tuple[str, dict[TopicPartition, Reassignment]]:
    """The error, and the reassignments under way by what this broker's controller says."""
    request = ListPartitionReassignmentsRequest(timeout=as_timeout(within_s), topics=None)
    answer = ask(peer, request, ListPartitionReassignmentsResponse, within_s)
    under_way = {
        (str(topic.name), int(each.partition_index)): Reassignment(
            _ids(each.replicas), _ids(each.adding_replicas), _ids(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }
    return named(answer.error_code), under_way


def alter_quota_at(
    peer: Peer | str,
    entity: Mapping[str, str | None],
    wanted: Mapping[str, float | None],
    *,
    within_s: float = ANSWER_WITHIN_S,
) -> str:
    """Set (None: unset) quotas of an entity at this broker: the error.

    An entity is {"user": "a", "client-id": None}, for example, where None means the default.
    """
    parts = tuple(quotas_request.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items())
    operations = tuple(
        quotas_request.OpData(key=key, value=f64(float(value or 0)), remove=value is None)
        for key, value in wanted.items()
    )
    entry = quotas_request.EntryData(entity=parts, ops=operations)
    request = quotas_request.AlterClientQuotasRequest(entries=(entry,), validate_only=False)
    answer = ask(peer, request, AlterClientQuotasResponse, within_s)
    return named(answer.entries[0].error_code)


def remove_acl_at(peer: Peer | str, acl: AclToRemove, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """Remove one ACL at this broker: the error of the request, or of the ACL itself.

    librdkafka's Python client answers with the ACLs that matched, and not with their errors.
    """
    of_one = DeleteAclsFilter(
        resource_type_filter=i8(acl.resource_type),
        resource_name_filter=acl.name,
        pattern_type_filter=i8(acl.pattern_type),
        principal_filter=acl.principal,
        host_filter=acl.host,
        operation=i8(acl.operation),
        permission_type=i8(acl.permission),
    )
    (result,) = ask(peer, DeleteAclsRequest(filters=(of_one,)), DeleteAclsResponse, within_s).filter_results
    codes = (result.error_code, *(each.error_code for each in result.matching_acls))
    return named(next((code for code in codes if code is not ErrorCode.none), ErrorCode.none))


def producer_id_from(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> tuple[str, int]:
    """The error, and a new producer id from this broker: it takes a block of ids when it has none left."""
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout=as_timeout(60))
    answer = ask(peer, request, InitProducerIdResponse, within_s)
    return named(answer.error_code), int(answer.producer_id)


def _ids(brokers: Sequence[BrokerId]) -> tuple[int, ...]:
    return tuple(int(broker) for broker in brokers)
