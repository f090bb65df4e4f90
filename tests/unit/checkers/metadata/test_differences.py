"""Differences: what is the same although two sides say it in their own way."""

import json

import pytest

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.probes.znodes import image_from_znodes


@pytest.mark.parametrize(
    ("taken_by", "in_log", "is_same"),
    [(-1, 2000, True), (-1, 1000, True), (-1, 3000, False), (-1, 0, False), (2, 2000, True), (2, 1000, False)],
    ids=["at-its-end", "as-written", "further", "before", "after-that-of-a-broker", "again"],
)
def test_a_log_goes_on_where_a_block_of_producer_ids_begins_that_a_controller_wrote_or_where_it_ends(
    taken_by: int, in_log: int, is_same: bool
) -> None:
    """A broker in ZooKeeper mode goes on at its end, and so does a copy; Kafka's full sync takes both for the same."""
    block = {"version": 1, "broker": taken_by, "block_start": "1000", "block_end": "1999"}
    record = {"brokerId": 1, "brokerEpoch": 7, "nextProducerId": in_log}
    tree = image_from_znodes({"/latest_producer_id_block": json.dumps(block).encode()})
    log = image_from_records([{"offset": 0, "type": "PRODUCER_IDS_RECORD", "data": record, "snapshot": False}])

    assert [each.family for each in differences(log, tree)] == ([] if is_same else ["producer_ids"])
    assert [each.family for each in differences(tree, log)] == ([] if is_same else ["producer_ids"])
