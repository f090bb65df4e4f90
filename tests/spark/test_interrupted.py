"""Ctrl-C during an analysis: one line, exit status 130, and neither Spark's JVM nor a half-made report is left."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.spark.run_folders import migration, verdict, write_run

_LONG_S = 60

_ANALYZE = """
import os, signal, subprocess, threading
from pathlib import Path

from pyspark import SparkContext, java_gateway
from pytest_kmigrate.cli import main
from pytest_kmigrate.reports import analyze
from pytest_kmigrate.waiting import until


def ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def launched(*words, **options):
    jvm = subprocess.Popen(*words, **options)
    Path("jvm").write_text(str(jvm.pid))
    {when_launched}
    return jvm


def at_the_first_job():
    jobs = SparkContext._active_spark_context.statusTracker()
    until(jobs.getActiveJobsIds, awaited="a job of Spark's", within_s=60)
    ctrl_c()


def counted(tables, _done):
    threading.Thread(target=at_the_first_job).start()
    tables.spark.range(10**15).selectExpr("max(id)").collect()


java_gateway.Popen = launched
analyze.write_marts = counted
main()
"""


@pytest.mark.parametrize(
    "when_launched", [pytest.param("ctrl_c()", id="while-Spark-starts"), pytest.param("pass", id="while-Spark-counts")]
)
def test_ctrl_c_is_one_line_and_leaves_nothing(tmp_path: Path, when_launched: str) -> None:
    """No stack trace, no JVM that runs on, and the page that was there stays."""
    write_run(tmp_path / "runs", "r1", [verdict()], migration())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("of yesterday")
    command = [sys.executable, "-c", _ANALYZE.format(when_launched=when_launched), "analyze", "runs", "--out", "out"]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    printed = done.stdout + done.stderr
    assert done.returncode == 130, printed
    assert printed.splitlines()[-1] == "interrupted; the same command can be run again"
    assert "Traceback" not in printed
    assert (tmp_path / "out" / "index.html").read_text() == "of yesterday"
    jvm = int((tmp_path / "jvm").read_text())
    _, alive = psutil.wait_procs([each for each in psutil.process_iter() if each.pid == jvm], timeout=_LONG_S)
    for each in alive:
        each.kill()
    assert not alive
