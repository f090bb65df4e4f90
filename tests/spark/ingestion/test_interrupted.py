"""Ctrl-C during an analysis: one line, exit status 130, and neither Spark's JVM nor a half-made report is left."""

from pathlib import Path

import psutil
import pytest
from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]  # PySpark's bridge has no types
from pyspark.sql import SparkSession

from pytest_kmigrate.reports.ingestion.session import end_told
from tests.spark.commands import analysis_cut_short

_LONG_S = 60

_CTRL_C = """
import os, signal, subprocess, threading
from pathlib import Path

from pyspark import SparkContext, java_gateway
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


def ingested(_found, _source, tables, *_):
    threading.Thread(target=at_the_first_job).start()
    tables.spark.range(10**15).selectExpr("max(id)").collect()


# Whoever runs these tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
java_gateway.Popen = launched
analyze.ingest = ingested
"""


@pytest.mark.parametrize(
    "when_launched", [pytest.param("ctrl_c()", id="while-Spark-starts"), pytest.param("pass", id="while-Spark-counts")]
)
def test_ctrl_c_is_one_line_and_leaves_nothing(tmp_path: Path, when_launched: str) -> None:
    """No stack trace, and no JVM that runs on."""
    status, printed = analysis_cut_short(tmp_path, _CTRL_C.format(when_launched=when_launched))

    assert status == 130, printed
    assert printed.splitlines()[-1] == "interrupted; the same command can be run again"
    assert "Traceback" not in printed
    jvm = int((tmp_path / "jvm").read_text())
    _, alive = psutil.wait_procs([each for each in psutil.process_iter() if each.pid == jvm], timeout=_LONG_S)
    for each in alive:
        each.kill()
    assert not alive


def test_trouble_in_tidying_up_after_ctrl_c_is_no_news(spark: SparkSession, tmp_path: Path) -> None:
    """PySpark asks the JVM for something when a call was broken off, which py4j sometimes cannot do then."""

    def broken_off() -> None:
        with end_told(spark, tmp_path / "spark.log"):
            try:
                raise KeyboardInterrupt
            finally:
                raise Py4JNetworkError("Answer from Java side is empty")

    with pytest.raises(KeyboardInterrupt):
        broken_off()
