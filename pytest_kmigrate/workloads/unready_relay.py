"""A relay before a controller: all that reaches the controller by it reads that it is not ready to migrate.

It passes on each request and each answer as they are, besides ``ZkMigrationReady`` in answers to ApiVersions.
"""

import io
import socket
import struct
import threading
from dataclasses import replace
from importlib import import_module
from typing import Self

from kio.serial import entity_reader
from kio.serial.errors import DecodeError

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.wire.control_requests import API_VERSIONS
from pytest_kmigrate.wire.frame_server import FrameServer, written
from pytest_kmigrate.wire.request import ANSWER_WITHIN_S, framed

_VERSIONS_WITH_TAGS = (3, 4)


class UnreadyRelay:
    """Listens on a loopback address from its beginning to ``close``; a context manager."""

    def __init__(self, address: str) -> None:
        """``address`` is the controller's, as ``host:port``."""
        self.rewritten = threading.Event()
        """Whether any process has read in an answer that the controller is not ready."""
        self._address = address
        self._server = FrameServer(("127.0.0.1", 0), self._passed_on)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it listens, as ``host:port``."""
        host, port = self._server.server_address[:2]
        return f"{host!s}:{port}"

    def close(self) -> None:
        """Listen no more; safe to call twice."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _passed_on(self, frame: bytes) -> bytes:
        answer = self._answer(frame)
        api, version = struct.unpack(">hh", frame[:4])
        if api != API_VERSIONS or version not in _VERSIONS_WITH_TAGS:
            return framed(answer)
        response = import_module(f"kio.schema.api_versions.v{version}.response").ApiVersionsResponse
        correlation, body = answer[:4], answer[4:]
        try:
            said = entity_reader(response)(memoryview(body), 0)[0]
        except DecodeError as error:
            raise ClusterError(f"{self._address}: expected an answer to ApiVersions, got {error}") from error
        self.rewritten.set()
        return framed(correlation + written(replace(said, zk_migration_ready=False)))

    def _answer(self, frame: bytes) -> bytes:
        """The controller's answer, over a connection of its own; ClusterError when it gives none."""
        host, _, port = self._address.rpartition(":")
        try:
            with socket.create_connection((host, int(port)), ANSWER_WITHIN_S) as upstream:
                upstream.sendall(framed(frame))
                stream: io.BufferedReader = upstream.makefile("rb")
                answer = stream.read(int.from_bytes(stream.read(4), "big"))
        except OSError as error:
            raise ClusterError(f"{self._address}: expected an answer, got {error}") from error
        if not answer:
            raise ClusterError(f"{self._address}: expected an answer, got none")
        return answer
