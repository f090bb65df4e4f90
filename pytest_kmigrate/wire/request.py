"""One raw request to one chosen broker: what an admin client cannot promise, since it picks the broker itself."""

import io
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from kio.schema.api_versions.v3.request import ApiVersionsRequest
from kio.schema.api_versions.v3.response import ApiVersionsResponse
from kio.schema.errors import ErrorCode
from kio.schema.sasl_authenticate.v2.request import SaslAuthenticateRequest
from kio.schema.sasl_authenticate.v2.response import SaslAuthenticateResponse
from kio.schema.sasl_handshake.v1.request import SaslHandshakeRequest
from kio.schema.sasl_handshake.v1.response import SaslHandshakeResponse
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import DecodeError
from kio.static.primitive import i32, i32Timedelta

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.wire.oauth import bearer, token_of
from pytest_kmigrate.wire.scram import ScramClient

ANSWER_WITHIN_S = 30
"""How long a broker may take to answer, by default: one that has just started, on a slow machine."""

CLIENT_ID = "kmigrate-raw"
CORRELATION_ID = 1
"""Each request waits for its answer, so one number is enough."""

TOKEN_LOGIN = "tokenauth"  # noqa: S105 - a property's name
"""A Peer that has this among its security properties is logged in to by a delegation token; librdkafka cannot."""

Answer = TypeVar("Answer")


class UnsupportedRequestError(ClusterError):
    """A broker does not know such a request, which it says by closing the connection; nothing can have happened."""


def peers(connection: Mapping[str, str]) -> list[Peer]:
    """The brokers that librdkafka would begin with, given these properties."""
    return [Peer(address, connection) for address in connection["bootstrap.servers"].split(",")]


def ask(peer: Peer | str, request: Any, answer_type: type[Answer], within_s: float = ANSWER_WITHIN_S) -> Answer:
    """Send a request (an instance of one of kio's message classes) to a broker; the broker's answer.

    ClusterError: nothing was sent, so nothing can have happened; UnsupportedRequestError when the broker does not know
    it. AwaitTimeoutError: it was sent and the answer is missing, so it may have happened.
    """
    to = _plain(peer)
    try:
        return _asked(to, request, answer_type, within_s)
    except AwaitTimeoutError as unanswered:
        if isinstance(unanswered.__cause__, EOFError) and _is_unknown_to(to, request, within_s):
            name, version = type(request).__name__, request.__version__
            raise UnsupportedRequestError(f"{to.address} does not know {name}, version {version}") from unanswered
        raise


def api_versions(peer: Peer | str, *, within_s: float = ANSWER_WITHIN_S) -> ApiVersionsResponse:
    """What requests a broker knows, and its finalized features."""
    request = ApiVersionsRequest(client_software_name=CLIENT_ID, client_software_version="1")
    return _asked(_plain(peer), request, ApiVersionsResponse, within_s)


def answer_to_frame(peer: Peer | str, frame: bytes, *, within_s: float = ANSWER_WITHIN_S) -> bytes:
    """The frame that answers one that is sent as it is, both without their length; errors are those of ``ask``.

    It is for requests in layouts that kio does not have.
    """
    to = _plain(peer)
    deadline = time.monotonic() + within_s
    with _connected(to, "a frame", deadline) as connection:
        try:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            connection.sendall(framed(frame))
            return _frame(connection, deadline)
        except (OSError, EOFError) as error:
            awaited = f"answer of {to.address} to a frame"
            raise AwaitTimeoutError(awaited, within_s, f"{type(error).__name__}: {error}") from error


def frame_of(request: Any) -> bytes:
    """The frame of one of kio's messages without its length."""
    return _encoded(request)[4:]


def decoded_as(answer_type: type[Answer], frame: bytes) -> Answer:
    """An answer of one of kio's message classes from its frame without the length."""
    answer: Answer = _decoded(frame, answer_type)
    return answer


@contextmanager
def conversation(
    peer: Peer | str, within_s: float = ANSWER_WITHIN_S
) -> Iterator[Callable[[Any, type[Answer]], Answer]]:
    """One connection to a broker for as long as the block lasts, and a function that asks on it, as ``ask`` does.

    ClusterError when the broker takes no connection; AwaitTimeoutError when it does not answer, or has hung up.
    """
    to = _plain(peer)
    with _connected(to, "a conversation", time.monotonic() + within_s) as connection:

        def answered(request: Any, answer_type: type[Answer]) -> Answer:
            return _exchanged(connection, to, request, answer_type, within_s, time.monotonic() + within_s)

        yield answered


def _plain(peer: Peer | str) -> Peer:
    """An address alone is that of a listener without protection."""
    return Peer(peer) if isinstance(peer, str) else peer


def _is_unknown_to(peer: Peer, request: Any, within_s: float) -> bool:
    """Whether the broker says so; one that is gone says nothing."""
    try:
        reported = api_versions(peer, within_s=within_s).api_keys
    except ClusterError:
        return False
    return not any(
        each.api_key == request.__api_key__ and each.min_version <= request.__version__ <= each.max_version
        for each in reported
    )


def _asked(peer: Peer, request: Any, answer_type: type[Answer], within_s: float) -> Answer:
    deadline = time.monotonic() + within_s
    with _connected(peer, type(request).__name__, deadline) as connection:
        return _exchanged(connection, peer, request, answer_type, within_s, deadline)


