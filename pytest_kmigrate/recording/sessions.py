"""Sessions: what pytest was asked for in a folder of runs, line by line, so that a night that is left out is missed.

Each line has the SHA-256 of the line before it. A line that is changed, added or taken out breaks the chain; so does a
run folder whose id no line has. A tail that is taken away together with its folders leaves no trace here.
"""

import fcntl
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError
from pytest_kmigrate.model.history import RunHeader
from pytest_kmigrate.recording.json_objects import json_object
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.redaction import redacted_values

SESSIONS = "sessions.jsonl"
"""The file in a folder of runs."""

_BEGAN, _ENDED, _RUN_BEGAN, _RUN_ENDED = "session-began", "session-ended", "run-began", "run-ended"
_PREVIOUS = "previous"


@dataclass(frozen=True)
class Session:
    """One call of pytest; workers of pytest-xdist share it."""

    id: str
    worker: str = ""
    """The worker of pytest-xdist that this process is; empty: there are none."""
    tests: Sequence[str] = ()
    """Ids of all collected tests that need a cluster."""


@dataclass(frozen=True)
class RecordedRun:
    """What a folder of runs has noted of one run."""

    run_id: str
    session: str
    profile: str
    kafka: str
    manifest: str | None
    """The SHA-256 of its manifest when it ended; None: it was interrupted."""


@dataclass(frozen=True)
class RecordedSession:
    """What a folder of runs has noted of one session."""

    id: str
    tests: tuple[str, ...]
    runs: tuple[RecordedRun, ...]
    is_ended: bool
    """Whether every process that began it has ended it."""


def begin_session(runs: Path, session: Session) -> None:
    """Note that this process begins a session, before its first run."""
    _append(runs, {"kind": _BEGAN, "session": session.id, "worker": session.worker, "tests": list(session.tests)})


def end_session(runs: Path, session: Session, status: int) -> None:
    """Note that this process ends a session; ``status`` is pytest's exit status."""
    _append(runs, {"kind": _ENDED, "session": session.id, "worker": session.worker, "status": status})


def note_run(runs: Path, header: RunHeader) -> None:
    """Note that a run begins; nothing if it is of no session."""
    if session := header.circumstances.session:
        about = {"test": header.test_id, "profile": header.profile, "kafka": header.kafka}
        _append(runs, {"kind": _RUN_BEGAN, "session": session, "run": header.run_id, **about})


def note_end_of_run(folder: RunFolder, header: RunHeader) -> None:
    """Note the manifest of a run that is complete; nothing if it is of no session."""
    if header.circumstances.session and folder.manifest.is_file():
        digest = hashlib.sha256(folder.manifest.read_bytes()).hexdigest()
        _append(folder.path.parent, {"kind": _RUN_ENDED, "run": header.run_id, "manifest": digest})


def _append(runs: Path, line: dict[str, object]) -> None:
    """Append one line, chained to the last; processes take turns."""
    try:
        runs.mkdir(parents=True, exist_ok=True)
        with (runs / SESSIONS).open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            last = file.read().splitlines()[-1:]
            chained = {_PREVIOUS: digest_of_line(last[0]) if last else "", **redacted_values(line)}
            file.write(json.dumps(chained).encode() + b"\n")
    except OSError as error:
        raise EnvironmentLackError(
            f"{runs / SESSIONS}: it cannot be written: {error.strerror}; make room, or name another by --kmigrate-runs"
        ) from error


def digest_of_line(line: bytes) -> str:
    """What the next line has as its ``previous``."""
    return hashlib.sha256(line).hexdigest()


def recorded_sessions(content: bytes, where: str) -> tuple[RecordedSession, ...]:
    """The sessions of a file, in order; RunFolderError names the first line that does not follow the one before it.

    ``where`` names the file in messages.
    """
    previous, sessions = "", dict[str, "_Reading"]()
    by_run: dict[str, _Reading] = {}
    for number, text in enumerate(content.splitlines(), 1):
        line = json_object(text, f"{where}: line {number}")
        if line.get(_PREVIOUS) != previous:
            raise RunFolderError(
                f"{where}: line {number}: expected the digest of the line before it, got another: lines were changed, "
                "added or taken out; take the file as pytest wrote it"
            )
        previous = digest_of_line(text)
        try:
            _must_have_texts(line)
            _must_be_new(line, by_run, f"{where}: line {number}")
            _read(line, sessions, by_run)
        except (KeyError, TypeError) as error:
            raise RunFolderError(
                f"{where}: line {number}: expected the keys of a session's line; got no {error}"
            ) from error
    return tuple(each.recorded() for each in sessions.values())


class _Reading:
    """One session, as far as its lines were read."""

    def __init__(self, session: str) -> None:
        self.id = session
        self.tests: list[str] = []
        self.runs: dict[str, RecordedRun] = {}
        self.began: list[str] = []
        self.ended: list[str] = []

    def recorded(self) -> RecordedSession:
        is_ended = set(self.began) <= set(self.ended)
        return RecordedSession(self.id, tuple(self.tests), tuple(self.runs.values()), is_ended)


def _must_have_texts(line: dict[str, Any]) -> None:
    """KeyError for a value of another kind than those that pytest writes: to a reader it is missing."""
    for key in ("kind", "session", "worker", "run", "profile", "kafka", "manifest"):
        if not isinstance(line.get(key, ""), str):
            raise KeyError(f"text as {key}")
    tests = line.get("tests", [])
    if not (isinstance(tests, list) and all(isinstance(each, str) for each in tests)):
        raise KeyError("texts as tests")


def _must_be_new(line: dict[str, Any], by_run: Mapping[str, _Reading], where: str) -> None:
    """A line that is appended breaks no chain, and would put another manifest in the place of the noted one."""
    kind, run = line["kind"], str(line.get("run"))
    noted = by_run[run].runs[run] if run in by_run else None
    if noted and (kind == _RUN_BEGAN or (kind == _RUN_ENDED and noted.manifest)):
        raise RunFolderError(
            f"{where}: expected each run to begin and to end once, got a second {kind} of {run}: a line was added; "
            "take the file as pytest wrote it"
        )


def _read(line: dict[str, Any], sessions: dict[str, _Reading], by_run: dict[str, _Reading]) -> None:
    if line["kind"] == _RUN_ENDED:
        runs = by_run[line["run"]].runs
        runs[line["run"]] = replace(runs[line["run"]], manifest=line["manifest"])
        return
    session = sessions.setdefault(line["session"], _Reading(line["session"]))
    if line["kind"] == _BEGAN:
        session.began.append(line["worker"])
        session.tests = sorted({*session.tests, *line["tests"]})
    elif line["kind"] == _ENDED:
        session.ended.append(line["worker"])
    elif line["kind"] == _RUN_BEGAN:
        session.runs[line["run"]] = RecordedRun(line["run"], session.id, line["profile"], line["kafka"], None)
        by_run[line["run"]] = session
