"""Differences: what is the same although two sides say it in their own way."""

import json

import pytest

from pytest_kmigrate.checkers.metadata.differences import differences
from pytest_kmigrate.probes.metadata_replay import image_from_records
from pytest_kmigrate.probes.znodes import image_from_znodes


@pytest.mark.parametrize(
    ("by", "in_log", "is_same"),
    [(-1, 2000, True), (-1, 1000, True), (-1, 3000, False), (2, 2000, False)],
    ids=["copied", "as-written", "further", "not-copied"],
)
def test_a_copy_goes_on_after_a_block_of_producer_ids_that_a_controller_wrote(
    by: int, in_log: int, is_same: bool
) -> None:
    """A second migration begins with the block that controllers of the first one wrote, which no broker took."""
    block = {"version": 1, "broker": -1, "block_start": "1000", "block_end": "1999"}
    record = {"brokerId": by, "brokerEpoch": -1, "nextProducerId": in_log}
    tree = image_from_znodes({"/latest_producer_id_block": json.dumps(block).encode()})
    log = image_from_records([{"offset": 0, "type": "PRODUCER_IDS_RECORD", "data": record, "snapshot": False}])

    assert [each.family for each in differences(log, tree)] == ([] if is_same else ["producer_ids"])
    assert [each.family for each in differences(tree, log)] == ([] if is_same else ["producer_ids"])
