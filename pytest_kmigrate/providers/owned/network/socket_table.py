"""The kernel's table of TCP sockets with what each received and sent: NETLINK_SOCK_DIAG, as ``ss -ti`` prints it.

Layouts and numbers are those of Linux's uapi headers netlink.h, sock_diag.h, inet_diag.h and tcp.h; no privilege is
needed. Only IPv4: the proxies of links bind, and forward to, IPv4 addresses.
"""

import errno
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import NamedTuple

from pytest_kmigrate.providers.owned.network.namespaces import HERE, Namespace

_SKNLGRP_INET_TCP_DESTROY = 1
_NLMSG_ERROR = 2
_NLMSG_DONE = 3
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST_DUMP = 0x301
_INET_DIAG_INFO = 2
_CLOSE, _CLOSE_WAIT, _LAST_ACK, _CLOSING = 7, 8, 9, 11
_WITH_A_CONNECTION = (1, 4, 5, _CLOSE_WAIT, _LAST_ACK, _CLOSING)
"""States asked for: established, the two of FIN_WAIT, and these; the others have no counts."""
_AFTER_FIN = frozenset({_CLOSE, _CLOSE_WAIT, _LAST_ACK, _CLOSING})
"""The other side's FIN counts as a byte received; for a closed socket this is unknown, so it is counted."""

_HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length in bytes (this header included), type, flags, sequence, port id."""
_REQUEST = struct.Struct("=BBBxI48x")
"""inet_diag_req_v2: family, protocol, attributes wanted (bit n-1 for n), states wanted (bit n for n), any socket."""
_SOCKET = struct.Struct("=BBBB2s2s4s12x4s12x4x8s20x")
"""inet_diag_msg: family, state, timer, retransmits, ports and addresses of both ends, interface, cookie, the rest."""
_ATTRIBUTE = struct.Struct("=HH")
"""nlattr: length in bytes (this header included), type; padded to 4 bytes."""
_TCP_INFO = struct.Struct("=128xQ64xQQ")
"""tcp_info: tcpi_bytes_received (since Linux 4.1), tcpi_bytes_sent and tcpi_bytes_retrans (since 4.19), all payload.

What was sent includes what was sent again, which happens on loopback, too: an acknowledgement that is delayed is asked
for with a loss probe.
"""
_ENDINGS_BYTES = 1 << 22
_DATAGRAM_BYTES = 1 << 16


class TcpSocket(NamedTuple):
    """One end of a connection; addresses as ``host:port``, counts of payload over its whole life, each byte once."""

    local: str
    remote: str
    received_bytes: int
    sent_bytes: int


Sockets = Mapping[bytes, TcpSocket]
"""By the kernel's cookie, which no other socket ever gets."""


class SocketTable:
    """Every connection's end, also those that ended since this was made; OSError if the kernel does not report it."""

    def __init__(self, namespace: Namespace = HERE) -> None:
        self._ended: dict[bytes, TcpSocket] = {}
        self._namespace = namespace
        self._endings = namespace.netlink()
        try:
            self._endings.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _ENDINGS_BYTES)
            self._endings.settimeout(0)
            self._endings.bind((0, 1 << (_SKNLGRP_INET_TCP_DESTROY - 1)))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Hear of no more endings."""
        self._endings.close()

    def read(self) -> Sockets:
        """The table now."""
        live = dict(_dump(self._namespace))
        self._ended.update(self._heard())
        return {**live, **self._ended}

    def _heard(self) -> Iterator[tuple[bytes, TcpSocket]]:
        while True:
            try:
                datagram = self._endings.recv(_DATAGRAM_BYTES)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise
                continue  # more ended than the buffer holds: those that were lost count nothing, the others are there
            for _, body in _messages(datagram):
                yield from _parsed(body)


def _dump(namespace: Namespace) -> Iterator[tuple[bytes, TcpSocket]]:
    states = sum(1 << state for state in _WITH_A_CONNECTION)
    request = _REQUEST.pack(socket.AF_INET, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), states)
    header = _HEADER.pack(_HEADER.size + len(request), _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST_DUMP, 1, 0)
    with closing(namespace.netlink()) as asking:
        asking.send(header + request)
        while True:
            for kind, body in _messages(asking.recv(_DATAGRAM_BYTES)):
                if kind == _NLMSG_DONE:
                    return
                if kind == _NLMSG_ERROR:
                    code = -struct.unpack_from("=i", body)[0]
                    raise OSError(code, "the kernel reports nothing of its TCP sockets")
                yield from _parsed(body)


def _messages(datagram: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at < len(datagram):
        length, kind, *_ = _HEADER.unpack_from(datagram, at)
        yield kind, datagram[at + _HEADER.size : at + length]
        at += _padded(length)


def _parsed(body: bytes) -> Iterator[tuple[bytes, TcpSocket]]:
    """The socket a message describes; none when it carries no counts, as one that lingers in TIME_WAIT."""
    family, state, _, _, port, remote_port, host, remote_host, cookie = _SOCKET.unpack_from(body)
    info = _attributes(body[_SOCKET.size :]).get(_INET_DIAG_INFO)
    if info is None or family != socket.AF_INET:
        return
    if len(info) < _TCP_INFO.size:
        raise OSError(errno.ENOTSUP, "this kernel is too old to count a socket's bytes")
    received_bytes, sent_bytes, sent_again_bytes = _TCP_INFO.unpack_from(info)
    if state in _AFTER_FIN:
        received_bytes = max(0, received_bytes - 1)
    sent_once_bytes = sent_bytes - sent_again_bytes
    yield cookie, TcpSocket(_address(host, port), _address(remote_host, remote_port), received_bytes, sent_once_bytes)


def _attributes(body: bytes) -> dict[int, bytes]:
    found, at = {}, 0
    while at < len(body):
        length, kind = _ATTRIBUTE.unpack_from(body, at)
        found[kind] = body[at + _ATTRIBUTE.size : at + length]
        at += _padded(length)
    return found


def _address(host: bytes, port: bytes) -> str:
    return f"{socket.inet_ntoa(host)}:{int.from_bytes(port, 'big')}"


def _padded(length: int) -> int:
    return (length + 3) & ~3
