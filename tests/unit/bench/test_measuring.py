"""What a command costs."""

import sys
from pathlib import Path

import psutil
import pytest

from tests.bench import measuring
from tests.bench.measuring import cost

_HOLDS = "held = bytearray(b'x') * (600 * 2**20); print(len(held))"


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.fixture
def waits_to_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Code that goes on until it has been looked at, or for a minute of its own time."""
    waiting, seen = tmp_path / "waiting", tmp_path / "seen"
    look = measuring._Seen.look

    def look_and_tell(self: measuring._Seen, tree: psutil.Process) -> None:
        is_waiting = waiting.exists()
        look(self, tree)
        if is_waiting:
            seen.touch()

    monkeypatch.setattr(measuring._Seen, "look", look_and_tell)
    return (
        f"import pathlib, time\npathlib.Path({str(waiting)!r}).touch()\n"
        f"while time.process_time() < 60 and not pathlib.Path({str(seen)!r}).exists(): pass"
    )


@pytest.mark.slow
def test_memory_of_all_processes_counts(tmp_path: Path, waits_to_be_seen: str) -> None:
    """The command holds 200 MiB, and so does what it started, at the same time: the figure is both together."""
    holds = "held = bytearray(b'x') * (200 * 2**20)"
    stays = f"{holds}\n{waits_to_be_seen}"
    code = f"{holds}\nimport subprocess, sys; subprocess.run([sys.executable, '-c', {stays!r}], check=True)"

    assert 0.39 < cost(_python(code), tmp_path / "log").must_end_with(0).peak_gib < 0.6


def _peak_as_told_by(measurer: str, command: list[str], folder: Path) -> float:
    """What a process of its own, after ``measurer``, reports of a command."""
    reported = f"cost({command!r}, Path({str(folder / 'of-it')!r})).peak_gib"
    code = f"from pathlib import Path\nfrom tests.bench.measuring import cost\n{measurer}\nprint({reported})"
    return float(cost(_python(code), folder / "log").must_end_with(0).output.split()[-1])


@pytest.mark.slow
def test_what_comes_and_goes_between_two_looks_counts(tmp_path: Path) -> None:
    """A command that holds 600 MiB for a moment only held them all the same, whatever started the measuring process.

    What he held the system counts as the measurer's, who ran another program then.
    """
    held = bytearray(b"x") * (700 * 2**20)
    assert 0.58 < _peak_as_told_by("", _python(_HOLDS), tmp_path) < 0.9
    del held


@pytest.mark.slow
def test_what_we_hold_ourselves_does_not_count(tmp_path: Path) -> None:
    """A child begins as a copy of its parent, and the system counts that as the child's memory."""
    assert _peak_as_told_by(_HOLDS, _python("pass"), tmp_path) < 0.2


@pytest.mark.slow
def test_processor_time_is_that_of_all_processes(tmp_path: Path) -> None:
    """A second of counting, half of it in a child, is seen as a second."""
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    code = f"import subprocess, sys; child = subprocess.Popen([sys.executable, '-c', {busy!r}])\n{busy}\nchild.wait()"

    assert cost(_python(code), tmp_path / "log").must_end_with(0).cpu_s >= 0.9


@pytest.mark.slow
def test_a_process_gets_no_more_memory_than_it_is_allowed(tmp_path: Path) -> None:
    """With less than it asks for, the command fails, and says of what; with more, it does not."""
    refused = cost(_python(_HOLDS), tmp_path / "log", memory_gib=0.2)
    allowed = cost(_python(_HOLDS), tmp_path / "log", memory_gib=0.9)

    assert "MemoryError" in refused.output
    assert (refused.exit_status, allowed.exit_status) == (1, 0)


def test_a_failure_is_no_figure(tmp_path: Path) -> None:
    """A command that ends otherwise than it should is reported with what it said, however quick it was."""
    spent = cost(_python("print('no such table'); raise SystemExit(3)"), tmp_path / "log")

    with pytest.raises(RuntimeError, match=r"expected exit status 0 or 1, got 3: no such table"):
        spent.must_end_with(0, 1)
