"""The batches of a metadata log as they lie on a disk, read without Kafka: a few milliseconds for a log of hours."""

import struct
from collections.abc import Iterator
from pathlib import Path

from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.providers.metadata_log import PARTITION

_HEADER = struct.Struct(">qiibIhi")
"""First offset, length, leader's epoch, magic, checksum, attributes, difference to the last offset."""
_HEADER_BYTES = 61
_BEFORE_LENGTH_COUNTS = 12
"""The length counts what follows after itself."""
_CONTROL = 0x20
_LEADER_CHANGE = 2
_CONTROL_KEY = struct.Struct(">hh")
"""Version and type."""
_LEADER_CHANGE_BEGINS = struct.Struct(">hi")
"""Version and the id of the leader."""


def batches_of(metadata_dir: Path) -> list[Batch]:
    """The batches in the segments below the metadata directory of a node, in order; none where there is no log.

    The node may go on writing: a last batch that is not whole yet is left out.
    """
    found: dict[int, Batch] = {}
    for segment in sorted((metadata_dir / PARTITION).glob("*.log")):
        try:
            content = segment.read_bytes()
        except FileNotFoundError:  # Kafka has removed it meanwhile
            continue
        found.update((each.first, each) for each in _batches_in(content))
    return [found[first] for first in sorted(found)]


def _batches_in(segment: bytes) -> Iterator[Batch]:
    at = 0
    while at + _HEADER_BYTES <= len(segment):
        first, length, epoch, _, digest, attributes, more = _HEADER.unpack_from(segment, at)
        end = at + _BEFORE_LENGTH_COUNTS + length
        if length <= 0 or end > len(segment):
            return
        leader = _leader_in(segment[at + _HEADER_BYTES : end]) if attributes & _CONTROL else None
        yield Batch(first, first + more, epoch, digest, leader)
        at = end


def _leader_in(records: bytes) -> int | None:
    """The leader that the first of a batch of control records makes known; None where it is of another type."""
    at = _after_number(records, 0) + 1  # the record's length and attributes
    at = _after_number(records, _after_number(records, at))  # its time and offset
    key = _after_number(records, at)
    _, kind = _CONTROL_KEY.unpack_from(records, key)
    if kind != _LEADER_CHANGE:
        return None
    value = _after_number(records, key + _CONTROL_KEY.size)
    return int(_LEADER_CHANGE_BEGINS.unpack_from(records, value)[1])


def _after_number(content: bytes, at: int) -> int:
    """Where the content goes on behind a number of variable length."""
    while content[at] & 0x80:
        at += 1
    return at + 1
