"""The batches of a metadata log as they lie on a disk, read without Kafka: a few milliseconds for a log of hours."""

import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pytest_kmigrate.model.history import Batch
from pytest_kmigrate.providers.metadata_log import PARTITION, snapshots_in
from pytest_kmigrate.providers.raft_records import UNREADABLE, Reader, announced_in, next_record

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

    The node may go on writing: a last batch that is not whole yet is left out. Where the log does not begin at 0, what
    the oldest snapshot announces is the first batch's, too.
    """
    found: dict[int, Batch] = {}
    for segment in sorted((metadata_dir / PARTITION).glob("*.log")):
        found.update((each.first, each) for each in _batches_in(_content(segment)))
    batches = [found[first] for first in sorted(found)]
    return _with_snapshot(metadata_dir, batches) if batches and batches[0].first > 0 else batches


def _with_snapshot(metadata_dir: Path, batches: list[Batch]) -> list[Batch]:
    """The same; what the oldest snapshot that reaches up to them covers is announced by it alone, as of its end."""
    name = next((each for each in snapshots_in(metadata_dir) if _end_of(each) >= batches[0].first), None)
    if name is None:
        return batches
    end, content = _end_of(name), _content(metadata_dir / PARTITION / name)
    before = tuple({**each, "offset": end - 1} for batch in _batches_in(content) for each in batch.announced)
    later = [tuple(each for each in batch.announced if each["offset"] >= end) for batch in batches]
    later[0] = before + later[0]
    return [replace(batch, announced=announced) for batch, announced in zip(batches, later, strict=True)]


def _end_of(snapshot: str) -> int:
    """The first offset that is not in a snapshot, by its name."""
    return int(snapshot.partition("-")[0])


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except FileNotFoundError:  # Kafka has removed it meanwhile
        return b""


def _batches_in(segment: bytes) -> Iterator[Batch]:
    at = 0
    while at + _HEADER_BYTES <= len(segment):
        first, length, epoch, _, digest, attributes, more = _HEADER.unpack_from(segment, at)
        end = at + _BEFORE_LENGTH_COUNTS + length
        if length <= 0 or end > len(segment):
            return
        records = segment[at + _HEADER_BYTES : end]
        if attributes & _CONTROL:
            yield Batch(first, first + more, epoch, digest, _leader_in(records))
        else:
            yield Batch(first, first + more, epoch, digest, announced=tuple(announced_in(records, first)))
        at = end


def _leader_in(records: bytes) -> int | None:
    """The leader that the first of a batch of control records makes known; None where it is of another type or torn."""
    try:
        _, key, value = next_record(Reader(records))
        _, kind = _CONTROL_KEY.unpack_from(key)
        return int(_LEADER_CHANGE_BEGINS.unpack_from(value)[1]) if kind == _LEADER_CHANGE else None
    except UNREADABLE:
        return None
