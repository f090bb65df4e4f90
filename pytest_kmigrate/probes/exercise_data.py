"""JaCoCo's execution data: which probes of which class files were executed.

Source: JaCoCo, ``org.jacoco.core.data.ExecutionDataReader``: blocks of a type and their fields in Java's DataOutput.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_HEADER, _SESSION, _EXECUTED = 0x01, 0x10, 0x11
_MAGIC, _FORMAT = 0xC0C0, 0x1007


@dataclass(frozen=True)
class ClassExecuted:
    """One class file and its executed probes."""

    name: str
    """Its full name, with dots."""
    class_id: str
    """Sum of the class file: 16 hexadecimal digits."""
    probes: int
    """How many it has."""
    executed: frozenset[int]


def executions(data: bytes) -> Iterator[ClassExecuted]:
    """The class files in execution data; ValueError for other content."""
    reader = _Reader(data)
    try:
        while not reader.is_at_end:
            kind = reader.number(1)
            if kind == _HEADER:
                if (reader.number(2), reader.number(2)) != (_MAGIC, _FORMAT):
                    raise ValueError("expected execution data of JaCoCo in format 1007, got another format")
            elif kind == _SESSION:
                reader.text()
                reader.number(16)
            elif kind == _EXECUTED:
                yield reader.class_executed()
            else:
                raise ValueError(f"expected a block of JaCoCo, got one of type {kind}")
    except struct.error as error:
        raise ValueError("expected whole execution data of JaCoCo, got a part") from error


class _Reader:
    """Reads from the beginning to the end."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._data)

    def number(self, size: int) -> int:
        return int.from_bytes(self._taken(size), "big")

    def text(self) -> str:
        return self._taken(self.number(2)).decode("utf-8", "replace")

    def class_executed(self) -> ClassExecuted:
        class_id, name, count = f"{self.number(8):016x}", self.text().replace("/", "."), self._growing()
        bits = self._taken((count + 7) // 8)
        executed = frozenset(each for each in range(count) if bits[each // 8] >> each % 8 & 1)
        return ClassExecuted(name, class_id, count, executed)

    def _growing(self) -> int:
        """A number of 7 bits a byte, the lowest first; the highest bit says that another byte follows."""
        number, shift = 0, 0
        while True:
            byte = self.number(1)
            number |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return number

    def _taken(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise struct.error
        self._at += size
        return taken
