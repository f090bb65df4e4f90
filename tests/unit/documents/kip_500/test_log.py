"""What is read out of a metadata log, and out of counts of requests."""

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_500.log import (
    families_in,
    fenced_as_registered,
    given_after_stopping,
    given_while_fenced,
    isrs_of,
    made_differently,
    missing_families,
    pushed_to_brokers,
    without_endpoints,
)


def record(kind: str, offset: int = 1, **data: object) -> Mapping[str, Any]:
    """A record of a metadata log."""
    return {"offset": offset, "type": kind, "version": 0, "data": data}


def test_a_family_needs_all_of_its_records() -> None:
    """A topic without partitions is none; what a cluster has no room for is not missed."""
    found = families_in([record("TOPIC_RECORD"), record("CONFIG_RECORD"), record("CLIENT_QUOTA_RECORD")])
    assert found == {"topic-configs", "quotas"}
    missing = missing_families(found, {"acls", "delegation-tokens", "scram"})
    assert missing == ["topics", "producer-ids"]


def test_only_requests_of_zookeeper_mode_push() -> None:
    """Brokers in KRaft mode receive those of clients and of each other."""
    received = {"broker-0": {("Fetch", 17): 3}, "broker-1": {("UpdateMetadata", 8): 1}}
    assert pushed_to_brokers(received) == ["broker-1: UpdateMetadata 8"]


def test_a_broker_is_given_nothing_while_it_stops() -> None:
    """From its announcement to its next registration; what another one gets is no matter."""
    stops = record("BROKER_REGISTRATION_CHANGE_RECORD", 5, brokerId=2, inControlledShutdown=1)
    led = record("PARTITION_CHANGE_RECORD", 6, partitionId=0, topicId="t", leader=2)
    in_sync = record("PARTITION_CHANGE_RECORD", 7, partitionId=1, topicId="t", isr=[1, 2])
    other = record("PARTITION_CHANGE_RECORD", 8, partitionId=2, topicId="t", leader=1, isr=[1])
    back = record("REGISTER_BROKER_RECORD", 9, brokerId=2)
    assert given_after_stopping([led, stops, other, back, in_sync], 2) == []
    assert given_after_stopping([stops, led, in_sync], 2) == [
        "offset 6: partition 0 of t",
        "offset 7: partition 1 of t",
    ]


def test_a_fenced_broker_is_given_nothing() -> None:
    """From its registration to the change that lifts the fence, and again from the change that fences it."""
    registers = record("REGISTER_BROKER_RECORD", 1, brokerId=2, fenced=True)
    led = record("PARTITION_CHANGE_RECORD", 2, partitionId=0, topicId="t", leader=2)
    lifted = record("BROKER_REGISTRATION_CHANGE_RECORD", 3, brokerId=2, fenced=-1)
    stops = record("BROKER_REGISTRATION_CHANGE_RECORD", 4, brokerId=2, inControlledShutdown=1)
    fenced = record("BROKER_REGISTRATION_CHANGE_RECORD", 5, brokerId=2, fenced=1)
    in_sync = record("PARTITION_CHANGE_RECORD", 6, partitionId=1, topicId="t", isr=[1, 2])
    assert given_while_fenced([registers, lifted, led, stops, in_sync], 2) == []
    assert given_while_fenced([registers, led, lifted], 2) == ["offset 2: partition 0 of t"]
    assert given_while_fenced([registers, lifted, fenced, in_sync], 2) == ["offset 6: partition 1 of t"]
    assert given_while_fenced([registers, led], 1) == []


def test_the_isrs_of_a_partition_in_turn() -> None:
    """Those of the topic's own id; a change of something else leaves the ISR as it was."""
    records = [
        record("TOPIC_RECORD", name="a", topicId="A"),
        record("PARTITION_RECORD", topicId="A", partitionId=0, isr=[2, 0, 1]),
        record("PARTITION_RECORD", topicId="B", partitionId=0, isr=[7]),
        record("PARTITION_CHANGE_RECORD", topicId="A", partitionId=0, isr=[1]),
        record("PARTITION_CHANGE_RECORD", topicId="A", partitionId=0, leader=1),
        record("PARTITION_CHANGE_RECORD", topicId="A", partitionId=1, isr=[2]),
    ]
    assert isrs_of(records, "a", 0) == [[0, 1, 2], [1]]


@pytest.mark.parametrize(
    ("answer", "times", "found"),
    [
        ("NONE", 1, []),
        ("TOPIC_ALREADY_EXISTS", 1, []),
        ("REQUEST_TIMED_OUT", 0, []),
        ("REQUEST_TIMED_OUT", 1, []),
        ("NONE", 0, ["a: answered NONE, made 0 times"]),
        ("NONE", 2, ["a: answered NONE, made 2 times"]),
        ("UNKNOWN_SERVER_ERROR", 0, ["a: answered UNKNOWN_SERVER_ERROR"]),
    ],
)
def test_a_creation_ends_as_it_is_answered(answer: str, times: int, found: list[str]) -> None:
    """Once if it is acknowledged, at most once if time is up, and nothing else is an answer."""
    assert made_differently([record("TOPIC_RECORD", name="a")] * times, {"a": answer}) == found


def test_each_registration_of_a_broker_is_found() -> None:
    """Those of another broker are no matter."""
    log = [record("REGISTER_BROKER_RECORD", brokerId=each, fenced=fenced) for each, fenced in ((2, True), (1, False))]
    log.append(record("REGISTER_BROKER_RECORD", brokerId=2, fenced=False))
    assert fenced_as_registered(log, 2) == [True, False]


def test_a_broker_needs_an_address_to_be_registered_with() -> None:
    """The last registration counts; one without an endpoint, or without a host, reaches no one."""
    at = {"host": "broker-0", "port": 9092}
    log = [
        record("REGISTER_BROKER_RECORD", brokerId=0, endPoints=[]),
        record("REGISTER_BROKER_RECORD", brokerId=0, endPoints=[at]),
        record("REGISTER_BROKER_RECORD", brokerId=1, endPoints=[{"host": "", "port": 9092}]),
    ]
    assert without_endpoints(log, (0, 1, 2)) == [1, 2]
