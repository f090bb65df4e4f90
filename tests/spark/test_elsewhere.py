"""Run folders and reports that lie elsewhere: in a real HDFS, started here, and in file systems that do not answer."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from pytest_kmigrate.reports.hadoop_storage import HadoopStorage
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import kmigrate
from tests.spark.hadoop_cluster import hdfs
from tests.spark.run_folders import fault, migration, verdict, write_run


@pytest.fixture(scope="module")
def file_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a running HDFS."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as uri:
        yield uri


@pytest.fixture(scope="module")
def local(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> AnalysisResult:
    """A night on this machine, analyzed: green, red, one with operations, one without end, a broken one, a stranger."""
    night = tmp_path_factory.mktemp("night")
    runs = night / "runs"
    write_run(runs, "r [1] + 100 %", [verdict()], migration(fault(11_000)), has_timeline=True)
    write_run(runs, "deep/red", [verdict(outcome="VIOLATES", kind="LIVENESS")], migration(fault(11_000)), seed=2)
    write_parts(synthetic_run(7, 2_000), write_run(runs, "with-operations", [verdict()], seed=3) / "operations")
    write_run(runs, "no-end", [], migration()[:4], is_complete=False, seed=4)
    (write_run(runs, "broken", [verdict()]) / "run.json").write_text('{"schema": 1, "run_id"')
    (runs / "notes").mkdir()
    return analyze(str(runs), night / "report")


@pytest.fixture(scope="module")
def night(spark: SparkSession, file_system: str, local: AnalysisResult) -> str:
    """The URI of the folder that holds these run folders in HDFS too."""
    _copied(spark, Path(str(local.page)).parents[1] / "runs", f"{file_system}/night/runs")
    return f"{file_system}/night"


def _hadoop(spark: SparkSession, uri: str) -> tuple[Any, Any]:
    """The file system of a URI, and its path, as Hadoop knows them."""
    path = spark.sparkContext._jvm.org.apache.hadoop.fs.Path(uri)
    return path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()), path


def _copied(spark: SparkSession, folder: Path, to: str) -> None:
    (files, path), jvm = _hadoop(spark, to), spark.sparkContext._jvm
    copy = jvm.org.apache.hadoop.fs.FileUtil.copy
    is_moved = False
    copy(jvm.java.io.File(str(folder)), files, path, is_moved, spark.sparkContext._jsc.hadoopConfiguration())


def _answers(result: AnalysisResult) -> dict[str, Any]:
    """``report.json`` but for when and from where it was made."""
    report: dict[str, Any] = json.loads(result.report.read_text())
    del report["about"]
    return report


def test_hdfs_gives_the_answers_of_this_machine(
    local: AnalysisResult, night: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read from there and written there: killed before the new ledger has its name, then whole, then without news.

    What the first one wrote counts for nothing: the second reads all runs again, the third none; both answer alike.
    """
    moved = HadoopStorage.move

    def killed(storage: HadoopStorage, path: str, to: str) -> None:
        if to.startswith("ingested/"):
            raise KeyboardInterrupt
        moved(storage, path, to)

    with monkeypatch.context() as patched:
        patched.setattr(HadoopStorage, "move", killed)
        with pytest.raises(KeyboardInterrupt):
            analyze(f"{night}/runs", f"{night}/report")
    first = analyze(f"{night}/runs", f"{night}/report")
    assert _answers(first) == _answers(local)
    again = analyze(f"{night}/runs", f"{night}/report")
    assert _answers(again) == _answers(local)

    assert (local.read, first.read, again.read, again.outcome) == (5, 5, 0, Outcome.VIOLATES)
    assert str(again.page) == f"{night}/report/index.html"


def test_a_file_system_that_refuses_in_the_midst_is_one_line(spark: SparkSession, night: str) -> None:
    """Its quota exceeded, HDFS refuses the tables: exit status 4, what it said, no stack trace."""
    files, path = _hadoop(spark, f"{night}/little-room")
    files.mkdirs(path)
    files.setQuota(path, 4, 1 << 40)

    status, printed = kmigrate("analyze", f"{night}/runs", "--out", f"{night}/little-room")

    assert status == 4
    last = printed.splitlines()[-1]
    assert "expected to read and write files, got NSQuotaExceededException: The NameSpace quota" in last
    assert "Traceback" not in printed
    assert "\tat " not in printed


@pytest.mark.parametrize(
    ("runs", "out", "status", "told"),
    [
        ("nothing", "report", 2, "/nothing: expected a folder of runs, got nothing; give the folder"),
        ("runs/broken/run.json", "report", 2, "run.json: expected a folder of runs, got a file; give the folder"),
        ("runs", "runs/broken/run.json", 2, "run.json: expected a folder to write the report into, got a file; choose"),
    ],
)
def test_wrong_use_of_what_lies_elsewhere_is_told_as_here(
    night: str, runs: str, out: str, status: int, told: str
) -> None:
    """The exit status of wrong use, and one sentence after the progress."""
    ended, printed = kmigrate("analyze", f"{night}/{runs}", "--out", f"{night}/{out}")
    assert ended == status
    assert told in printed.splitlines()[-1]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("hdfs://127.0.0.1:1", "got ConnectException: "),
        ("s3a://nights", "S3AFileSystem not found"),
        ("nosuch://nights", 'got UnsupportedFileSystemException: No FileSystem for scheme "nosuch"'),
    ],
)
@pytest.mark.parametrize("is_out", [False, True])
def test_what_does_not_answer_is_told_before_anything_is_read(
    local: AnalysisResult, tmp_path: Path, given: str, told: str, is_out: bool
) -> None:
    """Exit status 4 and one line: nobody there, no jars for the scheme; for runs and report alike."""
    here = str(Path(str(local.page)).parents[1] / "runs")
    runs, out = (here, f"{given}/report") if is_out else (f"{given}/runs", str(tmp_path / "out"))

    status, printed = kmigrate("analyze", runs, "--out", out)

    assert (status, len(printed.splitlines())) == (4, 2), printed
    assert printed.startswith("starting Spark")
    assert told in printed
    assert "check the address" in printed
