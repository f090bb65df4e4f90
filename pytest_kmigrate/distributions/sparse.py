"""Folders with sparse files: copied and digested without their holes.

ZooKeeper sets 64 MiB aside for its log and Kafka 10 MiB for an index, nearly all of it zeros.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)


def copy_sparse(source: Path, target: Path) -> None:
    """Copy all files below ``source`` into ``target``, which may exist; blocks of zeros become holes."""
    for file in _files(source):
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        _copy(file, copy)


def digests_below(folder: Path) -> Mapping[str, str]:
    """The digest of each file below ``folder``, by its relative path."""
    return {str(file.relative_to(folder)): _digest(file) for file in _files(folder)}


def size_on_disk(folder: Path) -> int:
    """The bytes that a folder takes, holes left out."""
    return sum(file.stat().st_blocks * 512 for file in _files(folder))


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _copy(source: Path, target: Path) -> None:
    with target.open("wb") as copy:
        for offset, block in _blocks(source):
            copy.seek(offset)
            copy.write(block)
        copy.truncate(source.stat().st_size)


def _digest(file: Path) -> str:
    digest = hashlib.sha256(str(file.stat().st_size).encode())
    for offset, block in _blocks(file):
        digest.update(offset.to_bytes(8, "big") + block)
    return digest.hexdigest()


def _blocks(file: Path) -> Iterator[tuple[int, bytes]]:
    """Offset and content of each block that holds anything but zeros."""
    with file.open("rb") as stream:
        for number in count():
            block = stream.read(_BLOCK)
            if not block:
                return
            if block != _ZEROS[: len(block)]:
                yield number * _BLOCK, block
