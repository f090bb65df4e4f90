"""Control requests that are sent by us: the same bytes as those of a controller, and the broker's answer to them."""

import socket
import struct
from dataclasses import replace

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError
from pytest_kmigrate.wire.control_requests import UPDATE_METADATA, decoded
from pytest_kmigrate.wire.forging import encoded, send_control_request
from tests.unit.workloads.played_broker import played_broker, request_on
from tests.unit.workloads.stubs import test_stub_broker as real


@pytest.mark.parametrize("frame", [real.LEADER_AND_ISR, real.UPDATE_METADATA, real.STOP_REPLICA])
def test_a_real_frame_is_made_again_from_what_was_read(frame: bytes) -> None:
    """But for the name of the client, which is ours."""
    request = decoded(frame)
    assert decoded(encoded(request)) == request
    body = encoded(request).partition(b"kmigrate-raw\x00")[2]
    assert frame.endswith(body)
    assert body


def test_a_field_without_a_value_and_long_ones_are_written() -> None:
    """A rack that is none; more brokers than one byte counts."""
    request = decoded(real.UPDATE_METADATA)
    many = [dict(request.body["live_brokers"][0], rack=rack) for rack in (None, "r") for _ in range(100)]
    changed = replace(request, body={**request.body, "live_brokers": many, "broker_epoch": -1})
    assert decoded(encoded(changed)) == changed


def test_the_answer_is_the_error_of_the_broker() -> None:
    """By its name; a broker that hangs up may have taken the request in."""

    def play(connection: socket.socket) -> None:
        request_on(connection)
        answer = struct.pack(">i", 3) + b"\x00" + struct.pack(">h", 77) + b"\x00"
        connection.sendall(struct.pack(">i", len(answer)) + answer)

    request = decoded(real.UPDATE_METADATA)
    assert request.api == UPDATE_METADATA
    with played_broker(play) as address:
        assert send_control_request(address, request) == "STALE_BROKER_EPOCH"
    with played_broker(request_on) as address, pytest.raises(AwaitTimeoutError, match="a frame"):
        send_control_request(address, request)
