"""Hides secrets in the logs of nodes, and sees to it that no file of a run has a value that the run knows."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.redaction.known import known_in
from pytest_kmigrate.redaction.logs import without_secrets

_GZIP, _PARQUET = b"\x1f\x8b", b"PAR1"
PACKED = (_GZIP, _PARQUET)
"""What files begin with whose contents ``contents_of`` unpacks."""


def hide_secrets(folder: RunFolder) -> None:
    """Overwrite each line with a secret in place: events count bytes of logs, and a node that is kept goes on writing.

    OSError when a log cannot be read or written.
    """
    for log in _files(folder.logs):
        with log.open("r+b") as file:
            for begin, line in without_secrets(file.read()):
                file.seek(begin)
                file.write(line)


def require_no_secret(folder: RunFolder) -> None:
    """EnvironmentLackError if a file, or its name, has a value that this run knows to be secret.

    Nothing that is recorded has one, as all of it is redacted on its way; so this finds what came by another way. The
    folder gets no manifest then, and nothing of it counts.
    """
    for file in _files(folder.path):
        name = str(file.relative_to(folder.path))
        found = known_in(name.encode()) or next(filter(None, map(known_in, contents_of(file.read_bytes()))), None)
        if found:
            raise EnvironmentLackError(
                f"{file}: expected no secret of this run in its evidence, got one, {found}: delete the folder, let the "
                "test or its command keep the secret to itself, and run it again"
            )


def contents_of(content: bytes) -> Iterator[bytes]:
    """The bytes of a file, and what they hold where it is packed: the texts of Parquet parts, and what gzip packed."""
    yield content
    if content.startswith(_GZIP):
        try:
            yield gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            return
    if content.startswith(_PARQUET):
        yield from _texts_of_parquet(content)


def _texts_of_parquet(content: bytes) -> Iterator[bytes]:
    try:
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError):
        return
    for column in table.columns:
        values = column.unique().to_pylist()
        yield "\n".join(str(each) for each in values if isinstance(each, str | bytes)).encode()


def _files(below: Path) -> list[Path]:
    """Plain files; a container may have put a link there, to a file of this machine."""
    return sorted(file for file in below.rglob("*") if file.is_file() and not file.is_symlink())
