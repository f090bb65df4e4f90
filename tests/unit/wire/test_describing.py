"""What one broker has of the cluster's metadata, read from an answer as it is on the wire."""

import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from kio.schema.api_versions.v3 import response as features
from kio.schema.describe_acls.v3 import response as acls
from kio.schema.describe_client_quotas.v1 import response as quotas
from kio.schema.describe_configs.v4 import response as configs
from kio.schema.describe_user_scram_credentials.v0 import response as scram
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12 import response as metadata
from kio.schema.types import BrokerId, TopicName
from kio.static.primitive import f64, i8, i16, i32, i32Timedelta, i64

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.admin import BROKER_RESOURCE
from pytest_kmigrate.wire.describing import (
    TOPIC_RESOURCE,
    ToldAcl,
    ToldTopic,
    acls_at,
    all_topics_at,
    configs_at,
    features_at,
    names_by_id_at,
    quotas_at,
    scram_at,
)
from tests.unit.workloads.played_broker import answer_on, played_broker, request_on

AT_ONCE = i32Timedelta.parse(timedelta())


@contextmanager
def _answering(*answers: Any) -> Iterator[str]:
    """A broker that answers one request on each connection, with these messages in their order.

    ApiVersions is answered with an old header, so that clients older than it can read it.
    """

    def playing(answer: Any, connection: socket.socket) -> None:
        request_on(connection)
        tagged = b"" if isinstance(answer, features.ApiVersionsResponse) else bytes(1)
        answer_on(connection, bytes([0, 0, 0, 1]) + tagged, answer)

    with played_broker(*(partial(playing, each) for each in answers)) as address:
        yield address


def _brokers(*numbers: int) -> tuple[BrokerId, ...]:
    return tuple(BrokerId(i32(number)) for number in numbers)


def test_all_topics_are_told_with_their_ids_and_partitions() -> None:
    """The id in the alphabet of Kafka, the ISR sorted since it is a set, the replicas as they are, no leader as -1."""
    partition = metadata.MetadataResponsePartition(
        error_code=ErrorCode.leader_not_available,
        partition_index=i32(3),
        leader_id=BrokerId(i32(-1)),
        leader_epoch=i32(7),
        replica_nodes=_brokers(2, 1),
        isr_nodes=_brokers(2, 1),
    )
    topic = metadata.MetadataResponseTopic(
        error_code=ErrorCode.none,
        name=TopicName("t"),
        topic_id=uuid.UUID("ffbf3f08-6f9d-4e7e-8b8e-0123456789ab"),
        partitions=(partition,),
    )
    with _answering(metadata.MetadataResponse(throttle_time=AT_ONCE, brokers=(), topics=(topic,))) as address:
        reported = all_topics_at(address)
    expected = {"replicas": [2, 1], "isr": [1, 2], "leader": -1, "leader_epoch": 7}
    assert reported == {"t": ToldTopic("_78_CG-dTn6LjgEjRWeJqw", {3: expected})}


def test_topics_are_asked_for_by_their_ids() -> None:
    """Kafka's error stands for a topic that has no such id, and one without an answer has no name either."""
    ids = {name: uuid.UUID(int=number) for number, name in enumerate("abc", 1)}
    by_name = [_topic(ErrorCode.none, name, each) for name, each in ids.items()]
    by_id = [_topic(ErrorCode.unknown_topic_id, None, ids["b"]), by_name[0]]
    answers = [
        metadata.MetadataResponse(throttle_time=AT_ONCE, brokers=(), topics=tuple(each)) for each in (by_name, by_id)
    ]
    with _answering(*answers) as address:
        assert names_by_id_at(address) == {"a": "a", "b": "UNKNOWN_TOPIC_ID", "c": "no answer"}


def _topic(code: ErrorCode, name: str | None, topic_id: uuid.UUID) -> metadata.MetadataResponseTopic:
    return metadata.MetadataResponseTopic(
        error_code=code, name=None if name is None else TopicName(name), topic_id=topic_id, partitions=()
    )


def _quotas(code: ErrorCode) -> quotas.DescribeClientQuotasResponse:
    entity = tuple(
        quotas.EntityData(entity_type=kind, entity_name=name) for kind, name in (("client-id", None), ("user", "a"))
    )
    values = (quotas.ValueData(key="request_percentage", value=f64(9000.5)),)
    entries = (quotas.EntryData(entity=entity, values=values),)
    return quotas.DescribeClientQuotasResponse(
        throttle_time=AT_ONCE, error_code=code, error_message=None, entries=entries
    )


def test_quotas_are_told_by_their_entities() -> None:
    """A default is None, as in a request that sets one."""
    with _answering(_quotas(ErrorCode.none)) as address:
        assert quotas_at(address) == [({"client-id": None, "user": "a"}, {"request_percentage": 9000.5})]


def test_a_broker_that_refuses_has_not_told_that_there_are_none() -> None:
    """Kafka's own error is in the message."""
    refused = _quotas(ErrorCode.cluster_authorization_failed)
    with _answering(refused) as address, pytest.raises(ClusterError, match="quotas; got CLUSTER_AUTHORIZATION_FAILED"):
        quotas_at(address)


