"""Spark that ends in the midst of an analysis: one line that says so, and an earlier report that is whole."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.run_folders import migration, verdict, write_run

_ANALYZE = """
from pyspark import SparkContext
from pytest_kmigrate.cli import main
from pytest_kmigrate.reports import analyze

counted = analyze.write_marts


def ended(*tables):
    {end}
    counted(*tables)


analyze.write_marts = ended
main()
"""


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("SparkContext._active_spark_context._jsc.sc().stop()", id="session"),
        pytest.param("SparkContext._gateway.proc.kill()", id="JVM"),
    ],
)
def test_spark_that_ends_in_the_midst_is_one_line(tmp_path: Path, end: str) -> None:
    """Exit status 4 and where Spark says why; no stack trace, and the page that was there stays."""
    write_run(tmp_path / "runs", "r1", [verdict()], migration())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "index.html").write_text("of yesterday")
    command = [sys.executable, "-c", _ANALYZE.format(end=end), "analyze", "runs", "--out", "out"]

    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    printed = done.stdout + done.stderr
    assert done.returncode == 4, printed
    assert "Spark: expected it to run until all is written, got its end; the last lines of " in printed.splitlines()[-1]
    assert "out/spark.log tell why" in printed
    assert "Traceback" not in printed
    assert (tmp_path / "out" / "index.html").read_text() == "of yesterday"
