"""What our producers write into a record's value: who wrote it and the writer's own counter, then padding."""

import re
import struct

MARK = b"kmg1"
"""Begins every value of ours; anything else was written by somebody else."""

TEXT_MARK = b"kmt1"
"""Begins those that are text, for consumers that print values."""

FOREIGN = (-1, -1)
"""Producer and sequence of a record that is not ours."""

_HEAD = struct.Struct(">4siq")
_TEXT = re.compile(rb"%s:(\d+):(\d+):" % TEXT_MARK)
SMALLEST_BYTES = _HEAD.size


def encode(producer: int, sequence: int, record_bytes: int) -> bytes:
    """The value of one record, ``record_bytes`` long (at least SMALLEST_BYTES)."""
    return _HEAD.pack(MARK, producer, sequence).ljust(record_bytes, b".")


def encode_as_text(producer: int, sequence: int, record_bytes: int) -> bytes:
    """The value of one record as ASCII text, at least ``record_bytes`` long."""
    return (b"%s:%d:%d:" % (TEXT_MARK, producer, sequence)).ljust(record_bytes, b".")


def decode(value: bytes | None) -> tuple[int, int]:
    """(producer, sequence) of a value of ours, FOREIGN of any other."""
    if value is not None and (text := _TEXT.match(value)):
        return int(text[1]), int(text[2])
    if value is None or len(value) < _HEAD.size:
        return FOREIGN
    mark, producer, sequence = _HEAD.unpack_from(value)
    return (producer, sequence) if mark == MARK else FOREIGN
