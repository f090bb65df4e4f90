"""What a metadata log holds, by families of metadata, and which requests would push metadata to brokers."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

_FAMILIES: Mapping[str, tuple[str, ...]] = {
    "topics": ("TOPIC_RECORD", "PARTITION_RECORD"),
    "topic-configs": ("CONFIG_RECORD",),
    "quotas": ("CLIENT_QUOTA_RECORD",),
    "scram": ("USER_SCRAM_CREDENTIAL_RECORD",),
    "acls": ("ACCESS_CONTROL_ENTRY_RECORD",),
    "delegation-tokens": ("DELEGATION_TOKEN_RECORD",),
    "producer-ids": ("PRODUCER_IDS_RECORD",),
}
"""Families of what is filled in, with the types of their records."""
_PUSHES = frozenset({"LeaderAndIsr", "StopReplica", "UpdateMetadata"})


def families_in(records: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """The families that records of a log belong to."""
    types = {each["type"] for each in records}
    return frozenset(family for family, own in _FAMILIES.items() if types.issuperset(own))


def missing_families(found: Collection[str], left_out: Collection[str]) -> list[str]:
    """The families that a log lacks, besides those that a cluster has no room for."""
    return [family for family in _FAMILIES if family not in found and family not in left_out]


def pushed_to_brokers(received: Mapping[str, Mapping[tuple[str, int], int]]) -> list[str]:
    """The requests, by broker, by which a controller would push metadata."""
    return [
        f"{node}: {name} {version}" for node, counts in received.items() for name, version in counts if name in _PUSHES
    ]


def given_after_stopping(records: Iterable[Mapping[str, Any]], broker: int) -> list[str]:
    """What a log gives to a broker between its announcement to stop and its next registration, each in words."""
    given, stops = [], False
    for each in records:
        data = each["data"]
        if each["type"] == "BROKER_REGISTRATION_CHANGE_RECORD" and data["brokerId"] == broker:
            stops = stops or data.get("inControlledShutdown") == 1
        if each["type"] == "REGISTER_BROKER_RECORD" and data["brokerId"] == broker:
            stops = False
        if stops and each["type"] == "PARTITION_CHANGE_RECORD" and _is_given(data, broker):
            given.append(f"offset {each['offset']}: partition {data['partitionId']} of {data['topicId']}")
    return given


def _is_given(change: Mapping[str, Any], broker: int) -> bool:
    return change.get("leader") == broker or broker in (change.get("isr") or ())
