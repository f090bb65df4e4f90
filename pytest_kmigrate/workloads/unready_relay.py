"""A relay before a controller: all that reaches the controller by it reads that it is not ready to migrate.

It passes on each request and each answer as they are, besides ``ZkMigrationReady`` in answers to ApiVersions.
"""

import struct
import threading
from dataclasses import replace
from importlib import import_module

from kio.serial.errors import DecodeError

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.control_requests import API_VERSIONS
from pytest_kmigrate.wire.frame_server import LOOPBACK, FrameServer, written
from pytest_kmigrate.wire.request import answer_to_frame, decoded_as, framed

_VERSIONS_WITH_TAGS = (3, 4)


class UnreadyRelay(FrameServer):
    """Listens from its beginning to ``close``."""

    def __init__(self, controller: Peer, host: str = LOOPBACK) -> None:
        self.rewritten = threading.Event()
        """Whether any process has read in an answer that the controller is not ready."""
        self._controller = controller
        super().__init__(host)

    def receive(self, frame: bytes) -> bytes:
        """The controller's answer, over a connection of its own."""
        answer = answer_to_frame(self._controller, frame)
        api, version = struct.unpack(">hh", frame[:4])
        if api != API_VERSIONS or version not in _VERSIONS_WITH_TAGS:
            return framed(answer)
        response = import_module(f"kio.schema.api_versions.v{version}.response").ApiVersionsResponse
        try:
            said = decoded_as(response, answer)
        except DecodeError as error:
            raise ClusterError(f"{self._controller.address}: expected an answer to ApiVersions, got {error}") from error
        self.rewritten.set()
        return framed(answer[:4] + written(replace(said, zk_migration_ready=False)))
