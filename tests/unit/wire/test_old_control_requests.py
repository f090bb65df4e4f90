"""Control requests of before KIP-866: their bytes in each version, and what counts as a version that is taken."""

import struct

import pytest

from pytest_kmigrate.wire import old_control_requests
from pytest_kmigrate.wire.control_requests import LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA
from pytest_kmigrate.wire.old_control_requests import old_request, versions_taken

IDS = struct.pack(">ii", 0, 0)
EPOCH = struct.pack(">q", -1)
NONE, COMPACT = struct.pack(">i", 0), b"\x01"


@pytest.mark.parametrize(
    ("api", "version", "body"),
    [
        (LEADER_AND_ISR, 0, IDS + NONE + NONE),
        (LEADER_AND_ISR, 2, IDS + EPOCH + NONE + NONE),
        (LEADER_AND_ISR, 4, b"\x00" + IDS + EPOCH + COMPACT + COMPACT + b"\x00"),
        (LEADER_AND_ISR, 6, b"\x00" + IDS + EPOCH + b"\x00" + COMPACT + COMPACT + b"\x00"),
        (STOP_REPLICA, 0, IDS + b"\x00" + NONE),
        (STOP_REPLICA, 2, b"\x00" + IDS + EPOCH + b"\x00" + COMPACT + b"\x00"),
        (STOP_REPLICA, 3, b"\x00" + IDS + EPOCH + COMPACT + b"\x00"),
        (UPDATE_METADATA, 4, IDS + NONE + NONE),
        (UPDATE_METADATA, 7, b"\x00" + IDS + EPOCH + COMPACT + COMPACT + b"\x00"),
    ],
)
def test_a_request_has_the_fields_of_its_version(api: int, version: int, body: bytes) -> None:
    """After api, version, correlation and client."""
    frame = old_request(api, version)
    assert struct.unpack_from(">hh", frame) == (api, version)
    assert frame.endswith(body)
    assert len(frame) == len(body) + 8 + struct.unpack_from(">h", frame, 8)[0] + 2


def test_a_version_is_taken_if_it_is_read_and_refused_as_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that dropped version 0 answers another error."""

    def answer(_: object, frame: bytes, *, within_s: float) -> bytes:
        api, version = struct.unpack_from(">hh", frame)
        is_flexible = version >= {LEADER_AND_ISR: 4, STOP_REPLICA: 2, UPDATE_METADATA: 6}[api]
        return struct.pack(">i", 1) + b"\x00" * is_flexible + struct.pack(">h", 35 if version == 0 else 11)

    monkeypatch.setattr(old_control_requests, "answer_to_frame", answer)
    assert versions_taken("broker:9092") == {
        "LeaderAndIsr": [1, 2, 3, 4, 5, 6],
        "StopReplica": [1, 2, 3],
        "UpdateMetadata": [1, 2, 3, 4, 5, 6, 7],
    }
