"""What one chosen broker has of the whole cluster's metadata, by raw requests.

An admin client asks whichever broker it takes, so it cannot see that another one is behind. Errors are those of
``wire.ask``, and ClusterError if a broker refuses to answer.
"""

import base64
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kio.schema.describe_acls.v3.request import DescribeAclsRequest
from kio.schema.describe_acls.v3.response import DescribeAclsResponse
from kio.schema.describe_client_quotas.v1.request import DescribeClientQuotasRequest
from kio.schema.describe_client_quotas.v1.response import DescribeClientQuotasResponse
from kio.schema.describe_configs.v4.request import DescribeConfigsRequest, DescribeConfigsResource
from kio.schema.describe_configs.v4.response import DescribeConfigsResponse
from kio.schema.describe_user_scram_credentials.v0.request import DescribeUserScramCredentialsRequest
from kio.schema.describe_user_scram_credentials.v0.response import DescribeUserScramCredentialsResponse
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12.request import MetadataRequest, MetadataRequestTopic
from kio.schema.metadata.v12.response import MetadataResponse, MetadataResponseTopic
from kio.static.primitive import i8

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.admin import BROKER_RESOURCE
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, api_versions, ask, named

TOPIC_RESOURCE = 2
Resource = tuple[int, str]
"""A kind of resource by its number, and a name; without a name all brokers together."""

_ANY = i8(1)
_OF_TOPIC, _OF_BROKER, _OF_ALL_BROKERS = 1, 2, 3
"""Where a config comes from, by Kafka's ConfigSource: it was set on the topic, on the broker, or for all of them."""
_DEFAULT = 5
"""As above: the release's own default."""

_OF_ALL_TOPICS = MetadataRequest(
    topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=False
)
_GONE = frozenset({"UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID"})

Quota = tuple[dict[str, str | None], dict[str, float]]
"""An entity, {"user": "a", "client-id": None} say, where None means the default; and its quotas by their keys."""


@dataclass(frozen=True)
class ToldTopic:
    """One topic in a broker's metadata cache; the id as Kafka writes it."""

    topic_id: str
    partitions: Mapping[int, dict[str, object]]
    """By number: ``replicas``, ``isr`` (sorted), ``leader`` (-1 for none), ``leader_epoch``."""


@dataclass(frozen=True)
class ToldAcl:
    """One entry of an access control list, its kinds by the numbers that requests use."""

    resource_type: int
    pattern_type: int
    resource: str
    principal: str
    host: str
    operation: int
    permission: int


@dataclass(frozen=True)
class ReportedCluster:
    """All of a broker's metadata cache; the controller is -1 if it knows of none, and topics are by name."""

    controller: int
    brokers: frozenset[int]
    topics: Mapping[str, ToldTopic]


def all_topics_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> Mapping[str, ToldTopic]:
    """Every topic in this broker's metadata cache, by its name."""
    return all_metadata_at(peer, within_s=within_s).topics


def names_by_id_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> dict[str, str]:
    """What this broker answers for each topic in its metadata cache when it is asked by the topic's id, by its name.

    The name, or Kafka's error, such as UNKNOWN_TOPIC_ID.
    """
    found = ask(peer, _OF_ALL_TOPICS, MetadataResponse, within_s).topics
    asked = tuple(MetadataRequestTopic(topic_id=topic.topic_id, name=None) for topic in found)
    request = MetadataRequest(topics=asked, allow_auto_topic_creation=False, include_topic_authorized_operations=False)
    answers = {topic.topic_id: topic for topic in ask(peer, request, MetadataResponse, within_s).topics}
    answered = ((str(topic.name), answers.get(topic.topic_id)) for topic in found)
    return {name: str(by_id.name) if by_id and not by_id.error_code else _error_of(by_id) for name, by_id in answered}


def _error_of(answered: MetadataResponseTopic | None) -> str:
    return named(answered.error_code) if answered else "no answer"


def all_metadata_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> ReportedCluster:
    """What this broker reports to clients of the whole cluster."""
    answer = ask(peer, _OF_ALL_TOPICS, MetadataResponse, within_s)
    brokers = frozenset(int(broker.node_id) for broker in answer.brokers)
    return ReportedCluster(int(answer.controller_id), brokers, _topics_in(answer))


def _topics_in(answer: MetadataResponse) -> dict[str, ToldTopic]:
    return {
        str(topic.name): ToldTopic(
            _written(topic.topic_id),
            {
                int(each.partition_index): {
                    "replicas": [int(broker) for broker in each.replica_nodes],
                    "isr": sorted(int(broker) for broker in each.isr_nodes),
                    "leader": int(each.leader_id),
                    "leader_epoch": int(each.leader_epoch),
                }
                for each in topic.partitions
            },
        )
        for topic in answer.topics
    }


