"""Control requests as a controller would send them, sent by us to one chosen broker."""

import struct
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from kio.schema.errors import ErrorCode

from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import LAYOUTS, ControlRequest, Layout
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, CLIENT_ID, answer_to_frame, named

_OF_HEADER = struct.calcsize(">i") + 1
"""The header of an answer: its correlation id, and that there are no tagged fields."""
_NO_TAGS = b"\x00"


def send_control_request(peer: Peer | str, request: ControlRequest, *, within_s: float = ANSWER_WITHIN_S) -> str:
    """The broker's answer to a control request: Kafka's name of its error. Errors are those of ``wire.ask``."""
    answer = answer_to_frame(peer, encoded(request), within_s=within_s)
    (code,) = struct.unpack_from(">h", answer, _OF_HEADER)
    return named(ErrorCode(code))


def encoded(request: ControlRequest) -> bytes:
    """The frame of a request, without its length, by the layout that it is decoded by; ``left`` is not looked at."""
    header = struct.pack(">hhi", request.api, request.version, request.correlation)
    client = struct.pack(">h", len(CLIENT_ID)) + CLIENT_ID.encode()
    return b"".join([header, client, _NO_TAGS, *_fields(LAYOUTS[request.api], request.body, request.version)]) + _tags(
        request.tags
    )


def _fields(layout: Layout, values: Mapping[str, Any], version: int) -> Iterable[bytes]:
    return (_value(kind, values[name], version) for name, kind, since in layout if since <= version)


def _value(kind: Any, value: Any, version: int) -> bytes:
    match kind:
        case "string":
            return _unsigned(0) if value is None else _sized(value.encode(), 1)
        case "uuid":
            return uuid.UUID(value).bytes
        case "ints":
            return _unsigned(len(value) + 1) + struct.pack(f">{len(value)}i", *value)
        case str():
            return struct.pack(kind, value)
        case _:
            elements = (b"".join(_fields(kind, each, version)) + _NO_TAGS for each in value)
            return _unsigned(len(value) + 1) + b"".join(elements)


def _tags(tags: Mapping[int, bytes]) -> bytes:
    return _unsigned(len(tags)) + b"".join(_unsigned(tag) + _sized(held, 0) for tag, held in sorted(tags.items()))


def _sized(held: bytes, more: int) -> bytes:
    """Bytes after their length, which a compact string raises by one."""
    return _unsigned(len(held) + more) + held


def _unsigned(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _unsigned(rest) if rest else bytes([low])
