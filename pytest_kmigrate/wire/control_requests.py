"""The requests by which a controller controls brokers in ZooKeeper mode, decoded to their last byte.

kio has none of them. Layouts: LeaderAndIsrRequest.json, StopReplicaRequest.json and UpdateMetadataRequest.json of Kafka
3.9, the versions from the first flexible one on, which is what brokers of 3.4 and later are sent.
"""

import struct
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from kio.schema.errors import ErrorCode

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.request import CORRELATION_ID, answer_to_frame, framed, named

LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA = 4, 5, 6
API_VERSIONS = 18
NAMES: Mapping[int, str] = {
    LEADER_AND_ISR: "LeaderAndIsr",
    STOP_REPLICA: "StopReplica",
    UPDATE_METADATA: "UpdateMetadata",
    API_VERSIONS: "ApiVersions",
}

Layout = Sequence[tuple[str, Any, int]]
"""Fields in order: name, type (a format of ``struct``, a word, or the layout of each element), and first version."""

_FIRST_FLEXIBLE = {LEADER_AND_ISR: 4, STOP_REPLICA: 2, UPDATE_METADATA: 6}
_INTS = "ints"
_SENDER = "is_kraft"
_SENDER_ID = ("kraft_controller_id", ">i")
"""What an early draft of KIP-866 has in the place of the flag, in the same versions: the id of a KRaft controller."""
_HEADER: Layout = (("api", ">h", 0), ("version", ">h", 0), ("correlation", ">i", 0))
_LEADERSHIP: Layout = (
    ("controller_epoch", ">i", 0),
    ("leader", ">i", 0),
    ("leader_epoch", ">i", 0),
    ("isr", _INTS, 0),
)
LAYOUTS: Mapping[int, Layout] = {
    LEADER_AND_ISR: (
        ("controller_id", ">i", 0),
        (_SENDER, ">?", 7),
        ("controller_epoch", ">i", 0),
        ("broker_epoch", ">q", 2),
        ("type", ">b", 5),
        (
            "topics",
            (
                ("name", "string", 2),
                ("id", "uuid", 5),
                (
                    "partitions",
                    (
                        ("index", ">i", 0),
                        *_LEADERSHIP,
                        ("partition_epoch", ">i", 0),
                        ("replicas", _INTS, 0),
                        ("adding", _INTS, 3),
                        ("removing", _INTS, 3),
                        ("is_new", ">?", 1),
                        ("leader_recovery_state", ">b", 6),
                    ),
                    0,
                ),
            ),
            2,
        ),
        ("live_leaders", (("id", ">i", 0), ("host", "string", 0), ("port", ">i", 0)), 0),
    ),
    STOP_REPLICA: (
        ("controller_id", ">i", 0),
        (_SENDER, ">?", 4),
        ("controller_epoch", ">i", 0),
        ("broker_epoch", ">q", 1),
        (
            "topics",
            (
                ("name", "string", 3),
                ("partitions", (("index", ">i", 0), ("leader_epoch", ">i", 0), ("is_deleted", ">?", 0)), 0),
            ),
            3,
        ),
    ),
    UPDATE_METADATA: (
        ("controller_id", ">i", 0),
        (_SENDER, ">?", 8),
        ("controller_epoch", ">i", 0),
        ("broker_epoch", ">q", 5),
        (
            "topics",
            (
                ("name", "string", 5),
                ("id", "uuid", 7),
                (
                    "partitions",
                    (
                        ("index", ">i", 0),
                        *_LEADERSHIP,
                        ("zookeeper_version", ">i", 0),
                        ("replicas", _INTS, 0),
                        ("offline", _INTS, 4),
                    ),
                    0,
                ),
            ),
            5,
        ),
        (
            "live_brokers",
            (
                ("id", ">i", 0),
                (
                    "endpoints",
                    (("port", ">i", 0), ("host", "string", 0), ("listener", "string", 3), ("protocol", ">h", 0)),
                    1,
                ),
                ("rack", "string", 2),
            ),
            0,
        ),
    ),
}


@dataclass(frozen=True)
class ControlRequest:
    """One request that a controller sent; ``body`` has its fields by name, as in the layouts above."""

    api: int
    version: int
    correlation: int
    body: Mapping[str, Any]
    tags: Mapping[int, bytes] = field(default_factory=dict)
    """The tagged fields of the request itself, by tag."""
    left: int = 0
    """Bytes of the frame that no field of the layout accounts for."""

    @property
    def name(self) -> str:
        """Kafka's name of the request."""
        return NAMES.get(self.api, f"api {self.api}")


