"""What ``kmigrate judge`` says besides the verdicts."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.cli import main
from pytest_kmigrate.cli import runs as runs_commands
from pytest_kmigrate.judging.rejudge import JudgedAgain
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.exit_status import ExitStatus
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.reports.recorded_runs import GREEN, HEADER, RecordedRun


def test_a_known_mistake_of_operators_comes_with_advice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, whichever verdicts it shows in."""
    recorded = RecordedRun(tmp_path)
    recorded.at(1, EventKind.NODE_STARTED, "broker-1", role="broker", mode="kraft", pid=1, kafka="3.9.1", incarnation=1)
    said = "ERROR startup / java.lang.RuntimeException: No `meta.properties` found in /disk"
    recorded.at(2, EventKind.NODE_DIED, "broker-1", exit_code=1, said=said)
    run = recorded.end(3)
    monkeypatch.setattr(sys, "argv", ["kmigrate", "judge", str(run.path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitStatus.VIOLATED
    assert capsys.readouterr().out.count("advice: The disks were never formatted") == 1


def test_a_run_is_judged_by_several_documents(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has a table of its own, and the worst outcome is the exit status."""
    run = RecordedRun(tmp_path).end(3)
    monkeypatch.setattr(
        sys, "argv", ["kmigrate", "judge", str(run.path), "--profile", "kip-866", "--profile", "kip-500"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitStatus.OPEN
    printed = " ".join(capsys.readouterr().out.split())
    assert [printed.count(f", profile {each}") for each in ("kip-866", "kip-500")] == [1, 1]
    assert "judged by kip-500; verdicts.jsonl has the verdicts of kip-866" in printed


def test_red_lines_above_a_run_that_conforms_are_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Beside the outcome; a known bug of a check that the test asked for counts, and is none of them."""
    known = Verdict("metrics", Outcome.VIOLATES, Kind.LIVENESS, "none", known_bugs=("no-metrics",), standing=True)
    vacuous = Verdict("lag", Outcome.INCONCLUSIVE, Kind.VACUOUS, "no lag", standing=True)

    def line_of(*verdicts: Verdict) -> str:
        runs_commands.show_verdicts(
            JudgedAgain(
                HEADER, verdicts, HEADER.profile, is_complete=True, is_sealed=True, has_stored=True, differences=()
            ),
            verbose=True,
        )
        return next(line for line in capsys.readouterr().out.splitlines() if line.startswith("merged: "))

    assert line_of(GREEN) == "merged: CONFORMS"
    assert line_of(GREEN, known, vacuous, vacuous) == (
        "merged: CONFORMS; unasked, and not counted for the run: 1 known of this release, 2 VACUOUS"
    )
    assert line_of(GREEN, replace(known, standing=False)) == "merged: VIOLATES"
