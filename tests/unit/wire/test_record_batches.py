"""Batches of records as Kafka's own tool writes them."""

import pytest
from kio.records.readers import read_batch

from pytest_kmigrate.wire.record_batches import batch_of

OF_KAFKA = bytes.fromhex(
    "00000000000000010000004f00000000026ac9c2b9000000000000000001a21b575fd5000001a21b575fd5"
    "ffffffffffffffffffffffffffff000000013a000000012e010c00116d657461646174612e76657273696f6e00150000"
)
"""A batch of a bootstrap.checkpoint of Kafka 3.9.1: its one record sets metadata.version to 21."""


def test_a_batch_holds_its_values_in_order() -> None:
    """From an offset on, without keys, by no producer; the checksum is verified as it is read."""
    batch, size = read_batch(batch_of([b"a", b"bc"], offset=3), 0)
    assert [(record.offset, record.key, record.value) for record in batch.records] == [
        (3, None, b"a"),
        (4, None, b"bc"),
    ]
    assert (batch.producer_id, size) == (-1, len(batch_of([b"a", b"bc"])))


def test_a_batch_is_written_as_kafka_writes_it() -> None:
    """But for time and checksum."""
    ours = batch_of([OF_KAFKA[-24:-1]], offset=1)
    assert len(ours) == len(OF_KAFKA)
    for part in (slice(0, 17), slice(21, 27), slice(43, None)):
        assert ours[part] == OF_KAFKA[part]


def test_a_batch_of_nothing_is_refused() -> None:
    """Kafka has none."""
    with pytest.raises(ValueError, match="at least one record"):
        batch_of([])
