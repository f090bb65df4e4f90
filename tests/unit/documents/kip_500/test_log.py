"""What is read out of a metadata log, and out of counts of requests."""

from collections.abc import Mapping
from typing import Any

from pytest_kmigrate.documents.kip_500.log import (
    families_in,
    given_after_stopping,
    missing_families,
    pushed_to_brokers,
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
