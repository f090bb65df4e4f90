"""Execution data as JaCoCo's agent writes it."""

import struct
from collections.abc import Iterable


def execution_data(*classes: tuple[str, int, int, Iterable[int]]) -> bytes:
    """Of classes by name, sum, number of probes and the executed ones, after a header and a session."""
    made = b"\x01\xc0\xc0\x10\x07" + b"\x10" + _text("host-1a") + bytes(16)
    for name, class_id, count, executed in classes:
        bits = sum(1 << each for each in executed)
        made += b"\x11" + struct.pack(">Q", class_id) + _text(name.replace(".", "/")) + _growing(count)
        made += bits.to_bytes((count + 7) // 8, "little")
    return made


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


def _growing(number: int) -> bytes:
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + _growing(rest) if rest else bytes([low])
