"""A run folder that is complete: manifest, seals and digests of logs are about the same bytes."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.model.keeping import kept
from pytest_kmigrate.recording.run_folder import RunFolder


@dataclass(frozen=True)
class StillFolder(RunFolder):
    """A run folder whose logs are read once, and each of whose files is digested once.

    Other files are read anew each time: those of millions of operations would fill the memory.
    """

    def content(self, file: Path) -> bytes:
        """The bytes of a file in it; OSError if there is none."""
        return self._log(file) if file.is_relative_to(self.logs) else file.read_bytes()

    def sha256(self, file: Path, size: int | None = None) -> str:
        """The digest of a file in it, or of its first bytes; OSError if there is none."""
        is_whole = size is None or size >= self._size(file)
        return self._sha256(file, None if is_whole else size)

    @kept
    def _log(self, file: Path) -> bytes:
        return file.read_bytes()

    @kept
    def _size(self, file: Path) -> int:
        return file.stat().st_size

    @kept
    def _sha256(self, file: Path, size: int | None) -> str:
        return hashlib.sha256(self.content(file)[:size]).hexdigest()
