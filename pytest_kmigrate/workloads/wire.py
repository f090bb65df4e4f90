"""One raw request to one chosen broker: what an admin client cannot promise, since it picks the broker itself."""

import io
import socket
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

from kio.serial import entity_reader, entity_writer
from kio.serial.errors import DecodeError
from kio.static.primitive import i32, i32Timedelta

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError

CLIENT_ID = "kmigrate-raw"
CORRELATION_ID = 1
"""One request per connection, so one number is enough."""

Answer = TypeVar("Answer")


def ask(address: str, request: Any, answer_type: type[Answer], within_s: float = 10) -> Answer:
    """Send a request (an instance of one of kio's message classes) to ``host:port``; the broker's answer.

    ClusterError: nothing was sent, so nothing can have happened. AwaitTimeoutError: it was sent and the answer is
    missing, so it may have happened.
    """
    deadline = time.monotonic() + within_s
    host, _, port = address.rpartition(":")
    try:
        connection = socket.create_connection((host, int(port)), timeout=within_s)
    except OSError as error:
        raise ClusterError(f"{type(request).__name__}: expected a broker at {address}; got {error}") from error
    with connection:
        frame = encoded(request)
        try:
            connection.sendall(frame)
            answer: Answer = decoded(_frame(connection, deadline), answer_type)
        except (OSError, EOFError, DecodeError) as error:
            awaited = f"answer of {address} to {type(request).__name__}"
            raise AwaitTimeoutError(awaited, within_s, f"{type(error).__name__}: {error}") from error
    return answer


def first_reachable(addresses: Sequence[str], within_s: float = 2) -> str:
    """The first of these ``host:port`` that takes a connection; ClusterError when none does."""
    refusals = []
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=within_s).close()
        except OSError as error:
            refusals.append(f"{address}: {error}")
        else:
            return address
    raise ClusterError(f"expected a broker to take a connection; got {'; '.join(refusals) or 'no address'}")


def encoded(request: Any) -> bytes:
    """The frame of a request: length, header, message."""
    header_type = request.__header_schema__
    header = header_type(
        request_api_key=request.__api_key__,
        request_api_version=request.__version__,
        correlation_id=i32(CORRELATION_ID),
        client_id=CLIENT_ID,
    )
    buffer = io.BytesIO()
    entity_writer(header_type)(buffer, header)
    entity_writer(type(request))(buffer, request)
    message = buffer.getvalue()
    return len(message).to_bytes(4, "big") + message


def decoded(message: bytes, answer_type: Any) -> Any:
    """The answer in a frame (without its length)."""
    _, after_header = entity_reader(answer_type.__header_schema__)(message, 0)
    answer, _ = entity_reader(answer_type)(message, after_header)
    return answer


def as_timeout(seconds: float) -> i32Timedelta:
    """A timeout as messages hold it."""
    return i32Timedelta.parse(timedelta(milliseconds=int(seconds * 1000)))


def _frame(connection: socket.socket, deadline: float) -> bytes:
    length = int.from_bytes(_bytes(connection, 4, deadline), "big")
    return _bytes(connection, length, deadline)


def _bytes(connection: socket.socket, count: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < count:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        piece = connection.recv(count - len(received))
        if not piece:
            raise EOFError("the broker closed the connection")
        received += piece
    return bytes(received)
