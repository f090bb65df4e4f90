"""Levels of ``metadata.version``, and from which of them Kafka may write what: facts of Kafka 3.3 to 4.3."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_kmigrate.model.image import FEATURE_LEVEL, REGISTER_BROKER

METADATA_VERSION = "metadata.version"
FIRST_SCRAM_LEVEL = 11
FIRST_LEVEL_WITH_DIRECTORIES = 17
"""Of 3.7-IV2: from it on a registration of a broker holds its log directories."""
FIRST_LEVEL = 1
"""Of 3.0: what a log without any level is taken for."""
ANSWER_TO_A_LEVEL = "the answer to the level"
RECORDED_LEVELS = "the levels that broker 0 recorded"
AN_OLD_CONTROLLER_RUNS = "whether one of the old controllers runs"
"""Expectations about a level that most controllers do not know."""

_RECORDS: Mapping[str, Mapping[int, int]] = {
    "NO_OP_RECORD": {0: 5},
    "BROKER_REGISTRATION_CHANGE_RECORD": {0: 6, 1: 7, 2: 17, 3: 30},
    REGISTER_BROKER: {1: 7, 2: 8, 3: FIRST_LEVEL_WITH_DIRECTORIES},
    "ZK_MIGRATION_STATE_RECORD": {0: 8},
    "USER_SCRAM_CREDENTIAL_RECORD": {0: 11},
    "REMOVE_USER_SCRAM_CREDENTIAL_RECORD": {0: 11},
    "BEGIN_TRANSACTION_RECORD": {0: 13},
    "END_TRANSACTION_RECORD": {0: 13},
    "DELEGATION_TOKEN_RECORD": {0: 14},
    "REGISTER_CONTROLLER_RECORD": {0: 15},
    "PARTITION_RECORD": {1: 17, 2: 23},
    "PARTITION_CHANGE_RECORD": {1: 17, 2: 23},
}
"""The first level that a version of a record needs; others need none."""

_FETCHES = {1: 12, 7: 13, 9: 14, 10: 15, 19: 16, 21: 17, 27: 18}
"""From which level followers fetch from leaders by which version of the request."""


_LOSSLESS_DOWN_TO = (4, 5, 6, 7, 8, 11, 13, 14, 15, 17, 23, 30)
"""The lowest levels of the windows within which a level can be lowered without loss."""


def lossless_down_to(level: int) -> int:
    """The lowest level to which a level can be lowered without loss."""
    return max(each for each in _LOSSLESS_DOWN_TO if each <= level)


def highest_fetch(level: int) -> int:
    """The version by which followers fetch at a level."""
    return _FETCHES[max(each for each in _FETCHES if each <= level)]


def level_changes(records: Iterable[Mapping[str, Any]]) -> list[int]:
    """The levels that a log holds, in order; 0 where the level was taken away."""
    return [int(each["data"]["featureLevel"]) for each in records if is_level(each)]


def without_snapshot_before(records: Iterable[Mapping[str, Any]], snapshots: Iterable[str]) -> list[int]:
    """The levels in a log, but the first one, of which no snapshot ends right before their record.

    ``snapshots`` are file names, ``<offset>-<epoch>.checkpoint``; the offset is the first one that is not in it.
    """
    ends = {int(each.partition("-")[0]) for each in snapshots}
    levels = [each for each in records if is_level(each)][1:]
    return [int(each["data"]["featureLevel"]) for each in levels if each["offset"] not in ends]


def is_level(record: Mapping[str, Any]) -> bool:
    """Whether a record sets the level of ``metadata.version``."""
    return bool(record["type"] == FEATURE_LEVEL and record["data"]["name"] == METADATA_VERSION)


def _needed(record: Mapping[str, Any]) -> int:
    """The first level that a record needs."""
    return _RECORDS.get(record["type"], {}).get(record["version"], FIRST_LEVEL)


def written_too_early(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Records that the level in force did not allow, each in words."""
    found, level = [], FIRST_LEVEL
    for each in records:
        level = int(each["data"]["featureLevel"]) if is_level(each) else level
        if _needed(each) > level:
            found.append(f"offset {each['offset']}: {each['type']} version {each['version']} at level {level}")
    return found


def gated(records: Iterable[Mapping[str, Any]]) -> int:
    """How many records need a level above the first; without any, nothing could have been written too early."""
    return sum(_needed(each) > FIRST_LEVEL for each in records)


def of_type(records: Iterable[Mapping[str, Any]], kind: str, **data: object) -> list[Mapping[str, Any]]:
    """The records of a type that hold these values."""
    return [each for each in records if each["type"] == kind and data.items() <= each["data"].items()]


def registered_with_directories(records: Iterable[Mapping[str, Any]]) -> list[int]:
    """The ids of the brokers whose last registration holds log directories."""
    last = {each["data"]["brokerId"]: each["data"] for each in of_type(records, REGISTER_BROKER)}
    return sorted(broker for broker, data in last.items() if data.get("logDirs"))


def made_twice(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """Topics and partitions that more than one record makes, each in words."""
    made: Counter[str] = Counter()
    for each in records:
        data = each["data"]
        if each["type"] == "TOPIC_RECORD":
            made[f"topic {data['name']} {data['topicId']}"] += 1
        if each["type"] == "PARTITION_RECORD":
            made[f"partition {data['partitionId']} of {data['topicId']}"] += 1
    return [what for what, count in made.items() if count > 1]


def described_level(output: str) -> str:
    """The level of metadata.version in the output of ``kafka-features describe``; empty if it has none."""
    line = next((line for line in output.splitlines() if line.startswith(f"Feature: {METADATA_VERSION}")), "")
    found = re.search(r"FinalizedVersionLevel: (\S+)", line)
    return found[1] if found else ""


def formatted_for(output: str) -> str:
    """The level that ``kafka-storage format`` says it formats a disk for; empty if it says none."""
    found = re.search(r"with metadata\.version (\S+?)\.?\s", f"{output} ")
    return found[1] if found else ""
