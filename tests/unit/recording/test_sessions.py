"""A folder of runs notes each session, run by run, in a chain."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, RunFolderError
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.sessions import (
    SESSIONS,
    RecordedSession,
    Session,
    begin_session,
    end_session,
    note_end_of_run,
    note_run,
    recorded_sessions,
)
from tests.unit.reports.recorded_runs import HEADER

WORKERS = [Session("night-1", f"gw{number}", ["t::a", "t::b"]) for number in range(2)]
RUN = replace(HEADER, extra={"session": "night-1"})


def read(runs: Path) -> tuple[RecordedSession, ...]:
    """The sessions of a folder."""
    return recorded_sessions((runs / SESSIONS).read_bytes(), SESSIONS)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """One session of two workers; one of them made a run, and its second was interrupted."""
    for worker in WORKERS:
        begin_session(tmp_path, worker)
    note_run(tmp_path, RUN)
    folder = RunFolder(tmp_path / RUN.run_id)
    folder.path.mkdir()
    folder.manifest.write_text("{}")
    note_end_of_run(folder, RUN)
    note_run(tmp_path, replace(RUN, run_id="cut-off"))
    end_session(tmp_path, WORKERS[0], 0)
    return tmp_path


def test_a_session_has_its_tests_and_runs(runs: Path) -> None:
    """It ended when all of its workers have; an interrupted run has no manifest."""
    (session,) = read(runs)
    assert (session.id, session.tests, session.is_ended) == ("night-1", ("t::a", "t::b"), False)
    assert [(run.run_id, run.profile, run.kafka, run.manifest is None) for run in session.runs] == [
        (RUN.run_id, "kip-866", "3.6.0", False),
        ("cut-off", "kip-866", "3.6.0", True),
    ]
    end_session(runs, WORKERS[1], 1)
    assert read(runs)[0].is_ended


def test_a_run_of_no_session_is_not_noted(runs: Path) -> None:
    """Runs that are made without pytest have none."""
    before = (runs / SESSIONS).read_bytes()
    note_run(runs, HEADER)
    note_end_of_run(RunFolder(runs / RUN.run_id), HEADER)
    assert (runs / SESSIONS).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda lines: lines[1:], 1),
        (lambda lines: [*lines[:2], *lines[3:]], 3),
        (lambda lines: [lines[1], lines[0], *lines[2:]], 1),
        (lambda lines: [lines[0].replace("t::b", "t::c"), *lines[1:]], 2),
        (lambda lines: [*lines, lines[-1]], len(WORKERS) + 5),
    ],
)
def test_a_broken_chain_is_named_by_its_line(runs: Path, change: Callable[[list[str]], list[str]], line: int) -> None:
    """Lines that are taken out, swapped, changed or added."""
    file = runs / SESSIONS
    file.write_text("".join(f"{each}\n" for each in change(file.read_text().splitlines())))
    with pytest.raises(RunFolderError, match=rf"sessions\.jsonl: line {line}: expected the digest of the line before"):
        read(runs)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("{", "expected JSON"),
        ("[]", "expected a JSON object, got a list"),
        ("null", "expected a JSON object, got null"),
    ],
)
def test_a_line_of_something_else_is_named(text: str, named: str) -> None:
    """One sentence."""
    with pytest.raises(RunFolderError, match=f"x: line 1: {named}"):
        recorded_sessions(text.encode(), "x")


def test_a_second_session_goes_on_with_the_chain(runs: Path) -> None:
    """The first line of all follows none."""
    lines = (runs / SESSIONS).read_text().splitlines()
    assert json.loads(lines[0])["previous"] == ""
    begin_session(runs, Session("night-2"))
    assert [each.id for each in read(runs)] == ["night-1", "night-2"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """One sentence with the option."""
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentLackError, match=r"file/sessions\.jsonl: it cannot be written: .*--kmigrate-runs"):
        begin_session(tmp_path / "file", WORKERS[0])
