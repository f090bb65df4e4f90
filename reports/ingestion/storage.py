"""Storage: the few things an analysis does with files, on this machine or wherever Hadoop reaches (s3a, hdfs, ...).

Spark itself reads and writes the tables; what is left is listing, small whole files, moving and deleting. This machine
is served without Spark, so that wrong use is reported before Spark starts.
"""

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

LOCAL_SCHEME = "file"

_AT_ONCE = 8
"""Reading many small files is mostly waiting."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


@dataclass(frozen=True)
class Entry:
    """One file or folder: its path below the listed folder, and what shows that it changed."""

    path: str
    is_folder: bool
    size_bytes: int = 0
    modified_ms: int = 0
    is_readable: bool = True


@dataclass(frozen=True)
class Copies:
    """Folders that only repeat what lies elsewhere: those of these names, right beside a file of one of these."""

    names: frozenset[str] = frozenset()
    beside: frozenset[str] = frozenset()


class Place(Protocol):
    """Where something that was written lies: a ``Path`` of this machine is one."""

    def exists(self) -> bool:
        """Whether it is there."""
        ...

    def read_text(self, encoding: str | None = None) -> str:
        """What is in it."""
        ...

    def resolve(self) -> "Place":
        """The same, named in full; its text is what to open."""
        ...


class Storage(Protocol):
    """One folder and what is below it; every ``path`` is relative to it."""

    @property
    def uri(self) -> str:
        """The folder itself, as Spark names it (nothing encoded, nothing escaped)."""
        ...

    def kind(self) -> str | None:
        """``folder``, ``file`` (or what else it is, in words), or None when there is nothing."""
        ...

    def entries(self, deepest: int, copies: Copies) -> Iterator[Entry]:
        """Everything down to a depth, but what begins with a dot, and copies.

        What lies deeper is not listed, but the folders at that depth are.
        """
        ...

    def names(self, path: str) -> list[str]:
        """The names in a folder; none when it is not there."""
        ...

    def contents(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """Small files, whole."""
        ...

    def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        """The SHA-256 of files."""
        ...

    def place(self, path: str) -> Place:
        """Where something in it lies, for who wants to open it."""
        ...

    def write(self, path: str, content: bytes) -> None:
        """Write a whole file; no reader ever sees half of it."""
        ...

    def move(self, path: str, to: str) -> None:
        """Give a file or folder another name, under which there must be nothing yet."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all that is in it; nothing there is fine."""
        ...


def location(given: Path | str) -> str:
    """A path or URI as text; that of a URI which went through ``Path`` lacks a slash and gets it back.

    A URI without a path, as of a bucket, is that of its root: Hadoop would take it for somebody's home.
    """
    uri = re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)", r"\1://", str(given)) if isinstance(given, Path) else given
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+://[^/]+)$", r"\1/", uri)


def is_local(location: str) -> bool:
    """Whether a path or URI lies in this machine's file system."""
    scheme = _SCHEME.match(location)
    return scheme is None or scheme[1].lower() == LOCAL_SCHEME


def local_path(location: str) -> Path:
    """The path of a plain path or of a ``file:`` URI; in a URI characters may be encoded."""
    if not _SCHEME.match(location):
        return Path(location).resolve()
    return Path(unquote(re.sub(r"^file:(?://(?=/))?/*", "/", location, flags=re.IGNORECASE))).resolve()


class LocalStorage:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()

    @property
    def uri(self) -> str:
        """``file:///...``."""
        return f"file://{self.path}"

    def kind(self) -> str | None:
        """See Storage."""
        if self.path.is_dir():
            return "folder" if os.access(self.path, os.R_OK | os.X_OK) else "folder that may not be read"
        return "file" if self.path.exists() else None

    def entries(self, deepest: int, copies: Copies) -> Iterator[Entry]:
        """See Storage; folders come in the order of their names."""
        yield from self._below("", deepest, copies, is_copied=False)

    def _below(self, folder: str, deepest: int, copies: Copies, *, is_copied: bool) -> Iterator[Entry]:
        """What is in a folder; ``is_copied``: copies may lie beside it, or it is in a folder where they may."""
        with os.scandir(self.path / folder) as scanned:
            found = sorted((each for each in scanned if not each.name.startswith(".")), key=lambda each: each.name)
        has_copies = bool(copies.beside & {each.name for each in found})
        is_copied |= has_copies
        for each in found:
            # What is in such a folder belongs to it, even if a link says where it lies.
            if (has_copies and each.name in copies.names) or (not is_copied and self._is_listed_anyway(each)):
                continue
            entry = _entry(each, f"{folder}/{each.name}" if folder else each.name)
            if entry is None:
                continue
            yield entry
            if entry.is_folder and entry.is_readable and deepest > 1:
                yield from self._below(entry.path, deepest - 1, copies, is_copied=is_copied)

    def _is_listed_anyway(self, found: "os.DirEntry[str]") -> bool:
        """Whether it is a link, such as one to the latest session, to a folder that is listed without it."""
        try:
            if not found.is_symlink() or not found.is_dir():
                return False
            target = Path(found.path).resolve()
        except (OSError, RuntimeError):
            return False
        is_here = target != self.path and target.is_relative_to(self.path)
        return is_here and not any(part[0] == "." for part in target.relative_to(self.path).parts)

    def names(self, path: str) -> list[str]:
        """See Storage."""
        folder = self.path / path
        return sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []

    def contents(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        """See Storage."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(paths, pool.map(lambda path: (self.path / path).read_bytes(), paths), strict=True))

    def digests(self, paths: Sequence[str]) -> Mapping[str, str]:
        """See Storage."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(paths, pool.map(self._digest, paths), strict=True))

    def _digest(self, path: str) -> str:
        with (self.path / path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def place(self, path: str) -> Path:
        """See Storage."""
        return self.path / path

    def write(self, path: str, content: bytes) -> None:
        """See Storage."""
        file = self.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.partial")
        partial.write_bytes(content)
        partial.replace(file)

    def move(self, path: str, to: str) -> None:
        """See Storage."""
        (self.path / to).parent.mkdir(parents=True, exist_ok=True)
        (self.path / path).rename(self.path / to)

    def delete(self, path: str) -> None:
        """See Storage."""
        if (self.path / path).is_dir():
            shutil.rmtree(self.path / path)
        else:
            (self.path / path).unlink(missing_ok=True)


def _entry(found: "os.DirEntry[str]", path: str) -> Entry | None:
    """What was found; None for what holds nothing new to read: a link to nowhere or back up, a pipe, what is gone."""
    try:
        if found.is_symlink() and Path(found.path).resolve() in Path(found.path).parents:
            return None
        if found.is_dir():
            return Entry(path, is_folder=True, is_readable=os.access(found.path, os.R_OK | os.X_OK))
        status = found.stat()
    except (OSError, RuntimeError):  # the latter is what pathlib says of a link that leads to itself
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    is_readable = os.access(found.path, os.R_OK)
    return Entry(path, False, status.st_size, status.st_mtime_ns // 10**6, is_readable)  # noqa: FBT003  # a row
