"""``ps``, ``logs``, ``down`` and ``gc`` print what stands here, and end only what they should."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.cli import main
from tests.unit.cli.processes import keeper


def kmigrate(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run the command; returns the exit status."""
    monkeypatch.setattr(sys, "argv", ["kmigrate", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Logs of the cluster; leases and states are this test's own."""
    (tmp_path / "state").mkdir()
    monkeypatch.setenv("KMIGRATE_STATE", str(tmp_path / "state"))
    return tmp_path / "run" / "logs"


@pytest.fixture
def kept(logs: Path) -> Iterator[int]:
    """The block of a kept cluster, ended with the test."""
    process, block, supervisor, _ = keeper(logs, "keep")
    with process:
        process.wait()
    yield block
    if psutil.pid_exists(supervisor):
        os.kill(supervisor, signal.SIGKILL)


@pytest.mark.slow
def test_a_kept_cluster_is_listed_read_and_ended(
    kept: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From ``ps`` over ``logs`` to ``down`` and an empty ``ps``."""
    assert kmigrate(monkeypatch, "ps") == 0
    shown = capsys.readouterr().out
    assert "kept" in shown
    assert "1 of 2 run; not broker-1" in shown
    assert kmigrate(monkeypatch, "logs", "broker-0") == 0
    assert capsys.readouterr().out == "one line\n"
    assert kmigrate(monkeypatch, "gc") == 0
    assert capsys.readouterr().out == "nothing to clear\n"
    assert kmigrate(monkeypatch, "down") == 0
    assert capsys.readouterr().out == f"block {kept}: small ended\n"
    assert kmigrate(monkeypatch, "ps") == 0
    assert "no cluster stands here" in capsys.readouterr().out


@pytest.mark.slow
def test_logs_says_which_nodes_there_are(
    kept: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong name gets the right ones; a node that never started has no log."""
    assert kmigrate(monkeypatch, "logs", "broker-7") == 2
    assert "(broker-0, broker-1), got 'broker-7'" in capsys.readouterr().err
    assert kmigrate(monkeypatch, "logs", "broker-1") == 2
    assert "never started" in capsys.readouterr().err


@pytest.mark.slow
def test_a_cluster_in_use_is_ended_only_by_name(
    logs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``down`` alone leaves what a test still uses, and says who uses it."""
    process, block, supervisor, _ = keeper(logs)
    with process:
        assert kmigrate(monkeypatch, "down") == 0
        assert f"is used by process {process.pid}: kmigrate down {block}" in capsys.readouterr().out
        assert psutil.Process(supervisor).status() != psutil.STATUS_ZOMBIE
        assert kmigrate(monkeypatch, "down", str(block)) == 0
        assert "no cluster" not in capsys.readouterr().out
        assert kmigrate(monkeypatch, "ps") == 0
        assert "no cluster stands here" in capsys.readouterr().out
        process.kill()
