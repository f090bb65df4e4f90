"""What one broker has of the cluster's metadata, read from an answer as it is on the wire."""

import io
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from kio.schema.api_versions.v3 import response as features
from kio.schema.describe_client_quotas.v1 import response as quotas
from kio.schema.errors import ErrorCode
from kio.schema.metadata.v12 import response as metadata
from kio.schema.types import BrokerId, TopicName
from kio.serial import entity_writer
from kio.static.primitive import f64, i16, i32, i32Timedelta, i64

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.workloads.raw_describing import ToldTopic, all_topics_at, features_at, quotas_at
from tests.unit.workloads.played_broker import played_broker, request_on

AT_ONCE = i32Timedelta.parse(timedelta())


@contextmanager
def _answering(answer: Any, header: bytes = bytes([0, 0, 0, 1, 0])) -> Iterator[str]:
    """A broker that answers the first request with this message."""
    buffer = io.BytesIO()
    entity_writer(type(answer))(buffer, answer)
    frame = header + buffer.getvalue()

    def play(connection: socket.socket) -> None:
        request_on(connection)
        connection.sendall(len(frame).to_bytes(4, "big") + frame)

    with played_broker(play) as address:
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
        told = all_topics_at(address)
    expected = {"replicas": [2, 1], "isr": [1, 2], "leader": -1, "leader_epoch": 7}
    assert told == {"t": ToldTopic("_78_CG-dTn6LjgEjRWeJqw", {3: expected})}


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

    old_header = bytes([0, 0, 0, 1])  # of this one answer, so that clients older than it can read it
    told = answer(finalized_features=(finalized,), finalized_features_epoch=i64(5))
    with _answering(told, old_header) as address:
        assert features_at(address) == {"metadata.version": 21}
    with _answering(answer(), old_header) as address:
        assert features_at(address) == {}