def quotas_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> list[Quota]:
    """The quotas of every entity as this broker has them."""
    request = DescribeClientQuotasRequest(components=(), strict=False)
    answer = ask(peer, request, DescribeClientQuotasResponse, within_s)
    _must_be_answered(answer.error_code, "quotas")
    return [
        (
            {part.entity_type: part.entity_name for part in entry.entity},
            {value.key: float(value.value) for value in entry.values},
        )
        for entry in answer.entries or ()
    ]


def configs_at(
    peer: Peer | str, resources: Sequence[Resource], *, within_s: float = ANSWER_WITHIN_S
) -> dict[Resource, dict[str, str | None]]:
    """The dynamic configs set on these very resources; None where Kafka hides the value.

    A topic that this broker does not know is left out. Each broker reports only its own.
    """
    asked = tuple(
        DescribeConfigsResource(resource_type=i8(kind), resource_name=name, configuration_keys=None)
        for kind, name in resources
    )
    answer = ask(peer, DescribeConfigsRequest(resources=asked), DescribeConfigsResponse, within_s)
    found: dict[Resource, dict[str, str | None]] = {}
    for reported in answer.results:
        if named(reported.error_code) in _GONE:
            continue
        resource = (int(reported.resource_type), reported.resource_name)
        _must_be_answered(reported.error_code, f"configs of {reported.resource_name or 'all brokers'}")
        source = _set_by(resource)
        found[resource] = {config.name: config.value for config in reported.configs if config.config_source == source}
    return found


def broker_config_at(peer: Peer | str, broker_id: int, *, within_s: float = ANSWER_WITHIN_S) -> dict[str, str | None]:
    """Every config that a broker reports of itself, defaults included; None where Kafka hides the value."""
    asked = DescribeConfigsResource(
        resource_type=i8(BROKER_RESOURCE), resource_name=str(broker_id), configuration_keys=None
    )
    answer = ask(peer, DescribeConfigsRequest(resources=(asked,)), DescribeConfigsResponse, within_s)
    (of_broker,) = answer.results
    _must_be_answered(of_broker.error_code, f"configs of broker {broker_id}")
    return {config.name: config.value for config in of_broker.configs}


def default_config_at(peer: Peer | str, broker_id: int, name: str, *, within_s: float = ANSWER_WITHIN_S) -> str | None:
    """What a broker's own release takes for a config that is not set; None where that release has no such config."""
    asked = DescribeConfigsResource(
        resource_type=i8(BROKER_RESOURCE), resource_name=str(broker_id), configuration_keys=(name,)
    )
    request = DescribeConfigsRequest(resources=(asked,), include_synonyms=True)
    (of_broker,) = ask(peer, request, DescribeConfigsResponse, within_s).results
    _must_be_answered(of_broker.error_code, f"configs of broker {broker_id}")
    synonyms = (each for config in of_broker.configs for each in config.synonyms)
    return next((each.value for each in synonyms if each.source == _DEFAULT), None)


def _set_by(resource: Resource) -> int:
    kind, name = resource
    if kind != BROKER_RESOURCE:
        return _OF_TOPIC
    return _OF_BROKER if name else _OF_ALL_BROKERS


def acls_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> list[ToldAcl] | None:
    """Every entry that this broker's authorizer has; None when it has no authorizer."""
    request = DescribeAclsRequest(
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    answer = ask(peer, request, DescribeAclsResponse, within_s)
    if answer.error_code is ErrorCode.security_disabled:
        return None
    _must_be_answered(answer.error_code, "ACLs")
    return [
        ToldAcl(
            int(resource.resource_type),
            int(resource.pattern_type),
            resource.resource_name,
            acl.principal,
            acl.host,
            int(acl.operation),
            int(acl.permission_type),
        )
        for resource in answer.resources
        for acl in resource.acls
    ]


def scram_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> dict[tuple[str, int], int] | None:
    """Iterations by user and mechanism's number; None in KRaft mode before metadata.version 3.5-IV2."""
    answer = ask(peer, DescribeUserScramCredentialsRequest(users=None), DescribeUserScramCredentialsResponse, within_s)
    if answer.error_code is ErrorCode.unsupported_version:
        return None
    _must_be_answered(answer.error_code, "SCRAM credentials")
    return {
        (result.user, int(credential.mechanism)): int(credential.iterations)
        for result in answer.results
        for credential in result.credential_infos
    }


def features_at(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> dict[str, int]:
    """The finalized features, metadata.version among them; a broker in ZooKeeper mode knows of none."""
    answer = api_versions(peer, within_s=within_s)
    _must_be_answered(answer.error_code, "features")
    return {each.name: int(each.max_version_level) for each in answer.finalized_features}


def _must_be_answered(code: ErrorCode, what: str) -> None:
    if code is not ErrorCode.none:
        raise ClusterError(f"expected a broker to report its {what}; got {named(code)}")


def _written(topic_id: uuid.UUID | None) -> str:
    raw = bytes(16) if topic_id is None else topic_id.bytes
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
