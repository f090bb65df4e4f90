"""The serving end of Kafka's protocol, for stubs: frames come in, answers go out."""

import io
import socketserver
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from kio.schema.api_versions.v0.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer
from kio.static.primitive import i16

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.request import framed


class FrameServer(socketserver.ThreadingTCPServer):
    """Hands each frame that arrives on any connection to a function, and sends its answer back.

    A connection ends when the function raises ClusterError.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, address: tuple[str, int], receive: Callable[[bytes], bytes]) -> None:
        """``receive`` gets frames without their length, and returns one with it."""
        self.receive = receive
        super().__init__(address, _Connection)


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Serve until the other side hangs up."""
        assert isinstance(self.server, FrameServer)
        with suppress(OSError, ClusterError):
            while frame := self.rfile.read(int.from_bytes(self.rfile.read(4), "big")):
                self.wfile.write(self.server.receive(frame))


def api_versions_answer(version: int, correlation: int, highest: Mapping[int, int]) -> bytes:
    """What a stub knows, by request the highest version; an answer of version 0, which every client reads.

    To a later version it carries the error by which clients ask again.
    """
    error = ErrorCode.none if version == 0 else ErrorCode.unsupported_version
    keys = tuple(
        ApiVersion(api_key=i16(key), min_version=i16(0), max_version=i16(each)) for key, each in highest.items()
    )
    return framed(struct.pack(">i", correlation) + written(ApiVersionsResponse(error_code=error, api_keys=keys)))


def written(message: Any) -> bytes:
    """One of kio's messages as bytes, without a header."""
    buffer = io.BytesIO()
    entity_writer(type(message))(buffer, message)
    return buffer.getvalue()
