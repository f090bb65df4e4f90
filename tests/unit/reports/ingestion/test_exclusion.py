"""Exclusion: the second analysis into a folder is refused; a dead one blocks none."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.ingestion.exclusion import alone_in, require_folder

_HOLDER = """
import sys
from pytest_kmigrate.reports.ingestion.exclusion import alone_in
with alone_in(sys.argv[1]):
    print("in", flush=True)
    sys.stdin.read()
"""


def test_a_second_analysis_into_a_folder_is_refused(tmp_path: Path) -> None:
    """While another process writes there: one sentence with who that is, and the status of wrong use."""
    out = tmp_path / "new" / "report"
    command = [sys.executable, "-c", _HOLDER, str(out)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "in\n"
        with pytest.raises(WrongUseError, match=f"process {holder.pid} is at it") as refused, alone_in(str(out)):
            pass
        os.kill(holder.pid, signal.SIGKILL)
    assert refused.value.exit_status == 2
    with alone_in(str(out)):
        assert (out / ".lock").read_text() == str(os.getpid())


def test_one_after_the_other_is_fine(tmp_path: Path) -> None:
    """The lock is let go of with the block, also when that failed; two folders are apart."""
    with pytest.raises(ZeroDivisionError), alone_in(str(tmp_path / "a")):
        raise ZeroDivisionError
    with alone_in(str(tmp_path / "a")), alone_in(str(tmp_path / "b")):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """What cannot be written into is reported before anything starts."""
    (tmp_path / "report").touch()
    with pytest.raises(WrongUseError, match="expected a folder"), alone_in(str(tmp_path / "report")):
        pass


@pytest.mark.parametrize("name", ["10:00 [1]", os.fsdecode(b"night-\xff")])
def test_what_spark_cannot_open_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Be it the folder itself or one above it; it is reported in words that can be printed, and nothing is made."""
    monkeypatch.chdir(tmp_path)
    for out in (f"{name}/report", f"s3a://nights/{name}"):
        with pytest.raises(WrongUseError, match="which Spark cannot open: rename it, or choose another") as reported:
            require_folder(out, None)
        assert str(reported.value).encode()
    with pytest.raises(WrongUseError, match="Spark cannot open"), alone_in(name):
        pass
    assert not list(tmp_path.iterdir())


def test_a_bucket_is_not_guarded() -> None:
    """Nothing is made on this machine for a path behind a URI."""
    with alone_in("s3a://nights/report"), alone_in("s3a://nights/report"):
        pass


def test_a_report_does_not_go_into_a_run(tmp_path: Path) -> None:
    """Its folder is evidence, and nothing is added to it."""
    (tmp_path / "run.json").touch()
    with pytest.raises(WrongUseError, match="got the folder of a run; choose another --out"), alone_in(str(tmp_path)):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["run.json"]
