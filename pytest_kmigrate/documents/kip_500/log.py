"""What a metadata log holds, by families of metadata, and which requests would push metadata to brokers."""

import base64
import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class PartitionState:
    """A partition as a log has it after its last record."""

    topic_id: uuid.UUID
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


def partition_in(records: Sequence[Mapping[str, Any]], topic: str, number: int) -> PartitionState:
    """A partition of the topic that was made last under this name; LookupError when the log has none.

    A change raises the partition's epoch, and the leader's if it names one, which -1 for no leader does as well.
    """
    made = [
        each["data"]["topicId"] for each in records if each["type"] == "TOPIC_RECORD" and each["data"]["name"] == topic
    ]
    own = [
        each
        for each in records
        if made and each["data"].get("topicId") == made[-1] and each["data"].get("partitionId") == number
    ]
    if not own:
        raise LookupError(f"no partition {number} of {topic} in the log")
    first = own[0]["data"]
    state = PartitionState(_uuid(made[-1]), first["leader"], 0, 0, tuple(first["isr"]))
    for each in own[1:]:
        state = _changed(state, each["data"])
    return state


def _changed(state: PartitionState, change: Mapping[str, Any]) -> PartitionState:
    is_elected = change.get("leader", -2) != -2
    return PartitionState(
        state.topic_id,
        change["leader"] if is_elected else state.leader,
        state.leader_epoch + is_elected,
        state.partition_epoch + 1,
        tuple(change.get("isr") or state.isr),
    )


def _uuid(written: str) -> uuid.UUID:
    """An id as Kafka writes it: 16 bytes in URL-safe base64, without padding."""
    return uuid.UUID(bytes=base64.urlsafe_b64decode(f"{written}=="))


def broker_epoch_in(records: Iterable[Mapping[str, Any]], broker: int) -> int:
    """The epoch of a broker's last registration; -1 without any."""
    epochs = [each["data"]["brokerEpoch"] for each in records if _registers(each, broker)]
    return int(epochs[-1]) if epochs else -1


def _registers(record: Mapping[str, Any], broker: int) -> bool:
    return bool(record["type"] == "REGISTER_BROKER_RECORD" and record["data"]["brokerId"] == broker)


def given_after_stopping(records: Iterable[Mapping[str, Any]], broker: int) -> list[str]:
    """What a log gives to a broker between its announcement to stop and its next registration, each in words."""
    given, stops = [], False
    for each in records:
        data = each["data"]
        if each["type"] == "BROKER_REGISTRATION_CHANGE_RECORD" and data["brokerId"] == broker:
            stops = stops or data.get("inControlledShutdown") == 1
        if _registers(each, broker):
            stops = False
        if stops and each["type"] == "PARTITION_CHANGE_RECORD" and _is_given(data, broker):
            given.append(f"offset {each['offset']}: partition {data['partitionId']} of {data['topicId']}")
    return given


def _is_given(change: Mapping[str, Any], broker: int) -> bool:
    return change.get("leader") == broker or broker in (change.get("isr") or ())
