"""One night of runs, and what an analysis of it comes to wherever it lies: on this machine, in HDFS, in a bucket."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from pytest_kmigrate.reports.ingestion.hadoop_storage import HadoopStorage
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import counted
from tests.spark.run_folders import fault, migration, verdict, write_run


@dataclass(frozen=True)
class Analyzed:
    """What an analysis came to, as a value that goes from process to process."""

    answers: dict[str, Any]
    """``report.json`` but for when and from where it was made."""
    read: int
    outcome: Outcome
    page: str

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """The runs as they count."""
        attempts: list[dict[str, Any]] = self.answers["attempts"]
        return attempts


def write_night(runs: Path) -> None:
    """Run folders: green, red, one with operations, one without end, a broken one, and a stranger."""
    write_run(runs, "r [1] + 100 %", [verdict()], migration(fault(11_000)), has_timeline=True)
    write_run(runs, "deep/red", [verdict(outcome="VIOLATES", kind="LIVENESS")], migration(fault(11_000)), seed=2)
    write_parts(synthetic_run(7, 2_000), write_run(runs, "with-operations", [verdict()], seed=3) / "operations")
    write_run(runs, "no-end", [], migration()[:4], is_complete=False, seed=4)
    (write_run(runs, "broken", [verdict()]) / "run.json").write_text('{"schema": 1, "run_id"')
    (runs / "notes").mkdir()


def analyzed(night: str, by: Callable[[str, str], AnalysisResult] = analyze) -> Analyzed:
    """The runs of a night, analyzed into a report beside them."""
    result = by(f"{night}/runs", f"{night}/report")
    report: dict[str, Any] = json.loads(result.report.read_text())
    del report["about"]
    return Analyzed(report, result.read, result.outcome, str(result.page))


def killed_then_whole_then_again(
    night: str, whole: Callable[[str, str], AnalysisResult] = analyze
) -> tuple[Analyzed, Analyzed]:
    """A first analysis is killed before the new ledger has its name; what the second and the third come to.

    The third has no marts: in every analysis these are counted from tables that lie there.
    """
    moved = HadoopStorage.move

    def killed(storage: HadoopStorage, path: str, to: str) -> None:
        if to.startswith("ingested/"):
            raise KeyboardInterrupt
        moved(storage, path, to)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(HadoopStorage, "move", killed)
        with pytest.raises(KeyboardInterrupt):
            analyzed(night)
    return analyzed(night, whole), analyzed(night, counted)


def hadoop(spark: SparkSession, uri: str) -> tuple[Any, Any]:
    """The file system of a URI, and its path, as Hadoop knows them."""
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path


def copied(spark: SparkSession, folder: Path, to: str) -> None:
    """Copy a folder of this machine to a URI."""
    (files, path), jvm = hadoop(spark, to), spark.sparkContext._jvm
    copy = jvm.org.apache.hadoop.fs.FileUtil.copy
    is_moved = False
    copy(jvm.java.io.File(str(folder)), files, path, is_moved, spark.sparkContext._jsc.hadoopConfiguration())