def _exchanged(
    connection: socket.socket, peer: Peer, request: Any, answer_type: type[Answer], within_s: float, deadline: float
) -> Answer:
    try:
        answer: Answer = _exchange(connection, request, answer_type, deadline)
    except (OSError, EOFError, DecodeError) as error:
        awaited = f"answer of {peer.address} to {type(request).__name__}"
        raise AwaitTimeoutError(awaited, within_s, f"{type(error).__name__}: {error}") from error
    return answer


def first_answering(candidates: Sequence[Peer], within_s: float = 2) -> Peer:
    """The first of these that answers; ClusterError when none does.

    A proxy takes connections for a broker that is away, so that a connection alone shows nothing.
    """
    refusals = []
    for peer in candidates:
        try:
            api_versions(peer, within_s=within_s)
        except ClusterError as error:
            refusals.append(f"{peer.address}: {error}")
        else:
            return peer
    raise ClusterError(f"expected a broker that answers; got {'; '.join(refusals) or 'no address'}")


def as_timeout(seconds: float) -> i32Timedelta:
    """A timeout as messages hold it."""
    return i32Timedelta.parse(timedelta(milliseconds=int(seconds * 1000)))


def _dial(peer: Peer, within_s: float) -> socket.socket:
    host, _, port = peer.address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=within_s)


def _connected(peer: Peer, wanted_for: str, deadline: float) -> socket.socket:
    """A connection on which requests are taken; whatever goes wrong up to here has changed nothing."""
    try:
        connection = _dial(peer, max(0.001, deadline - time.monotonic()))
    except OSError as error:
        raise ClusterError(
            f"{wanted_for}: expected a broker at {peer.address}; got {error.strerror or error}"
        ) from error
    try:
        protocol = peer.security.get("security.protocol", "PLAINTEXT").upper()
        if protocol.endswith("SSL"):
            connection = _encrypted(connection, peer)
        if protocol.startswith("SASL"):
            _authenticate(connection, peer.security, deadline)
    except (OSError, EOFError, DecodeError) as error:
        connection.close()
        raise ClusterError(f"{wanted_for}: expected {peer.address} to let us in; got {error!r}") from error
    except ClusterError:
        connection.close()
        raise
    return connection


def _encrypted(connection: socket.socket, peer: Peer) -> socket.socket:
    context = ssl.create_default_context(cafile=peer.security.get("ssl.ca.location"))
    context.check_hostname = peer.security.get("ssl.endpoint.identification.algorithm", "https") == "https"
    if certificate := peer.security.get("ssl.certificate.location"):
        context.load_cert_chain(certificate, peer.security.get("ssl.key.location"))
    return context.wrap_socket(connection, server_hostname=peer.address.rpartition(":")[0])


def named(code: ErrorCode) -> str:
    """Kafka's own name of an error, "NONE" for none."""
    return code.name.upper()


def framed(message: bytes) -> bytes:
    """A message as it goes over the wire, its length before it."""
    return len(message).to_bytes(4, "big") + message


def _authenticate(connection: socket.socket, security: Mapping[str, str], deadline: float) -> None:
    mechanism = security.get("sasl.mechanism") or security["sasl.mechanisms"]
    handshake = _exchange(connection, SaslHandshakeRequest(mechanism=mechanism), SaslHandshakeResponse, deadline)
    if handshake.error_code is not ErrorCode.none:
        offered = ", ".join(handshake.mechanisms)
        raise ClusterError(f"expected a broker that takes {mechanism}; got {offered}; set sasl.mechanism")

    def notify(message: bytes) -> bytes:
        request = SaslAuthenticateRequest(auth_bytes=message)
        answer: SaslAuthenticateResponse = _exchange(connection, request, SaslAuthenticateResponse, deadline)
        if answer.error_code is not ErrorCode.none:
            raise ClusterError(f"expected to be let in; got {named(answer.error_code)}: {answer.error_message}")
        return answer.auth_bytes

    if mechanism == "OAUTHBEARER":
        notify(bearer(token_of(security)))
        return
    user, password = security["sasl.username"], security["sasl.password"]
    if mechanism == "PLAIN":
        notify(f"\0{user}\0{password}".encode())
        return
    client = ScramClient(mechanism, user, password, is_token=TOKEN_LOGIN in security)
    client.verify(notify(client.final(notify(client.first()))))


def _exchange(connection: socket.socket, request: Any, answer_type: Any, deadline: float) -> Any:
    connection.settimeout(max(0.001, deadline - time.monotonic()))
    connection.sendall(_encoded(request))
    return _decoded(_frame(connection, deadline), answer_type)


def _frame(connection: socket.socket, deadline: float) -> bytes:
    """The next frame without its length."""
    return _bytes(connection, int.from_bytes(_bytes(connection, 4, deadline), "big"), deadline)


def _encoded(request: Any) -> bytes:
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
    return framed(buffer.getvalue())


def _decoded(message: bytes, answer_type: Any) -> Any:
    """The answer in a frame (without its length)."""
    _, after_header = entity_reader(answer_type.__header_schema__)(message, 0)
    answer, _ = entity_reader(answer_type)(message, after_header)
    return answer


def _bytes(connection: socket.socket, count: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < count:
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        piece = connection.recv(count - len(received))
        if not piece:
            raise EOFError("the broker closed the connection")
        received += piece
    return bytes(received)
