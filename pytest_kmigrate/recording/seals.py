"""Seals: digests of all evidence in the last event of a history, so that nothing leaves the folder unnoticed.

A manifest vouches for files, and can be written anew by anyone. A seal is part of the history, and counts lines.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.recording.disagreement import Disagreement
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.redaction import redacted_values

Seal = Mapping[str, object]
"""``sha256`` of a file, and the number of its ``lines`` if it was written line by line."""


class SealedLines:
    """A file of JSON lines that is written to its end, and sealed on the way."""

    def __init__(self, file: Path) -> None:
        self.path = file
        self._file: IO[str] = file.open("a", encoding="utf-8")
        self._sha256 = hashlib.sha256()
        self._lines = 0

    @property
    def is_closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._file.closed

    def append(self, line: Mapping[str, object]) -> None:
        """Write one line without secrets; the system has it when this returns, OSError if it does not take it."""
        text = json.dumps(redacted_values(line)) + "\n"
        self._file.write(text)
        self._file.flush()
        self._sha256.update(text.encode())
        self._lines += 1

    def seal(self) -> Seal:
        """The seal of what was written so far."""
        return {"sha256": self._sha256.hexdigest(), "lines": self._lines}

    def close(self) -> None:
        """End the file; OSError if it still has what could not be written."""
        self._file.close()


def seals_of(folder: RunFolder, *written: SealedLines) -> dict[str, Seal]:
    """The seals of the files that were written line by line, and of all evidence that was written at once."""
    found = {_name(folder, each.path): each.seal() for each in written}
    whole = (_name(folder, file) for file in _evidence(folder))
    found |= {name: {"sha256": _sha256(folder.path / name)} for name in whole if name not in found}
    return found | {_name(folder, log): _seal_of_log(log) for log in _logs(folder)}


def recorded_seals(events: tuple[Event, ...]) -> Mapping[str, Seal] | None:
    """The seals in the last event; None if the run was interrupted, or its release wrote none."""
    seals = events[-1].data.get("seals") if events and events[-1].kind is EventKind.RUN_ENDED else None
    is_whole = isinstance(seals, Mapping) and all(isinstance(seal, Mapping) for seal in seals.values())
    return seals if isinstance(seals, Mapping) and is_whole else None


def broken_seals(folder: RunFolder, seals: Mapping[str, Seal]) -> Iterator[Disagreement]:
    """Files that are not as they were when the run ended."""
    for name, seal in seals.items():
        file, sealed = folder.path / name, str(seal.get("sha256"))
        ended = f"event run-ended seals {name} with {_described(seal)}"
        if not file.is_file():
            yield Disagreement(ended, "there is no such file")
            continue
        if _sha256_when_it_ended(folder, file, seal) != sealed:
            lines = folder.content(file).count(b"\n") - (file == folder.history)
            got = f"{lines} lines" if "lines" in seal and lines != seal["lines"] else "other contents"
            yield Disagreement(ended, f"the file has {got}")
    are_logs_sealed = any("bytes" in seal for seal in seals.values())  # a kept cluster may start nodes after the run
    logs = folder.logs.glob("*/server.log") if are_logs_sealed else ()
    for file in (*_evidence(folder), *logs):
        if _name(folder, file) not in seals:
            yield Disagreement("event run-ended seals all evidence", f"{_name(folder, file)} has no seal")


def _sha256_when_it_ended(folder: RunFolder, file: Path, seal: Seal) -> str:
    """The digest of what was sealed: the nodes of a kept cluster go on logging, and the seals are in the last event."""
    if file == folder.history:
        return hashlib.sha256(b"".join(folder.content(file).splitlines(keepends=True)[:-1])).hexdigest()
    size = seal.get("bytes")
    return folder.sha256(file, size if isinstance(size, int) else None)


def _described(seal: Seal) -> str:
    if "bytes" in seal:
        return f"{seal['bytes']} bytes"
    return f"{seal['lines']} lines" if "lines" in seal else "its digest"


def _evidence(folder: RunFolder) -> list[Path]:
    """Files that verdicts come from, besides what nodes wrote."""
    parents = {folder.operations, folder.image("x").parent, folder.metrics.parent, folder.znodes.parent}
    parents |= {folder.transactions.parent, folder.client_metadata.parent, folder.exercise.parent}
    below = (file for parent in parents for file in parent.glob("*") if not file.name.startswith("."))
    return sorted(file for file in (folder.header, *below) if file.is_file())


def _logs(folder: RunFolder) -> list[Path]:
    """What nodes and clients wrote: their logs and their configuration. A container may have put a link there."""
    return sorted(file for file in folder.logs.rglob("*") if file.is_file() and not file.is_symlink())


def _seal_of_log(log: Path) -> Seal:
    content = log.read_bytes()
    return {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}


def _name(folder: RunFolder, file: Path) -> str:
    return str(file.relative_to(folder.path))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
