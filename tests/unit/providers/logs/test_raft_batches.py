"""Batches of a metadata log: those of Kafka's own layout, and what is cut off at the end."""

import struct
from pathlib import Path

import pytest

from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.providers.raft_batches import batches_of
from pytest_kmigrate.wire.record_batches import batch_of

_CONTROL = 0x20
LEVEL = bytes.fromhex("010c00116d657461646174612e76657273696f6e001500")
"""The record that sets metadata.version to 21."""


def control_batch(offset: int, epoch: int, kind: int, leader: int) -> bytes:
    """One control record of this type, as a leader writes it at the beginning of its epoch."""
    value = struct.pack(">hi", 0, leader) + b"\x01\x01\x00"
    key = struct.pack(">hh", 0, kind)
    record = b"\x00\x00\x00" + bytes([len(key) * 2]) + key + bytes([len(value) * 2]) + value + b"\x00"
    records = bytes([len(record) * 2]) + record
    header = struct.pack(">ibIhi", epoch, 2, 77, _CONTROL, 0) + bytes(30) + struct.pack(">i", 1)
    return struct.pack(">qi", offset, len(header) + len(records)) + header + records


@pytest.fixture
def partition(tmp_path: Path) -> Path:
    """Where a node keeps its metadata log."""
    folder = tmp_path / "__cluster_metadata-0"
    folder.mkdir()
    return folder


def test_batches_of_all_segments_in_order(tmp_path: Path, partition: Path) -> None:
    """Data have no leader; of control records, one that makes a leader known has; another one has none."""
    (partition / "00000000000000000007.log").write_bytes(control_batch(7, 4, 3, 9))
    (partition / "00000000000000000000.log").write_bytes(
        control_batch(0, 3, 2, 3001) + batch_of([b"a", b"bc"], offset=1)
    )
    leads, data, other = batches_of(tmp_path)
    assert leads == Batch(0, 0, 3, 77, leader=3001)
    assert (data.first, data.last, data.leader) == (1, 2, None)
    assert data.digest != 0
    assert other == Batch(7, 7, 4, 77)


def test_a_batch_that_is_not_whole_is_left_out(tmp_path: Path, partition: Path) -> None:
    """The node is writing it; a node without a log has no batches."""
    whole = batch_of([b"a"])
    (partition / "00000000000000000000.log").write_bytes(whole + batch_of([b"b"], offset=1)[:-1])
    assert [each.last for each in batches_of(tmp_path)] == [0]
    (partition / "00000000000000000000.log").write_bytes(whole + bytes(200))
    assert [each.last for each in batches_of(tmp_path)] == [0]
    assert batches_of(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("torn", [b"\x00", b"\xff", b"\x7f"], ids=["zeros", "no end of a number", "too long"])
def test_a_torn_control_batch_makes_no_leader_known(tmp_path: Path, partition: Path, torn: bytes) -> None:
    """And ends no reading: what lies behind it is read."""
    whole = control_batch(0, 3, 2, 3001)
    (partition / "00000000000000000000.log").write_bytes(
        whole[:61] + torn * (len(whole) - 61) + batch_of([b"a"], offset=1)
    )
    assert [(each.last, each.leader) for each in batches_of(tmp_path)] == [(0, None), (1, None)]


def test_a_batch_has_the_levels_that_it_sets(tmp_path: Path, partition: Path) -> None:
    """A batch is the same as another one by its checksum, and a run folder has these records beside it."""
    (partition / "00000000000000000000.log").write_bytes(batch_of([b"a", LEVEL], offset=0))
    (batch,) = batches_of(tmp_path)
    assert [(each["offset"], each["data"]["featureLevel"]) for each in batch.announced] == [(1, 21)]
    assert batch == Batch(*batch.as_row())  # type: ignore[arg-type]
    assert len(batch.as_row()) == 5


def test_a_log_that_does_not_begin_at_0_has_the_levels_of_its_oldest_snapshot(tmp_path: Path, partition: Path) -> None:
    """In the first batch, and none has what it covers.

    One that ends before the log, or is beside a whole log, is not read; there may be none.
    """
    for end in (5, 9, 12):
        snapshot = control_batch(0, 1, 3, 0) + batch_of([LEVEL] * end, offset=1)
        (partition / f"{end:020}-0000000001.checkpoint").write_bytes(snapshot)
    assert batches_of(tmp_path) == []
    segment = b"".join(batch_of([LEVEL], offset=each) for each in (7, 8, 9))
    (partition / "00000000000000000007.log").write_bytes(segment)
    offsets = [[each["offset"] for each in batch.announced] for batch in batches_of(tmp_path)]
    assert offsets == [[8] * 9, [], [9]]
    (partition / "00000000000000000000.log").write_bytes(batch_of([LEVEL], offset=0))
    assert [each["offset"] for batch in batches_of(tmp_path) for each in batch.announced] == [0, 7, 8, 9]
    for file in partition.glob("*.checkpoint"):
        file.unlink()
    (partition / "00000000000000000000.log").unlink()
    assert [each["offset"] for batch in batches_of(tmp_path) for each in batch.announced] == [7, 8, 9]