def decoded(frame: bytes) -> ControlRequest:
    """A request from its frame without the length; the body of another request than these three is empty.

    Of the two layouts that it may have, with a flag or with the id of a KRaft controller, it is the one that ends with
    the frame; the one with the flag if neither does. ClusterError where the frame ends too early, or for a version
    before the first flexible one.
    """
    reader = FrameReader(frame)
    header = reader.fields(_HEADER, 0)
    api, version = header["api"], header["version"]
    if api not in LAYOUTS:
        return ControlRequest(api, version, header["correlation"], {})
    if version < _FIRST_FLEXIBLE[api]:
        raise ClusterError(f"{NAMES[api]}: expected version {_FIRST_FLEXIBLE[api]} or later, got {version}")
    reader.skip_client_id()
    reader.tags()
    read = ControlRequest(api, version, header["correlation"], {})
    with suppress(ClusterError, UnicodeDecodeError):
        drafted = _read(read, reader.copy(), _with_id(LAYOUTS[api]))
        if not drafted.left and _SENDER_ID[0] in drafted.body:
            return drafted
    return _read(read, reader, LAYOUTS[api])


def _read(request: ControlRequest, reader: "FrameReader", layout: Layout) -> ControlRequest:
    body = reader.fields(layout, request.version)
    tags = reader.tags()
    return replace(request, body=body, tags=tags, left=reader.left)


def _with_id(layout: Layout) -> Layout:
    """The layout with an id in the place of the flag."""
    return tuple((*_SENDER_ID, since) if name == _SENDER else (name, kind, since) for name, kind, since in layout)


def answer_to(request: ControlRequest) -> bytes:
    """The frame, with its length, by which a broker accepts one of these requests: no error, for each partition."""
    body = struct.pack(">h", 0) + (b"" if request.api == UPDATE_METADATA else b"\x01") + b"\x00"
    return framed(struct.pack(">i", request.correlation) + b"\x00" + body)


def empty_update_metadata_at(broker: Peer | str, kraft_controller_id: int) -> str:
    """Send an UpdateMetadata that holds nothing, in the layout with an id; Kafka's name of the error, or ``CLOSED``.

    It comes from a later controller than any before, since its epoch is the highest; no broker epoch is given.
    """
    header = struct.pack(">hhi", UPDATE_METADATA, 8, CORRELATION_ID) + b"\x00\x00" + b"\x00"
    body = struct.pack(">iiiq", -1, kraft_controller_id, (1 << 31) - 1, -1) + b"\x01\x01\x00"
    try:
        answer = answer_to_frame(broker, header + body)
    except AwaitTimeoutError as unanswered:
        if isinstance(unanswered.__cause__, EOFError | ConnectionResetError):
            return "CLOSED"
        raise
    return named(ErrorCode(struct.unpack(">h", answer[5:7])[0]))


class FrameReader:
    """Reads flexible fields one after the other; ClusterError where the frame ends too early."""

    def __init__(self, frame: bytes, at: int = 0) -> None:
        self._frame = frame
        self._at = at

    def copy(self) -> "FrameReader":
        """Another one that goes on from here."""
        return FrameReader(self._frame, self._at)

    @property
    def left(self) -> int:
        """Bytes that were not read yet."""
        return len(self._frame) - self._at

    def fields(self, layout: Layout, version: int) -> dict[str, Any]:
        """Those of this version, by name."""
        return {name: self._value(kind, version) for name, kind, since in layout if since <= version}

    def tags(self) -> dict[int, bytes]:
        """Tagged fields, by tag."""
        return {self._unsigned(): self._bytes(self._unsigned()) for _ in range(self._unsigned())}

    def skip_client_id(self) -> None:
        """The one string of a header that is not compact."""
        self._bytes(max(0, struct.unpack(">h", self._bytes(2))[0]))

    def _value(self, kind: Any, version: int) -> Any:
        match kind:
            case "string":
                length = self._unsigned()
                return self._bytes(length - 1).decode() if length else None
            case "uuid":
                return str(uuid.UUID(bytes=self._bytes(16)))
            case "ints":
                return [struct.unpack(">i", self._bytes(4))[0] for _ in range(self._unsigned() - 1)]
            case str():
                return struct.unpack(kind, self._bytes(struct.calcsize(kind)))[0]
            case _:
                return [self._element(kind, version) for _ in range(self._unsigned() - 1)]

    def _element(self, layout: Layout, version: int) -> dict[str, Any]:
        element = self.fields(layout, version)
        self.tags()
        return element

    def _unsigned(self) -> int:
        value, shift = 0, 0
        while True:
            byte = self._bytes(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def _bytes(self, count: int) -> bytes:
        if count > self.left:
            raise ClusterError(f"expected {count} more bytes of a control request, got {self.left}")
        self._at += count
        return self._frame[self._at - count : self._at]
