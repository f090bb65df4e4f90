"""The class-data archive of Spark, on a real JVM: the first analysis makes it, the next one uses it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import WITHOUT_MARTS
from tests.spark.run_folders import migration, verdict, write_run


def test_the_second_analysis_loads_classes_that_the_first_archived(tmp_path: Path) -> None:
    """Told when it is made; then most of Spark's classes come from it, the flags of small sessions notwithstanding."""
    runs, loaded = tmp_path / "runs", tmp_path / "loaded"
    write_parts(
        synthetic_run(7, 2_000, is_faulty=False), write_run(runs, "r1", [verdict()], migration()) / "operations"
    )
    environment = {**os.environ, "KMIGRATE_CACHE": str(tmp_path / "a cache")}
    # The program that shows Java's version and what Spark starts with are JVMs, too: each has its own file.
    environment["JDK_JAVA_OPTIONS"] = f"-Xlog:class+load:file={loaded}-%p"
    said = []
    for name in ("first", "second"):
        command = [sys.executable, "-c", WITHOUT_MARTS, "analyze", str(runs), "--out", str(tmp_path / name)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        said.append("making a class-data archive of Spark" in done.stdout + done.stderr)

    from_archive = [file.read_text().count("shared objects file (top)") for file in tmp_path.glob("loaded-*")]
    assert said == [True, False]
    assert [count > 10_000 for count in from_archive if count] == [True]
