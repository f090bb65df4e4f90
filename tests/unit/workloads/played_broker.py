"""A socket that plays a broker, connection after connection."""

import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kio.serial import entity_writer

Play = Callable[[socket.socket], None]


@contextmanager
def played_broker(*plays: Play) -> Iterator[str]:
    """One connection is taken for each, and played with; ``host:port``."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            for play in plays:
                connection, _ = server.accept()
                with connection:
                    play(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            thread.join()


def request_on(connection: socket.socket) -> bytes:
    """The next request, whole."""
    length = int.from_bytes(connection.recv(4), "big")
    received = b""
    while len(received) < length:
        received += connection.recv(length)
    return received


def answer_on(connection: socket.socket, header: bytes, answer: Any) -> None:
    """Send a message (an instance of one of kio's classes) behind the bytes of its header."""
    buffer = io.BytesIO()
    buffer.write(header)
    entity_writer(type(answer))(buffer, answer)
    frame = buffer.getvalue()
    connection.sendall(len(frame).to_bytes(4, "big") + frame)
