"""Run folders and reports that lie elsewhere: in a real HDFS, started here, and in file systems that do not answer."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from tests.spark.commands import counted, kmigrate
from tests.spark.elsewhere import Analyzed, analyzed, copied, hadoop, killed_then_whole_then_again, write_night
from tests.spark.hadoop_cluster import hdfs


@pytest.fixture(scope="module")
def file_system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a running HDFS."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as uri:
        yield uri


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a night on this machine."""
    folder = tmp_path_factory.mktemp("night")
    write_night(folder / "runs")
    return folder


@pytest.fixture(scope="module")
def local(spark: SparkSession, here: Path) -> Analyzed:
    """What that night comes to."""
    return analyzed(str(here))


@pytest.fixture(scope="module")
def night(spark: SparkSession, file_system: str, here: Path) -> str:
    """The URI of the folder that holds these run folders in HDFS too."""
    copied(spark, here / "runs", f"{file_system}/night/runs")
    return f"{file_system}/night"


def test_hdfs_gives_the_answers_of_this_machine(local: Analyzed, night: str) -> None:
    """Read from there and written there: killed before the new ledger has its name, then whole, then without news.

    What the first one wrote counts for nothing: the second reads all runs again, the third none; both answer alike.
    """
    first, again = killed_then_whole_then_again(night)

    assert first.answers == local.answers
    assert again.attempts == local.attempts != []
    assert (local.read, first.read, again.read, again.outcome) == (5, 5, 0, Outcome.VIOLATES)
    assert again.page == f"{night}/report/index.html"


def test_a_file_system_that_refuses_in_the_midst_is_one_line(spark: SparkSession, night: str) -> None:
    """Its quota exceeded, HDFS refuses the tables: exit status 4, what it said, no stack trace; nothing stays kept."""
    spark.catalog.clearCache()
    files, path = hadoop(spark, f"{night}/little-room")
    files.mkdirs(path)
    files.setQuota(path, 4, 1 << 40)

    status, printed = kmigrate("analyze", f"{night}/runs", "--out", f"{night}/little-room")

    assert status == 4
    last = printed.splitlines()[-1]
    assert "expected to read and write files, got NSQuotaExceededException: The NameSpace quota" in last
    assert "Traceback" not in printed
    assert "\tat " not in printed
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


@pytest.mark.parametrize(
    ("runs", "out", "status", "reported"),
    [
        ("nothing", "report", 2, "/nothing: expected a folder of runs, got nothing; give the folder"),
        ("runs/broken/run.json", "report", 2, "run.json: expected a folder of runs, got a file; give the folder"),
        ("runs", "runs/broken/run.json", 2, "run.json: expected a folder to write the report into, got a file; choose"),
    ],
)
def test_wrong_use_of_what_lies_elsewhere_is_told_as_here(
    night: str, runs: str, out: str, status: int, reported: str
) -> None:
    """The exit status of wrong use, and one sentence after the progress."""
    ended, printed = kmigrate("analyze", f"{night}/{runs}", "--out", f"{night}/{out}")
    assert ended == status
    assert reported in printed.splitlines()[-1]


def test_the_root_of_a_file_system_is_a_folder_like_others(file_system: str, night: str, tmp_path: Path) -> None:
    """As a bucket is, with or without a slash at its end: files and operations of a run are known to be its own."""
    first, again = (counted(root, tmp_path) for root in (f"{file_system}/", file_system))

    assert (first.read, again.read) == (5, 0)
    assert first.runs == again.runs > 0
    below = f"{night.removeprefix(file_system)}/runs/".lstrip("/")
    for table in ("runs", "durations", "operation_counts"):
        folders = set(pq.read_table(tmp_path / "tables" / table)["folder"].to_pylist())
        assert folders
        assert all(folder.startswith(below) for folder in folders)


@pytest.mark.parametrize(
    ("given", "reported"),
    [
        ("hdfs://127.0.0.1:1", "got ConnectException: "),
        ("s3a://nights", "S3AFileSystem not found"),
        ("nosuch://nights", 'got UnsupportedFileSystemException: No FileSystem for scheme "nosuch"'),
    ],
)
@pytest.mark.parametrize("is_out", [False, True])
def test_what_does_not_answer_is_told_before_anything_is_read(
    spark: SparkSession, here: Path, tmp_path: Path, given: str, reported: str, is_out: bool
) -> None:
    """Exit status 4 and one line: no server there, no jars for the scheme; for runs and report alike."""
    runs, out = (str(here / "runs"), f"{given}/report") if is_out else (f"{given}/runs", str(tmp_path / "out"))

    status, printed = kmigrate("analyze", runs, "--out", out)

    assert (status, len(printed.splitlines())) == (4, 2), printed
    assert printed.startswith("starting Spark")
    assert reported in printed
    assert "check the address" in printed
