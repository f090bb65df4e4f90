"""Which test it is, in which session, and how pytest is asked for it again."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_kmigrate.model.errors import RunFolderError
from pytest_kmigrate.plugin.marks import nearest_mark

if TYPE_CHECKING:
    from pytest_kmigrate.recording.sessions import Session

_BEGUN = pytest.StashKey[tuple[Path, "Session"]]()
_OF_WORKERS = pytest.StashKey[str]()


class Worker(Protocol):
    """What pytest-xdist hands over before a worker starts."""

    config: pytest.Config
    workerinput: dict[str, Any]


def identity_of(item: pytest.Item) -> str:
    """Module and name of a test: the same wherever pytest was started, whatever its root folder."""
    from pytest_kmigrate.recording.identity import module_in_suites

    return f"{module_in_suites(item.path) or _module(item)}::{_name(item)}"


def words_for(item: pytest.Item) -> tuple[str, ...]:
    """What to call pytest with: a suite of the package from anywhere, another test from where pytest was started."""
    from pytest_kmigrate.recording.asking import PREFIX
    from pytest_kmigrate.recording.identity import module_in_suites

    nightly = (f"{PREFIX}nightly",) if nearest_mark(item, "nightly") is not None else ()
    if module_in_suites(item.path):
        return ("--pyargs", identity_of(item), *nightly)
    return (f"{os.path.relpath(item.path, item.config.invocation_params.dir)}::{_name(item)}", *nightly)


def _module(item: pytest.Item) -> str:
    assert isinstance(item, pytest.Function)
    return str(item.module.__name__)


def _name(item: pytest.Item) -> str:
    """With its classes and parameters, and without secrets in these."""
    from pytest_kmigrate.redaction import redacted_id

    return redacted_id(item.nodeid.partition("::")[2])


def begun_session(item: pytest.Item, runs: Path, tests: Callable[[], Sequence[str]]) -> "Session":
    """The session of this process; the folder of runs notes it, with all its tests, when the first run is to begin."""
    import secrets

    from pytest_kmigrate.recording.sessions import Session, begin_session

    if _BEGUN not in item.config.stash:
        given = getattr(item.config, "workerinput", {})
        session = Session(given.get("testrunuid") or secrets.token_hex(16), given.get("workerid", ""), tests())
        begin_session(runs, session)
        item.config.stash[_BEGUN] = runs, session
    return item.config.stash[_BEGUN][1]


def remember_session_of(worker: Worker) -> None:
    """Let the process that has the terminal know the session of its workers."""
    worker.config.stash[_OF_WORKERS] = worker.workerinput["testrunuid"]


def end_begun_session(config: pytest.Config, status: int) -> None:
    """Note the end of the session of this process; nothing if there was no run."""
    if _BEGUN in config.stash:
        from pytest_kmigrate.recording.sessions import end_session

        runs, session = config.stash[_BEGUN]
        end_session(runs, session, status)


def has_begun_runs(config: pytest.Config) -> bool:
    """Whether this session has runs, or workers that may have some."""
    return _BEGUN in config.stash or _OF_WORKERS in config.stash


def runs_of_session(config: pytest.Config, runs: Path) -> list[Path]:
    """The folders of the runs that began in this session, also in its workers; none if its notes cannot be read."""
    session = config.stash[_BEGUN][1].id if _BEGUN in config.stash else config.stash.get(_OF_WORKERS, None)
    if session is None:
        return []
    from pytest_kmigrate.recording.sessions import SESSIONS, recorded_sessions

    file = runs / SESSIONS
    if not file.is_file():
        return []
    with suppress(RunFolderError):
        recorded = recorded_sessions(file.read_bytes(), str(file))
        return [runs / run.run_id for each in recorded if each.id == session for run in each.runs]
    return []