def test_finalized_features_are_told_by_their_level() -> None:
    """What a broker only supports is not said; one in ZooKeeper mode has finalized none."""
    finalized = features.FinalizedFeatureKey(
        name="metadata.version", max_version_level=i16(21), min_version_level=i16(21)
    )
    supported = features.SupportedFeatureKey(name="x.version", min_version=i16(1), max_version=i16(2))

    def answer(**more: Any) -> features.ApiVersionsResponse:
        return features.ApiVersionsResponse(
            error_code=ErrorCode.none, api_keys=(), throttle_time=AT_ONCE, supported_features=(supported,), **more
        )

    reported = answer(finalized_features=(finalized,), finalized_features_epoch=i64(5))
    with _answering(reported) as address:
        assert features_at(address) == {"metadata.version": 21}
    with _answering(answer()) as address:
        assert features_at(address) == {}


def _config(name: str, value: str | None, source: int) -> configs.DescribeConfigsResourceResult:
    return configs.DescribeConfigsResourceResult(
        name=name,
        value=value,
        read_only=False,
        config_source=i8(source),
        is_sensitive=value is None,
        synonyms=(),
        documentation=None,
    )


def _resource(kind: int, name: str, code: ErrorCode = ErrorCode.none) -> configs.DescribeConfigsResult:
    """One config from each of Kafka's sources, called by its number."""
    reported = (
        () if code else tuple(_config(str(source), None if source == 2 else "x", source) for source in range(1, 6))
    )
    return configs.DescribeConfigsResult(
        error_code=code, error_message=None, resource_type=i8(kind), resource_name=name, configs=reported
    )


def _configs(*results: configs.DescribeConfigsResult) -> configs.DescribeConfigsResponse:
    return configs.DescribeConfigsResponse(throttle_time=AT_ONCE, results=results)


def test_only_what_was_set_on_a_resource_itself_is_told_of_it() -> None:
    """A broker reports what it inherits and its file has, too; a hidden value is None, a topic that went no error."""
    gone = _resource(TOPIC_RESOURCE, "gone", ErrorCode.unknown_topic_or_partition)
    topic, of_all, own = (TOPIC_RESOURCE, "t"), (BROKER_RESOURCE, ""), (BROKER_RESOURCE, "1")
    with _answering(_configs(_resource(*topic), gone, _resource(*of_all), _resource(*own))) as address:
        reported = configs_at(address, [topic, (TOPIC_RESOURCE, "gone"), of_all, own])
    assert reported == {topic: {"1": "x"}, of_all: {"3": "x"}, own: {"2": None}}


def test_configs_that_a_broker_refuses_are_not_told() -> None:
    """Another broker's, for example."""
    refused = _configs(_resource(BROKER_RESOURCE, "7", ErrorCode.invalid_request))
    with _answering(refused) as address, pytest.raises(ClusterError, match="configs of 7; got INVALID_REQUEST"):
        configs_at(address, [(BROKER_RESOURCE, "7")])


def _acls(code: ErrorCode) -> acls.DescribeAclsResponse:
    entry = acls.AclDescription(principal="User:a", host="*", operation=i8(3), permission_type=i8(2))
    resource = acls.DescribeAclsResource(
        resource_type=i8(2), resource_name="t", pattern_type=i8(4), acls=(entry, entry)
    )
    return acls.DescribeAclsResponse(
        throttle_time=AT_ONCE, error_code=code, error_message=None, resources=() if code else (resource,)
    )


def test_acls_are_told_entry_by_entry_and_not_without_authorizer() -> None:
    """A double one stays; whatever else keeps a broker from telling is an error."""
    with _answering(_acls(ErrorCode.none)) as address:
        assert acls_at(address) == [ToldAcl(2, 4, "t", "User:a", "*", 3, 2)] * 2
    with _answering(_acls(ErrorCode.security_disabled)) as address:
        assert acls_at(address) is None
    refused = _acls(ErrorCode.cluster_authorization_failed)
    with _answering(refused) as address, pytest.raises(ClusterError, match="ACLs; got CLUSTER_AUTHORIZATION_FAILED"):
        acls_at(address)


def _scram(code: ErrorCode) -> scram.DescribeUserScramCredentialsResponse:
    infos = tuple(scram.CredentialInfo(mechanism=i8(kind), iterations=i32(4096 * kind)) for kind in (1, 2))
    result = scram.DescribeUserScramCredentialsResult(
        user="a", error_code=ErrorCode.none, error_message=None, credential_infos=infos
    )
    return scram.DescribeUserScramCredentialsResponse(
        throttle_time=AT_ONCE, error_code=code, error_message=None, results=() if code else (result,)
    )


def test_scram_credentials_are_told_by_user_and_mechanism() -> None:
    """Iterations are all that Kafka reports of them."""
    with _answering(_scram(ErrorCode.none)) as address:
        assert scram_at(address) == {("a", 1): 4096, ("a", 2): 8192}


def test_brokers_whose_metadata_version_is_too_low_have_no_scram() -> None:
    """They refuse, and any other refusal is an error."""
    with _answering(_scram(ErrorCode.unsupported_version)) as address:
        assert scram_at(address) is None
    with _answering(_scram(ErrorCode.not_controller)) as address, pytest.raises(ClusterError, match="SCRAM"):
        scram_at(address)
