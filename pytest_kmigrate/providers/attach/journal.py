"""The journal of a run: what undoes each act on somebody's cluster is on disk before the act, until it is undone."""

import fcntl
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, get_args

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.providers.attach.file.loading import Site

HookThatHeals = Literal["resume", "start", "heal"]
_OWN = "remove"
_DONE, _UNDONE = "undo", "undone"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


@dataclass(frozen=True)
class Undo:
    """The hook that undoes an act on a node; ``more`` is what the hook gets besides the node, in this order."""

    hook: HookThatHeals
    node: str
    more: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        link = f" from {self.more['source']}" if "source" in self.more else ""
        return f"{self.hook} {self.node}{link}"


@dataclass(frozen=True)
class Remove:
    """What a run made under names of its own."""

    topics: tuple[str, ...]
    group: str

    def __str__(self) -> str:
        return f"{_OWN} {', '.join([*self.topics, self.group])}"


Note = Undo | Remove


class Journal:
    """What one process has done to the cluster of a site; safe to call from any thread.

    The file stands beside the attach file, unless ``hooks.journal`` names another. It is locked as long as its process
    lives, and gone when nothing is left to undo.
    """

    def __init__(self, site: Site) -> None:
        self._path = journal_of(site, os.getpid())
        self._key = f"{site.path}: hooks.journal"
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._left: dict[str, Note] = {}

    @property
    def left(self) -> Sequence[Note]:
        """What is not undone yet, the last act first."""
        with self._lock:
            return tuple(reversed(self._left.values()))

    def note(self, note: Note) -> None:
        """Return when it is on the disk; WrongUseError where it cannot be written, and then it must not be done."""
        with self._lock:
            try:
                self._write(_DONE, note)
            except OSError as error:
                raise WrongUseError(
                    f"{self._key}: expected to note what is done to the cluster in {self._path} before it is done; "
                    f"got {error.strerror}: name a file that can be written"
                ) from error
            self._left[_spelled(note)] = note

    def undone(self, note: Note) -> None:
        """The act is undone; with the last one the file goes."""
        with self._lock:
            if self._left.pop(_spelled(note), None) is None:
                return
            self._write(_UNDONE, note)
            if not self._left:
                self._path.unlink(missing_ok=True)
                self._close()

    def close(self) -> None:
        """End the lock: what is left is anybody's to heal."""
        with self._lock:
            self._close()

    def _write(self, key: str, note: Note) -> None:
        if self._file is None:
            self._file = os.fdopen(os.open(self._path, _FLAGS, mode=0o600), "ab", buffering=0)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            _flush_folder(self._path.parent)
        self._file.write(f'{{"{key}": {_spelled(note)}}}\n'.encode())
        os.fsync(self._file.fileno())

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class LeftJournal:
    """A journal whose process has ended; made inside a block, in which it is locked."""

    def __init__(self, path: Path, file: IO[bytes], nodes: Sequence[str]) -> None:
        self.path = path
        self.mistakes: list[str] = []
        """A sentence for each line that cannot be read."""
        self._file = file
        self._left: dict[str, Note] = {}
        lines = file.read().decode("utf-8", "replace").splitlines(keepends=True)
        for number, line in enumerate(lines, 1):
            # A line without its end was under way, so what it is about was not done.
            if line.endswith("\n") and not self._read(line, nodes):
                self.mistakes.append(
                    f"{path}: line {number}: expected an act on a node of the attach file, or its end; "
                    f"got {line.strip()[:200]!r}: undo by hand what it may mean, then remove {path.name}"
                )

    @property
    def left(self) -> Sequence[Note]:
        """What is not undone yet, the last act first."""
        return tuple(reversed(self._left.values()))

    def undone(self, note: Note) -> None:
        """The act is undone; with the last one the file goes, unless there are lines that cannot be read."""
        del self._left[_spelled(note)]
        self._file.write(f'{{"{_UNDONE}": {_spelled(note)}}}\n'.encode())

    def remove_if_empty(self) -> None:
        """Remove it when there is nothing left that it is needed for."""
        if not self._left and not self.mistakes:
            self.path.unlink(missing_ok=True)

    def _read(self, line: str, nodes: Sequence[str]) -> bool:
        try:
            ((key, value),) = json.loads(line).items()
            note = _note_of(value, nodes)
        except (ValueError, TypeError, AttributeError, KeyError):
            return False
        if key == _DONE:
            self._left[_spelled(note)] = note
        elif key == _UNDONE:
            self._left.pop(_spelled(note), None)
        return key in (_DONE, _UNDONE)


def journal_of(site: Site, process: int) -> Path:
    """Where a process notes what it does."""
    return _base(site).with_name(f"{_base(site).name}.{process}")


def journals_of(site: Site) -> Sequence[Path]:
    """The journals that there are of this site."""
    base = _base(site)
    return sorted(path for path in base.parent.glob(f"{base.name}.*") if path.suffix[1:].isdecimal())


def locked(file: IO[bytes], path: Path) -> bool:
    """Lock a journal that was opened; False where its process lives, or another one has healed and removed it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(file.fileno()).st_ino == path.stat().st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _base(site: Site) -> Path:
    return Path(site.beside(site.file.hooks.journal or f"{site.path.name}.harm"))


def _spelled(note: Note) -> str:
    data = asdict(note)
    return json.dumps({"hook": _OWN, **data} if isinstance(note, Remove) else data)


def _note_of(data: Mapping[str, Any], nodes: Sequence[str]) -> Note:
    """ValueError for anything that no journal has."""
    if data["hook"] == _OWN:
        return Remove(tuple(map(str, data["topics"])), str(data["group"]))
    if data["hook"] not in get_args(HookThatHeals) or data["node"] not in nodes:
        raise ValueError(data)
    return Undo(data["hook"], data["node"], {str(key): str(value) for key, value in data["more"].items()})


def _flush_folder(folder: Path) -> None:
    """The file's name is on the disk, too."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
