"""ZooKeeper's own transaction log, read from the disk of a server: every write that it accepted or refused.

The format is that of ``FileTxnLog`` and ``zookeeper.jute`` of ZooKeeper 3.5 to 3.9.
"""

import io
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.redaction import redacted

_MAGIC = b"ZKLG"
_FILE_HEADER = struct.Struct(">4siq")
_FRAME = struct.Struct(">qi")
_HEADER = struct.Struct(">qiqqi")
_END_OF_RECORD = b"B"
_LOG = re.compile(r"log\.([0-9a-f]+)\Z")
_ERROR, _MULTI = -1, 14


def transactions_in(
    folder: Path, after_zxid: int, to_run_ns: Callable[[int], int], chroot: str = ""
) -> list[Transaction]:
    """The transactions after one zxid in a server's ``version-2`` folder, oldest first.

    ``to_run_ns`` turns milliseconds since 1970 into the run's clock. A last transaction that is not whole is left out:
    the server may be writing. Of writes only those below ``chroot`` are kept, with paths
    as its clients use them. ClusterError where a file is no
    transaction log.
    """
    files = sorted((int(match[1], 16), path) for path in folder.glob("log.*") if (match := _LOG.match(path.name)))
    # A file is named after its first transaction; an earlier file holds nothing that is wanted.
    wanted = [
        path
        for number, (_, path) in enumerate(files)
        if number + 1 == len(files) or files[number + 1][0] > after_zxid + 1
    ]
    found = (each for path in wanted for each in _in_file(path, to_run_ns) if each.zxid > after_zxid)
    return [_below(chroot, each) for each in found] if chroot else list(found)


def _below(chroot: str, transaction: Transaction) -> Transaction:
    inside = (each for each in transaction.writes if f"{each.path}/".startswith(f"{chroot}/"))
    writes = tuple(replace(each, path=each.path.removeprefix(chroot) or "/") for each in inside)
    return replace(transaction, writes=writes)


def _in_file(path: Path, to_run_ns: Callable[[int], int]) -> Iterator[Transaction]:
    with path.open("rb") as log:
        header = log.read(_FILE_HEADER.size)
        if len(header) < _FILE_HEADER.size or not any(header):
            return  # created, and nothing is written yet
        if _FILE_HEADER.unpack(header)[0] != _MAGIC:
            raise ClusterError(
                f"{path}: expected a transaction log of ZooKeeper, got a file that begins {header[:4]!r}"
            )
        while (body := _next_body(log)) is not None:
            yield _transaction(body, to_run_ns)


def _next_body(log: BinaryIO) -> bytes | None:
    """The bytes of the next transaction; None at the end, where the file is filled with zeros in advance."""
    frame = log.read(_FRAME.size)
    if len(frame) < _FRAME.size:
        return None
    _, length = _FRAME.unpack(frame)
    body = log.read(length + 1) if length > 0 else b""
    return body[:-1] if len(body) == length + 1 and body.endswith(_END_OF_RECORD) else None


def _transaction(body: bytes, to_run_ns: Callable[[int], int]) -> Transaction:
    session, _, zxid, time_ms, kind = _HEADER.unpack_from(body)
    reader = _Reader(body[_HEADER.size :])
    writes, error = _writes(kind, reader)
    return Transaction(to_run_ns(time_ms), zxid, session, writes, is_multi=kind == _MULTI, error=error)


def _writes(kind: int, reader: "_Reader") -> tuple[tuple[Write, ...], int]:
    """The operations of a record, none if it was refused, and the error it was refused with."""
    if kind == _ERROR:
        return (), reader.int()
    if kind == _MULTI:
        parts = [_writes(reader.int(), _Reader(reader.buffer())) for _ in range(reader.int())]
        # Of a refused one the parts after the reason have the error -2, which is above any reason.
        error = min((error for _, error in parts), default=0)
        return (() if error else tuple(write for writes, _ in parts for write in writes)), error
    read = _OPERATIONS.get(kind)
    return ((read(reader),) if read else ()), 0


class _Reader:
    """Reads ZooKeeper's serialization (jute)."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def int(self) -> int:
        return int.from_bytes(self._content.read(4), "big", signed=True)

    def bool(self) -> bool:
        return self._content.read(1) == b"\x01"

    def buffer(self) -> bytes:
        length = self.int()
        return self._content.read(length) if length > 0 else b""

    def text(self) -> str:
        return self.buffer().decode("utf-8", "replace")

    def skip_acl(self) -> None:
        for _ in range(max(0, self.int())):
            self.int(), self.text(), self.text()


def _create(reader: _Reader) -> Write:
    path, data = reader.text(), _shown(reader.buffer())
    reader.skip_acl()
    return Write("create", path, data, 0, is_ephemeral=reader.bool())


def _create_lasting(reader: _Reader) -> Write:
    """A container, or a znode with a time to live; both are persistent."""
    return Write("create", reader.text(), _shown(reader.buffer()), 0)


def _delete(reader: _Reader) -> Write:
    return Write("delete", reader.text())


def _set_data(reader: _Reader) -> Write:
    return Write("set-data", reader.text(), _shown(reader.buffer()), reader.int())


def _set_acl(reader: _Reader) -> Write:
    path = reader.text()
    reader.skip_acl()
    return Write("set-acl", path, None, reader.int())


def _check(reader: _Reader) -> Write:
    """ZooKeeper logs the version that a write would have led to."""
    return Write("check", reader.text(), None, reader.int() - 1)


def _shown(data: bytes) -> str:
    return redacted(data.decode("utf-8", "replace"))


_OPERATIONS: dict[int, Callable[[_Reader], Write]] = {
    1: _create,
    15: _create,
    19: _create_lasting,
    21: _create_lasting,
    2: _delete,
    20: _delete,
    5: _set_data,
    7: _set_acl,
    13: _check,
}
"""By the numbers of ``ZooDefs.OpCode``; what is missing here writes no znode."""
