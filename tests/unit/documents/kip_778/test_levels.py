"""What Kafka may write at which level, and what is read out of a metadata log and the words of tools."""

from collections.abc import Mapping
from typing import Any

import pytest

from pytest_kmigrate.documents.kip_778.levels import (
    described_level,
    formatted_for,
    gated,
    highest_fetch,
    level_changes,
    lossless_down_to,
    made_twice,
    of_type,
    registered_with_directories,
    without_snapshot_before,
    written_too_early,
)


def record(kind: str, version: int = 0, offset: int = 5, **data: object) -> Mapping[str, Any]:
    """A record of a metadata log."""
    return {"offset": offset, "type": kind, "version": version, "data": data}


def level(number: int, name: str = "metadata.version") -> Mapping[str, Any]:
    """A record that sets the level of a feature."""
    return record("FEATURE_LEVEL_RECORD", name=name, featureLevel=number)


def test_a_record_must_not_be_written_before_its_level() -> None:
    """The level in force is the last one before it; another feature's level is none."""
    early = record("REGISTER_BROKER_RECORD", 3, brokerId=1)
    assert written_too_early([level(17), early]) == []
    assert written_too_early([level(16), level(17, "other"), early]) == [
        "offset 5: REGISTER_BROKER_RECORD version 3 at level 16"
    ]
    assert written_too_early([record("NO_OP_RECORD")]) == ["offset 5: NO_OP_RECORD version 0 at level 1"]
    assert gated([level(7), early, record("TOPIC_RECORD")]) == 1


def test_levels_are_read_in_order() -> None:
    """Of metadata.version alone."""
    assert level_changes([level(7), level(1, "other"), level(9), level(8)]) == [7, 9, 8]


@pytest.mark.parametrize(("at", "fetch"), [(7, 13), (8, 13), (9, 14), (18, 15), (19, 16), (21, 17), (30, 18)])
def test_followers_fetch_by_the_version_of_the_level(at: int, fetch: int) -> None:
    """As seen at every level from 7 to 30."""
    assert highest_fetch(at) == fetch


@pytest.mark.parametrize(("at", "down_to"), [(7, 7), (10, 8), (12, 11), (14, 14), (16, 15), (22, 17), (29, 23)])
def test_a_level_can_be_lowered_within_its_window(at: int, down_to: int) -> None:
    """As dry runs of every pair showed."""
    assert lossless_down_to(at) == down_to


def test_what_is_made_twice_is_named() -> None:
    """A topic that is made anew has another id."""
    topic = record("TOPIC_RECORD", name="a", topicId="1")
    again = record("TOPIC_RECORD", name="a", topicId="2")
    partition = record("PARTITION_RECORD", topicId="1", partitionId=0)
    assert made_twice([topic, again, partition]) == []
    assert made_twice([topic, topic, partition, partition]) == ["topic a 1", "partition 0 of 1"]


def test_records_are_chosen_by_type_and_values() -> None:
    """A value that a record lacks is not equal."""
    fenced, free = (record("REGISTER_BROKER_RECORD", fenced=each) for each in (True, False))
    assert of_type([fenced, free, record("X", fenced=True)], "REGISTER_BROKER_RECORD", fenced=True) == [fenced]


def test_the_brokers_whose_last_registration_has_directories() -> None:
    """A list without any is none, and an earlier registration does not count."""
    name, dirs = "REGISTER_BROKER_RECORD", ["d"]
    log = [record(name, brokerId=each) for each in (2, 1, 3, 4)]
    log += [record(name, brokerId=2, logDirs=dirs), record(name, brokerId=1, logDirs=dirs)]
    log += [record(name, brokerId=3, logDirs=[]), record(name, brokerId=5, logDirs=dirs), record(name, brokerId=5)]
    assert registered_with_directories(log) == [1, 2]


def test_the_words_of_tools_are_read() -> None:
    """Nothing is empty, not an error."""
    line = "Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tFinalizedVersionLevel: 3.3-IV3\tEpoch: 8"
    assert described_level(f"Feature: x\tFinalizedVersionLevel: 1\n{line}\n") == "3.3-IV3"
    assert described_level("nothing") == ""
    assert formatted_for("Formatting metadata directory /d with metadata.version 3.9-IV0.\n") == "3.9-IV0"
    assert formatted_for("failed") == ""


def test_a_snapshot_has_to_end_right_before_a_level() -> None:
    """One that was there before, or comes later, is none; the first level of all needs none."""
    log = [
        record("FEATURE_LEVEL_RECORD", 0, offset, name="metadata.version", featureLevel=number)
        for offset, number in ((1, 7), (20, 8), (30, 9))
    ]
    assert without_snapshot_before(log, ["00000000000000000020-0000000001.checkpoint"]) == [9]
    assert without_snapshot_before(log, ["00000000000000000019-0000000001.checkpoint"]) == [8, 9]
    assert without_snapshot_before(log[:1], []) == []
