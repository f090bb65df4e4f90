"""Control requests in every version from before KIP-866, without a topic: a broker answers those that it knows."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from kio.schema.errors import ErrorCode

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import LEADER_AND_ISR, NAMES, STOP_REPLICA, UPDATE_METADATA
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, CLIENT_ID, CORRELATION_ID, answer_to_frame, named

LAST_BEFORE: Mapping[int, int] = {LEADER_AND_ISR: 6, STOP_REPLICA: 3, UPDATE_METADATA: 7}
"""By request: its highest version before KIP-866."""
OF_NO_CONTROLLER = "STALE_CONTROLLER_EPOCH"
"""The answer of a broker that read such a request: no controller has its epoch any more."""

_FIRST_FLEXIBLE = {LEADER_AND_ISR: 4, STOP_REPLICA: 2, UPDATE_METADATA: 6}
_CONTROLLER_ID, _CONTROLLER_EPOCH, _BROKER_EPOCH = 0, 0, -1
_ARRAY = "array"
_FIELDS: Mapping[int, Sequence[tuple[str, int, int | None, object]]] = {
    LEADER_AND_ISR: (
        (">i", 0, None, _CONTROLLER_ID),
        (">i", 0, None, _CONTROLLER_EPOCH),
        (">q", 2, None, _BROKER_EPOCH),
        (">b", 5, None, 0),
        (_ARRAY, 0, None, ()),
        (_ARRAY, 0, None, ()),
    ),
    STOP_REPLICA: (
        (">i", 0, None, _CONTROLLER_ID),
        (">i", 0, None, _CONTROLLER_EPOCH),
        (">q", 1, None, _BROKER_EPOCH),
        (">?", 0, 2, False),
        (_ARRAY, 0, None, ()),
    ),
    UPDATE_METADATA: (
        (">i", 0, None, _CONTROLLER_ID),
        (">i", 0, None, _CONTROLLER_EPOCH),
        (">q", 5, None, _BROKER_EPOCH),
        (_ARRAY, 0, None, ()),
        (_ARRAY, 0, None, ()),
    ),
}
"""Type, first version, last version (None: all later ones) and value of each field, in order."""


def old_request(api: int, version: int) -> bytes:
    """The frame of an empty request, without its length."""
    is_flexible = version >= _FIRST_FLEXIBLE[api]
    header = struct.pack(">hhi", api, version, CORRELATION_ID) + struct.pack(">h", len(CLIENT_ID)) + CLIENT_ID.encode()
    tags = b"\x00" if is_flexible else b""
    return header + tags + b"".join(_fields(api, version, is_flexible=is_flexible)) + tags


def versions_taken(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> dict[str, list[int]]:
    """By the name of each control request, the versions from before KIP-866 that a broker reads and refuses as stale.

    A broker that does not know a version closes the connection, or answers another error.
    """
    return {
        NAMES[api]: [
            version for version in range(last + 1) if _answer(peer, api, version, within_s) == OF_NO_CONTROLLER
        ]
        for api, last in LAST_BEFORE.items()
    }


def _answer(peer: Peer | str, api: int, version: int, within_s: float) -> str:
    with suppress(AwaitTimeoutError):
        answer = answer_to_frame(peer, old_request(api, version), within_s=within_s)
        (code,) = struct.unpack_from(">h", answer, struct.calcsize(">i") + (version >= _FIRST_FLEXIBLE[api]))
        return named(ErrorCode(code))
    return ""


def _fields(api: int, version: int, *, is_flexible: bool) -> Iterator[bytes]:
    for kind, first, last, value in _FIELDS[api]:
        if first <= version and (last is None or version <= last):
            empty = b"\x01" if is_flexible else struct.pack(">i", 0)
            yield empty if kind == _ARRAY else struct.pack(kind, value)
