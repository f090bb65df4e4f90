"""Registrations and levels in a batch of the metadata log: as Kafka wrote them, each version, and what is left out."""

import struct
from uuid import UUID

import pytest

from pytest_kmigrate.model.image import FEATURE_LEVEL, REGISTER_BROKER, UNREGISTER_BROKER
from pytest_kmigrate.providers.raft_records import announced_in

LEVEL = bytes.fromhex("010c00116d657461646174612e76657273696f6e001500")
REGISTERED = bytes.fromhex(
    "01000300000000019e92cddaff67498a83d9bb1c9a416818000000000000000e0309494e5445524e414c0962726f6b65722d302384000000"
    "07434c49454e540c3132372e322e3235302e322386000000030e6b726166742e76657273696f6e0000000100116d657461646174612e7665"
    "7273696f6e0015001500000100010011028de57a24fa4127893a6252cab9ca47c2"
)
"""Both as Kafka 3.9.1 wrote them."""
PROCESS = UUID(int=7)


def batch(*values: bytes) -> bytes:
    """Records of a batch, one for each value."""
    found = b""
    for number, value in enumerate(values):
        record = b"\x00" + bytes([2 * number, 2 * number, 1]) + zigzag(len(value)) + value + b"\x00"
        found += zigzag(len(record)) + record
    return found


def zigzag(number: int) -> bytes:
    """A number of variable length, below 8192."""
    return bytes([number << 1 & 0x7F | 0x80, number >> 6]) if number > 63 else bytes([number << 1])


def registered(version: int, epoch: int, *tags: bytes) -> bytes:
    """A fenced broker 4 without listeners and features, in a rack."""
    flag = b"\x00" if version >= 2 else b""
    stopping = b"\x00" if version >= 1 else b""
    head = bytes([1, 0, version]) + struct.pack(">i", 4) + flag + PROCESS.bytes + struct.pack(">q", epoch)
    return head + b"\x01\x01" + b"\x03r1" + b"\x01" + stopping + bytes([len(tags)]) + b"".join(tags)


def test_records_as_kafka_writes_them() -> None:
    """With offsets, and the ids as Kafka's own tool prints them; other records between them do not count."""
    other = bytes([1, 2, 0]) + b"\x07orders" + PROCESS.bytes + b"\x00"
    level, broker = announced_in(batch(LEVEL, other, REGISTERED), 40)
    data = {"name": "metadata.version", "featureLevel": 21}
    assert level == {"offset": 40, "type": FEATURE_LEVEL, "version": 0, "data": data}
    assert (broker["offset"], broker["type"], broker["version"]) == (42, REGISTER_BROKER, 3)
    assert broker["data"] == {
        "brokerId": 0,
        "isMigratingZkBroker": True,
        "incarnationId": "npLN2v9nSYqD2bscmkFoGA",
        "brokerEpoch": 14,
        "fenced": True,
        "inControlledShutdown": False,
        "logDirs": ["jeV6JPpBJ4k6YlLKucpHwg"],
    }


def test_a_registration_of_each_version() -> None:
    """Each has what came with it; one of version 3 without directories has none."""
    found = list(announced_in(batch(*(registered(version, 9) for version in range(4))), 0))
    assert [each["data"]["brokerEpoch"] for each in found] == [9] * 4
    assert ["inControlledShutdown" in each["data"] for each in found] == [False, True, True, True]
    assert ["isMigratingZkBroker" in each["data"] for each in found] == [False, False, True, True]
    assert [each["data"].get("logDirs") for each in found] == [None, None, None, []]
    assert {each["data"]["incarnationId"] for each in found} == {"AAAAAAAAAAAAAAAAAAAABw"}


def test_a_broker_is_taken_away() -> None:
    """By its id and epoch."""
    (gone,) = announced_in(batch(bytes([1, 1, 0]) + struct.pack(">iq", 4, 9) + b"\x00"), 3)
    assert gone == {"offset": 3, "type": UNREGISTER_BROKER, "version": 0, "data": {"brokerId": 4, "brokerEpoch": 9}}


@pytest.mark.parametrize(
    "value",
    [registered(4, 9), b"\x02" + registered(3, 9)[1:], registered(3, 9)[:20], b"", b"a"],
    ids=["of a later version", "of another frame", "cut short", "without a value", "not of Kafka"],
)
def test_what_cannot_be_read_is_left_out(value: bytes) -> None:
    """The records around it are read."""
    assert [each["offset"] for each in announced_in(batch(LEVEL, value, LEVEL), 0)] == [0, 2]


@pytest.mark.parametrize(
    ("records", "offsets"),
    [
        (bytes(64), []),
        (batch(LEVEL) + bytes(64), [40]),
        (batch(LEVEL, REGISTERED)[:-30], [40]),
        (batch(LEVEL, LEVEL)[:-1], [40]),
        (batch(LEVEL, LEVEL) + b"\x80", [40, 41]),
        (b"\xff" * 40, []),
        (b"\x03" + batch(LEVEL), []),
    ],
    ids=["zeros", "zeros behind", "cut", "cut by one", "a length that is cut", "foreign", "a negative length"],
)
def test_a_batch_that_is_torn_is_read_up_to_there(records: bytes, offsets: list[int]) -> None:
    """A node that was killed may leave it, and a run is recorded all the same."""
    assert [each["offset"] for each in announced_in(records, 40)] == offsets
