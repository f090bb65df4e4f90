"""Analyses as the tests of them start them: in this process, where Spark is there already, or in one of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.cli import main
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from pytest_kmigrate.reports.ingestion.class_data import PLACE
from pytest_kmigrate.reports.ingestion.session import spark_session
from tests.spark.run_folders import migration, verdict, write_run

WITHOUT_MARTS = """\
from pytest_kmigrate.cli import main
from pytest_kmigrate.reports import analyze
analyze.write_marts = lambda *_: None
main()
"""
"""A program: ``kmigrate`` without what is most of an analysis, for a test that asks how it runs."""

_YESTERDAY = "the page of yesterday"
_LONG_S = 300


@contextmanager
def small_session(log: Path, *, writes_here: bool = True) -> Iterator[SparkSession]:
    """The session of an analysis of little data, on one core; every analysis in the block finds it and uses it.

    A class-data archive that is there is used. None is made of what tests happen to load.
    """
    with spark_session("local[1]", is_small=True, log=log, has_archive=True, writes_here=writes_here) as session:
        session.sparkContext._jvm.System.clearProperty(PLACE)
        yield session


def kmigrate(*arguments: object) -> tuple[int, str]:
    """``kmigrate`` with these arguments: its exit status, and all it printed."""
    printed = StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(printed), redirect_stderr(printed):
        patched.setattr(sys, "argv", ["kmigrate", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(str(ended.value.code)), printed.getvalue()


def counted(runs: Path | str, out: Path | str) -> AnalysisResult:
    """An analysis without its marts, which are most of its work, for a test that asks what was read and what counts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("pytest_kmigrate.reports.analyze.write_marts", lambda *_: None)
        return analyze(str(runs), out)


def analysis_cut_short(folder: Path, trouble: str) -> tuple[int, str]:
    """``kmigrate analyze`` in a process, and with a Spark, of its own, which ``trouble`` (Python) ends in the midst.

    Exit status and all it printed; the page that was there before must have stayed.
    """
    write_run(folder / "runs", "r1", [verdict()], migration())
    page = folder / "out" / "index.html"
    page.parent.mkdir()
    page.write_text(_YESTERDAY)
    code = f"from pytest_kmigrate.cli import main\n{trouble}\nmain()"
    command = [sys.executable, "-c", code, "analyze", "runs", "--out", "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, timeout=_LONG_S)
    assert page.read_text() == _YESTERDAY
    return done.returncode, done.stdout + done.stderr
