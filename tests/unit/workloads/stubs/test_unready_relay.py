"""A relay that lets a controller seem not ready: what it changes, and that it changes nothing else."""

from datetime import timedelta

import pytest
from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.api_versions.v3.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.static.primitive import i16, i32Timedelta

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.frame_server import FrameServer, written
from pytest_kmigrate.wire.request import answer_to_frame, ask, framed
from pytest_kmigrate.workloads.unready_relay import UnreadyRelay

ANSWER = ApiVersionsResponse(
    error_code=ErrorCode.none,
    api_keys=(ApiVersion(api_key=i16(18), min_version=i16(0), max_version=i16(4)),),
    throttle_time=i32Timedelta.parse(timedelta()),
    zk_migration_ready=True,
)
OTHER = b"\x00\x01\x00\x0c\x00\x00\x00\x07"
"""The header of a Fetch."""


class Controller(FrameServer):
    """It is ready to migrate, and sends back whatever else it gets."""

    def receive(self, frame: bytes) -> bytes:
        """By the number of the request."""
        return framed(frame if frame[:2] != b"\x00\x12" else frame[4:8] + written(ANSWER))


def test_only_the_readiness_in_answers_to_api_versions_is_another() -> None:
    """All the rest arrives as it was sent; that the relay was asked is known."""
    request = ApiVersionsRequest(client_software_name="it", client_software_version="1")
    with Controller() as controller, UnreadyRelay(Peer(controller.address)) as relay:
        assert answer_to_frame(relay.address, OTHER) == OTHER
        assert not relay.rewritten.is_set()
        heard = ask(relay.address, request, ApiVersionsResponse)
        assert (heard.api_keys, heard.zk_migration_ready) == (ANSWER.api_keys, False)
        assert relay.rewritten.is_set()


def test_a_controller_that_is_down_ends_the_connection() -> None:
    """As it would itself."""
    with UnreadyRelay(Peer("127.0.0.1:1")) as relay, pytest.raises(ClusterError):
        answer_to_frame(relay.address, OTHER, within_s=5)
