"""What a metadata log holds, by families of metadata, and which requests would push metadata to brokers."""

from collections import Counter
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
_MADE = ("NONE", "TOPIC_ALREADY_EXISTS")
_RETRIABLE = ("REQUEST_TIMED_OUT", "NOT_CONTROLLER", "COORDINATOR_NOT_AVAILABLE", "NETWORK_EXCEPTION")
_CHANGES_TO = {1: True, -1: False}
"""Whether a broker is fenced after a change of its registration that says so."""
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


def given_while_fenced(records: Iterable[Mapping[str, Any]], broker: int) -> list[str]:
    """What a log gives to a broker while its registration is fenced, each in words; a registration begins so."""
    given, is_fenced = [], False
    for each in records:
        data = each["data"]
        if each["type"] == "REGISTER_BROKER_RECORD" and data["brokerId"] == broker:
            is_fenced = data["fenced"]
        if each["type"] == "BROKER_REGISTRATION_CHANGE_RECORD" and data["brokerId"] == broker:
            is_fenced = _CHANGES_TO.get(data.get("fenced"), is_fenced)
        if is_fenced and each["type"] == "PARTITION_CHANGE_RECORD" and _is_given(data, broker):
            given.append(f"offset {each['offset']}: partition {data['partitionId']} of {data['topicId']}")
    return given


def fenced_as_registered(records: Iterable[Mapping[str, Any]], broker: int) -> list[bool]:
    """Of each registration of a broker in a log, in turn, whether the broker was fenced by it."""
    data = [each["data"] for each in records if each["type"] == "REGISTER_BROKER_RECORD"]
    return [each["fenced"] for each in data if each["brokerId"] == broker]


def without_endpoints(records: Iterable[Mapping[str, Any]], brokers: Iterable[int]) -> list[int]:
    """The brokers whose last registration in a log names no host and port, or that have none there."""
    data = [each["data"] for each in records if each["type"] == "REGISTER_BROKER_RECORD"]
    last = {each["brokerId"]: [(at["host"], at["port"]) for at in each.get("endPoints", ())] for each in data}
    return [broker for broker in brokers if not last.get(broker) or not all(map(all, last[broker]))]


def isrs_of(records: Iterable[Mapping[str, Any]], topic: str, partition: int) -> list[list[int]]:
    """The ISRs that a log gives to a partition, one after the other, each sorted."""
    topic_id, isrs = None, list[list[int]]()
    for each in records:
        data = each["data"]
        if each["type"] == "TOPIC_RECORD" and data["name"] == topic:
            topic_id = data["topicId"]
        of_partition = each["type"] in ("PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
        if of_partition and (data["topicId"], data["partitionId"]) == (topic_id, partition) and data.get("isr"):
            isrs.append(sorted(data["isr"]))
    return isrs


def made_differently(records: Iterable[Mapping[str, Any]], answers: Mapping[str, str]) -> list[str]:
    """The creations of topics that did not end as they were answered, or were carried out twice, each in words.

    An answer says that the topic was made, that it was made before, or that time is up; any other one is wrong, too.
    """
    made = Counter(each["data"]["name"] for each in records if each["type"] == "TOPIC_RECORD")
    found = []
    for topic, answer in answers.items():
        if made[topic] > 1 or (not made[topic] and answer in _MADE):
            found.append(f"{topic}: answered {answer}, made {made[topic]} times")
        elif answer not in (*_MADE, *_RETRIABLE):
            found.append(f"{topic}: answered {answer}")
    return found


def _is_given(change: Mapping[str, Any], broker: int) -> bool:
    return change.get("leader") == broker or broker in (change.get("isr") or ())
