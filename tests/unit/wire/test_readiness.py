"""Readiness to migrate, byte for byte: in answers to ApiVersions, and in registrations by an early draft of KIP-866."""

import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.wire.readiness import readiness_at
from pytest_kmigrate.wire.registration import Registration, register_at, register_with_tag_at

Answering = Callable[[bytes], bytes | None]
UNSUPPORTED = struct.pack(">ih", 1, 35)


@contextmanager
def node(answering: Answering) -> Iterator[str]:
    """A node that answers each frame so, and closes the connection at None; its address."""

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            frame = self.rfile.read(int.from_bytes(self.rfile.read(4), "big"))
            answer = answering(frame)
            if answer is not None:
                self.wfile.write(struct.pack(">i", len(answer)) + answer)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        host, port = server.server_address[:2]
        yield f"{host!s}:{port}"
        server.shutdown()
        thread.join()


def sending(tags: bytes) -> bytes:
    """An answer to ApiVersions with one request and these tagged fields."""
    return struct.pack(">ihbhhhbi", 1, 0, 2, 18, 0, 4, 0, 0) + tags


WITHOUT, ONE, SEVEN = (
    sending(b"\x00"),
    sending(b"\x01\x03\x01\x01"),
    sending(b"\x02\x01\x08" + bytes(8) + b"\x03\x01\x07"),
)


@pytest.mark.parametrize(
    ("v3", "v4", "expected"),
    [
        (WITHOUT, ONE, {"3": None, "4": 1}),
        (ONE, UNSUPPORTED, {"3": 1}),
        (UNSUPPORTED, SEVEN, {"4": 7}),
        (WITHOUT, WITHOUT, {"3": None, "4": None}),
    ],
)
def test_the_number_is_read_in_each_version(v3: bytes, v4: bytes, expected: dict[str, int | None]) -> None:
    """Beside other tagged fields; a version that is refused is left out."""
    with node(lambda frame: v3 if frame[2:4] == b"\x00\x03" else v4) as address:
        assert readiness_at(address, 5) == expected


def test_no_answer_is_an_error() -> None:
    """A node that closes the connection, and one that sends nothing of use."""
    with node(lambda _: None) as address, pytest.raises(AwaitTimeoutError, match="closed the connection"):
        readiness_at(address, 5)
    with node(lambda _: b"\x00") as address, pytest.raises(ClusterError, match="an answer to ApiVersions"):
        readiness_at(address, 5)


REGISTRATION = Registration(8, "cluster", 21, listeners={"INTERNAL": "127.0.0.1:9"})


@pytest.mark.parametrize(("ready", "tags"), [(None, b"\x00"), (0, b"\x01\x01\x01\x00"), (7, b"\x01\x01\x01\x07")])
def test_a_registration_ends_with_the_tag(ready: int | None, tags: bytes) -> None:
    """Version 1, with no flag before it; the answer is Kafka's name of the error."""
    frames = list[bytes]()

    def refused(frame: bytes) -> bytes:
        frames.append(frame)
        return struct.pack(">ibihqb", 1, 0, 0, 35, -1, 0)

    with node(refused) as address:
        assert register_with_tag_at(address, REGISTRATION, ready) == "UNSUPPORTED_VERSION"
    (frame,) = frames
    assert frame[:4] == struct.pack(">hh", 62, 1)
    # After the features, of which there is one, comes the rack, which is none.
    assert frame.endswith(struct.pack(">hhb", 21, 21, 0) + b"\x00" + tags)


def test_a_registration_that_cannot_be_read_is_closed() -> None:
    """Kafka answers nothing; silence is an error of ours, as always."""
    with node(lambda _: None) as address:
        assert register_with_tag_at(address, REGISTRATION, 1) == "CLOSED"


@pytest.mark.parametrize(("highest", "asked"), [(0, 0), (1, 1), (2, 2), (9, 4)])
def test_a_registration_is_of_the_highest_version_that_the_controller_knows(highest: int, asked: int) -> None:
    """And of none that we do not know; a version that is given is sent without asking."""
    frames = list[bytes]()

    def known(frame: bytes) -> bytes:
        frames.append(frame)
        if frame[1] == 18:
            return struct.pack(">ihbhhhbib", 1, 0, 2, 62, 0, highest, 0, 0, 0)
        return struct.pack(">ibihqb", 1, 0, 0, 0, 7, 0)

    with node(known) as address:
        assert register_at(address, REGISTRATION) == ("NONE", 7)
        assert register_at(address, replace(REGISTRATION, version=asked)) == ("NONE", 7)
    assert [struct.unpack(">hh", frame[:4]) for frame in frames] == [(18, 3), (62, asked), (62, asked)]
