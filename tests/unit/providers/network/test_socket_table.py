"""The kernel's counts of a socket's bytes, read from the kernel that runs here."""

import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from pytest_kmigrate.providers.owned.network import socket_table
from pytest_kmigrate.providers.owned.network.socket_table import SocketTable, TcpSocket
from pytest_kmigrate.waiting import until


@pytest.fixture
def table() -> Iterator[SocketTable]:
    """One that hears of endings from now on."""
    with closing(SocketTable()) as made:
        yield made


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """A connection: who dialled, who accepted."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as here:
        there, _ = server.accept()
        with there:
            yield here, there


def own(table: SocketTable, one: str, other: str) -> list[TcpSocket]:
    """The end at ``one`` of a connection; the port alone may be another connection's, too, to somewhere else."""
    return [each for each in table.read().values() if (each.local, each.remote) == (one, other)]


def counts(table: SocketTable, one: str, other: str) -> tuple[int, int]:
    """Bytes received and sent at ``one``."""
    (found,) = own(table, one, other)
    return found.received_bytes, found.sent_bytes


def places(end: socket.socket) -> tuple[str, str]:
    """Where a socket is, and where its other end is."""
    (host, port), (other_host, other_port) = end.getsockname(), end.getpeername()
    return f"{host}:{port}", f"{other_host}:{other_port}"


def test_payload_is_counted_both_ways(table: SocketTable, ends: tuple[socket.socket, socket.socket]) -> None:
    """Bytes sent and received by each end, from nothing; neither handshake nor listener counts."""
    here, there = ends
    ours, theirs = places(here)
    assert counts(table, ours, theirs) == (0, 0)
    here.sendall(b"12345")
    there.sendall(bytes(there.recv(5)) + b"678")
    assert here.recv(8, socket.MSG_WAITALL) == b"12345678"
    assert counts(table, ours, theirs) == (8, 5)
    assert counts(table, theirs, ours) == (5, 8)


def test_what_was_sent_again_counts_once(table: SocketTable, ends: tuple[socket.socket, socket.socket]) -> None:
    """The kernel asks for a late acknowledgement with a loss probe, and counts its bytes as sent, and as sent again."""
    here, _ = ends
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sent = 0

    def sent_again() -> int:
        nonlocal sent
        sent += here.send(b"123") + here.send(b"45")
        info = here.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 216)
        return int.from_bytes(info[208:216], sys.byteorder)

    until(sent_again, awaited="a loss probe", within_s=60)
    assert counts(table, *places(here)) == (0, sent)


def test_an_end_is_no_byte(table: SocketTable, ends: tuple[socket.socket, socket.socket]) -> None:
    """The kernel counts the other side's FIN; closing an idle connection must not look like traffic."""
    here, there = ends
    there.shutdown(socket.SHUT_WR)
    assert here.recv(1) == b""
    assert counts(table, *places(here)) == (0, 0)


def test_what_ended_is_still_told(table: SocketTable, ends: tuple[socket.socket, socket.socket]) -> None:
    """A socket that is gone from the kernel's table keeps its counts in ours."""
    here, there = ends
    ours, theirs = places(here)
    there.sendall(b"12345")
    assert here.recv(5) == b"12345"
    there.close()
    assert here.recv(1) == b""
    here.close()
    # How long the kernel takes to free it is the kernel's affair.
    until(lambda: own(table, ours, theirs), awaited="the ended socket", within_s=60)
    assert counts(table, ours, theirs) == (5, 0)


def test_a_kernel_that_says_no_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the kernel's answer is one here, with the kernel's number."""
    monkeypatch.setattr(socket_table, "_REQUEST", struct.Struct("=BBBxI"))  # shorter than the kernel takes
    with closing(SocketTable()) as table, pytest.raises(OSError, match="reports nothing"):
        table.read()
