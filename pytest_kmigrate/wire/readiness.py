"""What a node answers to ApiVersions about its readiness to migrate, byte for byte.

kio reads the field as a boolean; an early draft of KIP-866 has a number in its place, and in a later version only.
"""

import struct
from collections.abc import Mapping
from importlib import import_module

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import API_VERSIONS, FrameReader
from pytest_kmigrate.wire.request import CLIENT_ID, answer_to_frame, frame_of

_VERSIONS = (3, 4)
_READY_TAG = 3
_NONE = 0
_API_KEYS = (("key", ">h", 0), ("lowest", ">h", 0), ("highest", ">h", 0))
_ANSWER = (("api_keys", _API_KEYS, 0), ("throttled_ms", ">i", 0))


def readiness_at(peer: Peer | str, within_s: float) -> Mapping[str, int | None]:
    """By version of ApiVersions that the node answers, the number in ``ZkMigrationReady``; None: it is not sent.

    A version that the node refuses is left out. Errors are those of ``wire.ask``.
    """
    answers = {str(version): _answer(peer, version, within_s) for version in _VERSIONS}
    return {version: _ready(tags) for version, tags in answers.items() if tags is not None}


def _answer(peer: Peer | str, version: int, within_s: float) -> Mapping[int, bytes] | None:
    """The tagged fields of the answer; None when the node does not know the version."""
    request = import_module(f"kio.schema.api_versions.v{version}.request").ApiVersionsRequest
    frame = frame_of(request(client_software_name=CLIENT_ID, client_software_version="1"))
    answer = answer_to_frame(peer, frame, within_s=within_s)
    if len(answer) < 6:
        raise ClusterError(f"expected an answer to ApiVersions (request {API_VERSIONS}), got {len(answer)} bytes")
    _, error = struct.unpack(">ih", answer[:6])
    if error != _NONE:
        return None
    reader = FrameReader(answer, 6)
    reader.fields(_ANSWER, version)
    return reader.tags()


def _ready(tags: Mapping[int, bytes]) -> int | None:
    return int.from_bytes(tags[_READY_TAG], "big") if _READY_TAG in tags else None
