"""The serving end of Kafka's protocol, for stubs: frames come in, answers go out."""

import io
import socketserver
import struct
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from kio.schema.api_versions.v0.response import ApiVersion, ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.serial import entity_writer
from kio.static.primitive import i16

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.request import framed

LOOPBACK = "127.0.0.1"


class FrameServer(ABC):
    """Listens at an address of this machine from its beginning to ``close``; a context manager.

    It answers each frame that arrives on any connection, as soon as it listens: what ``receive`` uses must be there
    before.
    """

    def __init__(self, host: str = LOOPBACK) -> None:
        self._server = _Server((host, 0), _Connection)
        self._server.service = self
        self._serving = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._serving.start()

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    @abstractmethod
    def receive(self, frame: bytes) -> bytes:
        """The answer with its length to a frame without it; the connection ends by a ClusterError."""

    def close(self) -> None:
        """Listen no more; safe to call twice."""
        self._server.shutdown()
        self._server.server_close()
        self._serving.join(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    service: FrameServer


class _Connection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        """Serve until the other side hangs up."""
        assert isinstance(self.server, _Server)
        with suppress(OSError, ClusterError):
            while frame := self.rfile.read(int.from_bytes(self.rfile.read(4), "big")):
                self.wfile.write(self.server.service.receive(frame))


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
