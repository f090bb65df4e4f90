"""Locks between processes: shared by those who use a thing, held alone by who makes or removes it."""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Self


class Lock:
    """A lock on one file, which may be removed by its sole holder; given back on ``close`` or when the process ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._stream: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, *, alone: bool, waiting: Callable[[], None]) -> None:
        """Take it, or change how it is held; ``waiting`` is called once if it has to be waited for."""
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        if not self._try(how | fcntl.LOCK_NB):
            waiting()
            while not self._try(how):
                continue  # its last holder removed the file: the lock of a new one counts

    def take_at_once(self) -> bool:
        """Take it alone if it is free."""
        return self._try(fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """Remove the file; only for who holds it alone."""
        self._file.unlink(missing_ok=True)

    def close(self) -> None:
        """Give it back."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _try(self, how: int) -> bool:
        if self._stream is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._stream = self._file.open("a")
        with suppress(BlockingIOError):
            fcntl.flock(self._stream, how)
            if self._is_in_place():
                return True
        self.close()
        return False

    def _is_in_place(self) -> bool:
        assert self._stream is not None
        with suppress(FileNotFoundError):
            return os.path.samestat(os.fstat(self._stream.fileno()), self._file.stat())
        return False
