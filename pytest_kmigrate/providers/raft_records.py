"""Registrations of brokers and levels of features in a batch of the metadata log, read without Kafka.

Kafka's own tool decodes everything and takes seconds, so it is not run at the end of every run. These few records have
a layout that 3.3 to 4.3 share; one of a later version is left out, and so is one that is not as expected. A batch is
read up to where it is cut, or is none: a node that was killed may leave such a one.
"""

import base64
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_kmigrate.model.image import FEATURE_LEVEL, REGISTER_BROKER, UNREGISTER_BROKER

_FRAME = 1
UNREADABLE = (IndexError, struct.error, ValueError)
"""What reading raises where a batch is cut, or is none."""
_LOG_DIRS = 0
"""The tag of the log directories of a registration."""
_WITH_STATE, _WITH_FLAG, _WITH_DIRECTORIES = 1, 2, 3
"""Since when a registration holds whether its broker is stopping, whether it is migrating, and its directories."""


@dataclass
class Reader:
    """Reads one value after the other."""

    content: bytes
    at: int = 0

    def number(self) -> int:
        """An unsigned number of variable length."""
        found = shift = 0
        while (byte := self.content[self.at]) & 0x80:
            found |= (byte & 0x7F) << shift
            self.at, shift = self.at + 1, shift + 7
        self.at += 1
        return found | byte << shift

    def signed(self) -> int:
        """A number of variable length that may be negative."""
        found = self.number()
        return found >> 1 ^ -(found & 1)

    def fixed(self, layout: str) -> Any:
        """One value of a fixed length."""
        value = struct.unpack_from(f">{layout}", self.content, self.at)[0]
        self.at += struct.calcsize(f">{layout}")
        return value

    def taken(self, length: int) -> bytes:
        """So many bytes; IndexError if there are fewer."""
        if length < 0 or self.at + length > len(self.content):
            raise IndexError(f"expected {length} bytes at {self.at} of {len(self.content)}")
        self.at += length
        return self.content[self.at - length : self.at]

    def text(self) -> str | None:
        """A text; None for null."""
        length = self.number() - 1
        return None if length < 0 else self.taken(length).decode()

    def uuid(self) -> str:
        """A UUID as Kafka prints it."""
        return base64.urlsafe_b64encode(self.taken(16)).rstrip(b"=").decode()

    def skip_list(self, texts: int, numbers: int) -> None:
        """A list of structures that begin with so many texts, and go on with so many numbers of 16 bits."""
        for _ in range(self.number() - 1):
            for _ in range(texts):
                self.text()
            self.taken(2 * numbers)
            self.tags()

    def tags(self) -> dict[int, bytes]:
        """The tagged fields at the end of a structure."""
        return {self.number(): self.taken(self.number()) for _ in range(self.number())}


def announced_in(records: bytes, first: int) -> Iterator[Mapping[str, Any]]:
    """Such records among those of a batch of data whose first offset is ``first``: {offset, type, version, data}."""
    batch = Reader(records)
    while batch.at < len(records):
        try:
            more, _, value = next_record(batch)
        except UNREADABLE:
            return
        if found := _announced(Reader(value)):
            yield {"offset": first + more, **found}


def next_record(batch: Reader) -> tuple[int, bytes, bytes]:
    """The next record: the difference to the batch's first offset, its key, and its value."""
    record = Reader(batch.taken(batch.signed()))
    record.at += 1  # its attributes
    record.signed()  # its time
    more = record.signed()
    key = record.taken(max(record.signed(), 0))
    return more, key, record.taken(max(record.signed(), 0))


def _announced(value: Reader) -> dict[str, Any]:
    """The record, if it is one of these; otherwise nothing."""
    try:
        frame, key, version = value.number(), value.number(), value.number()
        kind, newest, read = _KINDS.get(key, _NONE)
        if frame != _FRAME or version > newest:
            return {}
        return {"type": kind, "version": version, "data": read(value, version)}
    except UNREADABLE:
        return {}


def _registration(value: Reader, version: int) -> dict[str, Any]:
    data = {"brokerId": value.fixed("i")}
    data |= {"isMigratingZkBroker": value.fixed("?")} if version >= _WITH_FLAG else {}
    data |= {"incarnationId": value.uuid(), "brokerEpoch": value.fixed("q")}
    value.skip_list(texts=2, numbers=2)  # its listeners: name and host, port and protocol
    value.skip_list(texts=1, numbers=2)  # its features: name, lowest and highest level
    value.text()  # its rack
    data |= {"fenced": value.fixed("?")}
    data |= {"inControlledShutdown": value.fixed("?")} if version >= _WITH_STATE else {}
    tags = value.tags()
    return data | ({"logDirs": _uuids(tags.get(_LOG_DIRS))} if version >= _WITH_DIRECTORIES else {})


def _uuids(content: bytes | None) -> list[str]:
    """Those of a tagged list; none of one that is left out."""
    of = Reader(content or b"\x01")
    return [of.uuid() for _ in range(of.number() - 1)]


def _unregistration(value: Reader, _: int) -> dict[str, Any]:
    return {"brokerId": value.fixed("i"), "brokerEpoch": value.fixed("q")}


def _level(value: Reader, _: int) -> dict[str, Any]:
    return {"name": value.text(), "featureLevel": value.fixed("h")}


_Kind = tuple[str, int, Callable[[Reader, int], dict[str, Any]]]
_NONE: _Kind = ("", -1, _level)
_KINDS: Mapping[int, _Kind] = {
    0: (REGISTER_BROKER, 3, _registration),
    1: (UNREGISTER_BROKER, 0, _unregistration),
    12: (FEATURE_LEVEL, 0, _level),
}
"""By the number of the type: its name, the newest version that is known, and how its data are read."""
