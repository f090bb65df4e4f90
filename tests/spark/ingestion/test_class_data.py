"""The class-data archive of Spark, on a real JVM: the first analysis makes it, whatever starts next uses it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.spark.commands import WITHOUT_MARTS
from tests.spark.run_folders import migration, verdict, write_run

_STARTED_AGAIN = """\
from pathlib import Path
from pytest_kmigrate.reports.ingestion.class_data import keep_archive
from pytest_kmigrate.reports.ingestion.session import LOCAL, spark_session

with spark_session(LOCAL, is_small=True, log=Path("spark.log"), has_archive=True) as spark:
    spark.range(1).count()
keep_archive(print)
"""
"""A program: the session of an analysis and one job. Its classes are among those of a whole analysis."""


def test_spark_loads_classes_that_the_first_analysis_archived(tmp_path: Path) -> None:
    """Making it is reported; later most classes come from it, the flags of small sessions notwithstanding."""
    write_run(tmp_path / "runs", "r1", [verdict()], migration())
    environment = {**os.environ, "KMIGRATE_CACHE": str(tmp_path / "a cache")}
    # The program that shows Java's version and what Spark starts with are JVMs, too: each has its own file.
    environment["JDK_JAVA_OPTIONS"] = f"-Xlog:class+load:file={tmp_path / 'loaded'}-%p"
    said = []
    for program in ([WITHOUT_MARTS, "analyze", "runs", "--out", "out"], [_STARTED_AGAIN]):
        command = [sys.executable, "-c", *program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append("making a class-data archive of Spark" in done.stdout + done.stderr)

    loaded = [file.read_text() for file in tmp_path.glob("loaded-*")]
    shares = [text.count("shared objects file (top)") / text.count("source: ") for text in loaded]
    assert said == [True, False]
    assert [share > 0.5 for share in shares if share] == [True]
