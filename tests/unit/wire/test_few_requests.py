"""Requests that few tests send: what is asked, and whose error comes back."""

import uuid
from typing import Any

import pytest
from kio.schema.allocate_producer_ids.v0.response import AllocateProducerIdsResponse
from kio.schema.alter_configs.v2 import response as configs
from kio.schema.alter_partition.v3.response import AlterPartitionResponse
from kio.schema.create_topics.v5 import response as creations
from kio.schema.elect_leaders.v2 import response as elections
from kio.schema.envelope.v0.response import EnvelopeResponse
from kio.schema.errors import ErrorCode
from kio.schema.produce.v7 import response as produced
from kio.schema.types import ProducerId, TopicName
from kio.schema.update_features.v1 import response as updated
from kio.static.primitive import i8, i32, i32Timedelta, i64

from pytest_kmigrate.wire import broker_requests, features, producing, rare_admin
from pytest_kmigrate.wire.broker_requests import (
    IsrChange,
    allocate_producer_ids_at,
    alter_partition_at,
    forwarded_alter_partition_at,
)
from pytest_kmigrate.wire.producing import produce_at
from pytest_kmigrate.wire.rare_admin import create_placed_topic_at, elect_leader_at, replace_configs_at
from pytest_kmigrate.wire.request import as_timeout

AT_ONCE: i32Timedelta = as_timeout(0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The requests so far; each is answered with the next of the answers put here before."""
    requests: list[Any] = []
    answers: list[Any] = []

    def ask(_peer: object, request: object, answer_type: type, _within_s: float) -> Any:
        requests.append(request)
        answer = answers.pop(0)
        assert isinstance(answer, answer_type)
        return answer

    for module in (broker_requests, features, producing, rare_admin):
        monkeypatch.setattr(module, "ask", ask)
    requests.append(answers)
    return requests


def alone(topic: uuid.UUID) -> IsrChange:
    """Broker 2 asks to be the only one in the ISR."""
    return IsrChange(2, -1, topic, 0, leader_epoch=0, partition_epoch=0, isr=(2,))


def test_brokers_ask_for_an_isr_and_for_ids(asked: list[Any]) -> None:
    """In the name of a broker; the error is that of the whole request."""
    topic = uuid.uuid4()
    asked[0] += [
        AlterPartitionResponse(throttle_time=AT_ONCE, error_code=ErrorCode.not_controller, topics=()),
        AllocateProducerIdsResponse(
            throttle_time=AT_ONCE,
            error_code=ErrorCode.stale_broker_epoch,
            producer_id_start=ProducerId(i64(0)),
            producer_id_len=i32(0),
        ),
    ]
    assert alter_partition_at("controller:1", alone(topic)) == "NOT_CONTROLLER"
    assert allocate_producer_ids_at("controller:1", 2) == "STALE_BROKER_EPOCH"
    _, altered, allocated = asked
    assert (altered.broker_id, altered.topics[0].topic_id, allocated.broker_id) == (2, topic, 2)
    assert [each.broker_id for each in altered.topics[0].partitions[0].new_isr_with_epochs] == [2]


def test_a_change_of_an_isr_may_come_in_an_envelope(asked: list[Any]) -> None:
    """The whole request with its header is in it, and the principal as Kafka writes it; the envelope's error counts."""
    topic = uuid.uuid4()
    asked[0].append(EnvelopeResponse(error_code=ErrorCode.invalid_request))
    assert forwarded_alter_partition_at("controller:1", alone(topic)) == "INVALID_REQUEST"
    envelope = asked[1]
    assert envelope.request_data[:4] == bytes([0, 56, 0, 3])
    assert topic.bytes in envelope.request_data
    assert envelope.request_principal == b"\0\0" + b"\x05User" + b"\x0aANONYMOUS" + b"\0\0"


def test_an_election_answers_for_its_partition(asked: list[Any]) -> None:
    """Where the request is refused as a whole there is none, and its own error counts."""
    part = elections.PartitionResult(partition_id=i32(0), error_code=ErrorCode.election_not_needed, error_message=None)
    topic = elections.ReplicaElectionResult(topic=TopicName("orders"), partition_result=(part,))
    for error, results in ((ErrorCode.none, (topic,)), (ErrorCode.not_controller, ())):
        asked[0].append(
            elections.ElectLeadersResponse(throttle_time=AT_ONCE, error_code=error, replica_election_results=results)
        )
    assert [elect_leader_at("broker:1", "orders", 0) for _ in range(2)] == ["ELECTION_NOT_NEEDED", "NOT_CONTROLLER"]
    assert asked[1].topic_partitions[0].topic == "orders"


def test_configs_are_replaced_as_a_whole(asked: list[Any]) -> None:
    """By the request that is not incremental."""
    answered = configs.AlterConfigsResourceResponse(
        error_code=ErrorCode.invalid_config, error_message=None, resource_type=i8(2), resource_name="orders"
    )
    asked[0].append(configs.AlterConfigsResponse(throttle_time=AT_ONCE, responses=(answered,)))
    assert replace_configs_at("broker:1", 2, "orders", {"flush.messages": "9"}) == "INVALID_CONFIG"
    (resource,) = asked[1].resources
    assert [(each.name, each.value) for each in resource.configs] == [("flush.messages", "9")]


def test_a_feature_answers_for_itself(asked: list[Any]) -> None:
    """Or the request as a whole."""
    result = updated.UpdatableFeatureResult(
        feature="metadata.version", error_code=ErrorCode.invalid_update_version, error_message=None
    )
    for error, results in ((ErrorCode.none, (result,)), (ErrorCode.not_controller, ())):
        asked[0].append(
            updated.UpdateFeaturesResponse(throttle_time=AT_ONCE, error_code=error, error_message=None, results=results)
        )
    levels = [features.update_features_at("broker:1", {"metadata.version": 21}).first_error for _ in range(2)]
    assert levels == ["INVALID_UPDATE_VERSION", "NOT_CONTROLLER"]
    assert asked[1].feature_updates[0].max_version_level == 21


def test_a_topic_is_placed_on_brokers(asked: list[Any]) -> None:
    """Every partition has a replica on each of them, the first of which leads."""
    topic = creations.CreatableTopicResult(
        name=TopicName("a"), error_code=ErrorCode.none, error_message=None, topic_config_error_code=None, configs=None
    )
    asked[0].append(creations.CreateTopicsResponse(throttle_time=AT_ONCE, topics=(topic,)))
    assert create_placed_topic_at("any", "a", 2, (10, 11)) == "NONE"
    (wanted,) = asked[1].topics
    assert (wanted.num_partitions, wanted.replication_factor) == (-1, -1)
    assert [(each.partition_index, each.broker_ids) for each in wanted.assignments] == [(0, (10, 11)), (1, (10, 11))]


def test_records_are_sent_to_one_partition(asked: list[Any]) -> None:
    """In one batch, to be acknowledged by every in-sync replica; the error is that of the partition."""
    part = produced.PartitionProduceResponse(
        index=i32(2), error_code=ErrorCode.message_too_large, base_offset=i64(-1), log_append_time=None
    )
    topic = produced.TopicProduceResponse(name=TopicName("limited"), partition_responses=(part,))
    asked[0].append(produced.ProduceResponse(responses=(topic,), throttle_time=AT_ONCE))
    assert produce_at("broker:9092", "limited", [b"a", b"b"], 2) == "MESSAGE_TOO_LARGE"
    (sent,) = asked[-1].topic_data[0].partition_data
    assert (sent.index, asked[-1].acks) == (2, -1)
    assert sent.records
