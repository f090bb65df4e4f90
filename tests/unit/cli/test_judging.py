"""What ``kmigrate judge`` says besides the verdicts."""

import sys
from pathlib import Path

import pytest

from pytest_kmigrate.cli import main
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import EXIT_STATUS, Outcome
from tests.unit.reports.recorded_runs import RecordedRun


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
    assert ended.value.code == EXIT_STATUS[Outcome.VIOLATES]
    assert capsys.readouterr().out.count("advice: The disks were never formatted") == 1
