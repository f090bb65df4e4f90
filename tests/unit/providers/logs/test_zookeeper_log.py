"""Facts about ZooKeeper's transaction log: each transaction is read with its operations, as the server wrote them."""

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.providers.zookeeper_log import transactions_in

HEADER = struct.pack(">4siq", b"ZKLG", 2, 0)
CREATE, DELETE, SET_DATA, SET_ACL, CHECK, MULTI, CREATE_2, BEGIN, ERROR = 1, 2, 5, 7, 13, 14, 15, -10, -1
PADDING = bytes(1 << 16)


def text(value: str) -> bytes:
    """A text or buffer with its length before it."""
    return struct.pack(">i", len(value.encode())) + value.encode()


ACL = struct.pack(">ii", 1, 31) + text("world") + text("anyone")


def created(path: str, data: str = "", *, is_ephemeral: bool = False) -> bytes:
    """The record of a creation."""
    return text(path) + text(data) + ACL + struct.pack(">?i", is_ephemeral, 1)


def numbered(path: str, version: int, data: str | None = None) -> bytes:
    """A record that ends with a version."""
    return text(path) + (b"" if data is None else text(data)) + struct.pack(">i", version)


def several(*parts: tuple[int, bytes]) -> bytes:
    """The record of several operations."""
    return struct.pack(">i", len(parts)) + b"".join(
        struct.pack(">ii", kind, len(record)) + record for kind, record in parts
    )


def frame(zxid: int, kind: int, record: bytes) -> bytes:
    """A transaction in the file; its digest is after the record."""
    body = struct.pack(">qiqqi", 7, 1, zxid, 1_000 + zxid, kind) + record + struct.pack(">iq", 2, 99)
    return struct.pack(">qi", 0, len(body)) + body + b"B"


def read(folder: Path, frames: Sequence[bytes], after: int = 0, chroot: str = "") -> list[Transaction]:
    """What is read of a log of these transactions, whose clock is that of the run."""
    (folder / "log.1").write_bytes(HEADER + b"".join(frames) + PADDING)
    return transactions_in(folder, after, lambda ms: ms, chroot)


@pytest.mark.parametrize(
    ("kind", "record", "write"),
    [
        (CREATE, created("/a", "x", is_ephemeral=True), Write("create", "/a", "x", 0, is_ephemeral=True)),
        (CREATE_2, created("/a"), Write("create", "/a", "", 0)),
        (SET_DATA, numbered("/a", 3, "ü"), Write("set-data", "/a", "ü", 3)),
        (SET_ACL, text("/a") + ACL + struct.pack(">i", 2), Write("set-acl", "/a", None, 2)),
        (DELETE, text("/a"), Write("delete", "/a")),
    ],
)
def test_an_operation_is_read_as_it_was_logged(tmp_path: Path, kind: int, record: bytes, write: Write) -> None:
    """By itself, and as one of several, which say what they depend on."""
    check = (CHECK, numbered("/b", 5))
    alone, together = read(tmp_path, [frame(1, kind, record), frame(2, MULTI, several(check, (kind, record)))])
    assert alone == Transaction(1_001, 1, 7, (write,))
    assert together == Transaction(1_002, 2, 7, (Write("check", "/b", None, 4), write), is_multi=True)
    assert together.changes == (write,)


def test_what_was_refused_wrote_nothing(tmp_path: Path) -> None:
    """The reason is kept; of several operations it is not that of the others."""
    error, aborted, unaware = (struct.pack(">i", code) for code in (-110, -2, 0))
    record = several((ERROR, unaware), (ERROR, error), (ERROR, aborted), (CHECK, numbered("/b", 5)))
    alone, together = read(tmp_path, [frame(1, ERROR, error), frame(2, MULTI, record)])
    assert (alone.writes, alone.error) == ((), -110)
    assert (together.writes, together.error, together.is_multi) == ((), -110, True)


def test_a_session_that_begins_is_a_transaction_without_writes(tmp_path: Path) -> None:
    """As everything that touches no znode."""
    assert read(tmp_path, [frame(1, BEGIN, struct.pack(">i", 18_000))]) == [Transaction(1_001, 1, 7)]


def test_secrets_are_not_kept(tmp_path: Path) -> None:
    """A credential is shown by its digest."""
    secret = '{"SCRAM-SHA-256":"salt=c2FsdA==,stored_key=a2V5,server_key=a2V5,iterations=4096"}'
    (found,) = read(tmp_path, [frame(1, SET_DATA, numbered("/config/users/a", 1, secret))])
    assert "c2FsdA" not in str(found.writes[0].data)


def test_only_what_comes_after_a_transaction_is_read(tmp_path: Path) -> None:
    """From the files that hold any of it, in the order of transactions."""
    (tmp_path / "log.3").write_bytes(HEADER + frame(3, DELETE, text("/c")) + frame(4, DELETE, text("/d")))
    (tmp_path / "log.a").write_bytes(HEADER + frame(10, DELETE, text("/e")))
    (tmp_path / "snapshot.2").write_bytes(b"other")
    frames = [frame(1, DELETE, text("/a")), frame(2, DELETE, text("/b"))]
    assert [each.zxid for each in read(tmp_path, frames)] == [1, 2, 3, 4, 10]
    assert [each.zxid for each in read(tmp_path, frames, after=3)] == [4, 10]
    (tmp_path / "log.3").write_bytes(b"damaged, and not looked at")
    assert [each.zxid for each in read(tmp_path, frames, after=9)] == [10]


@pytest.mark.parametrize("cut", [3, 15, 40])
def test_a_transaction_that_is_being_written_is_left_out(tmp_path: Path, cut: int) -> None:
    """And a file that holds nothing yet has none."""
    whole, half = frame(1, DELETE, text("/a")), frame(2, DELETE, text("/b"))[:cut]
    (tmp_path / "log.1").write_bytes(HEADER + whole + half)
    (tmp_path / "log.9").write_bytes(PADDING)
    (tmp_path / "log.b").write_bytes(b"")
    assert [each.zxid for each in transactions_in(tmp_path, 0, int)] == [1]


def test_paths_are_those_of_clients_below_the_chroot(tmp_path: Path) -> None:
    """What lies beside it is of another cluster."""
    paths = ("/kafka", "/kafka/brokers", "/kafka2/brokers")
    found = read(tmp_path, [frame(number, DELETE, text(path)) for number, path in enumerate(paths, 1)], chroot="/kafka")
    assert [[write.path for write in each.writes] for each in found] == [["/"], ["/brokers"], []]


def test_a_file_of_another_kind_is_one_clear_error(tmp_path: Path) -> None:
    """By its path."""
    (tmp_path / "log.1").write_bytes(b"hello, this is a log in words")
    with pytest.raises(ClusterError, match=r"log\.1: expected a transaction log of ZooKeeper, got a file that begins"):
        transactions_in(tmp_path, 0, int)
