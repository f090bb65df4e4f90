"""Writing tables: several at once, those that need others when these are there."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.reports.ingestion.storage import LocalStorage
from pytest_kmigrate.reports.ingestion.tables import TableFolder
from pytest_kmigrate.waiting import until

_ENOUGH_S = 60


def _aside(spark: SparkSession, path: str) -> DataFrame:
    return spark.createDataFrame([(path, None, "unread", False)], schemas.TABLES["set_aside"])


def _long(parts: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for part in parts:
        Event().wait(_ENOUGH_S)
        yield part


def test_who_asks_for_a_table_that_is_being_written_waits_for_it(spark: SparkSession, tmp_path: Path) -> None:
    """A table is asked for by another one, and only then goes on; both are there in the end, and both are reported."""
    tables, asked = TableFolder(spark, LocalStorage(tmp_path), is_small=True), Event()
    reported: list[str] = []

    def first() -> DataFrame:
        assert asked.wait(_ENOUGH_S)
        return _aside(spark, "one")

    def second() -> DataFrame:
        asked.set()
        return tables["set_aside"].selectExpr("path AS folder", "path", "line", "reason", "is_run")

    with tables.writing(done=reported.append) as begin:
        begin("set_aside", first)
        begin("bad_rows", second)

    tables.publish()
    assert [row["path"] for row in spark.read.parquet(str(tmp_path / "set_aside")).collect()] == ["one"]
    assert reported == ["set_aside", "bad_rows"]


def test_what_one_table_sets_for_its_jobs_is_no_other_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Spark puts settings of a query among local properties of its thread, and takes them away when it has ended."""
    tables, was_set, context = TableFolder(spark, LocalStorage(tmp_path), is_small=True), Event(), spark.sparkContext
    seen: list[str | None] = []

    def first() -> DataFrame:
        context.setLocalProperty("spark.sql.of.one.table", "first")
        was_set.set()
        return _aside(spark, "one")

    def second() -> DataFrame:
        assert was_set.wait(_ENOUGH_S)
        seen.append(context.getLocalProperty("spark.sql.of.one.table"))
        return _aside(spark, "two").withColumn("folder", F.lit("two"))

    with tables.writing() as begin:
        begin("set_aside", first)
        begin("bad_rows", second)

    assert seen == [None]


def test_a_table_that_cannot_be_computed_stops_the_analysis(spark: SparkSession, tmp_path: Path) -> None:
    """What it failed with is raised, once all that had begun has ended, also where another table waited for it."""
    tables = TableFolder(spark, LocalStorage(tmp_path), is_small=True)

    def failing() -> DataFrame:
        raise ValueError("no such thing")

    def write_both() -> None:
        with tables.writing() as begin:
            begin("set_aside", failing)
            begin("bad_rows", lambda: tables["set_aside"])

    with pytest.raises(ValueError, match="no such thing"):
        write_both()


def test_what_others_still_compute_is_given_up(spark: SparkSession, tmp_path: Path) -> None:
    """When one table fails, or somebody is in a hurry, a job that would take hours is not awaited."""
    tables, jobs = TableFolder(spark, LocalStorage(tmp_path), is_small=True), spark.sparkContext.statusTracker()
    reported: list[str] = []

    def long() -> DataFrame:
        return _aside(spark, "one").mapInArrow(_long, schemas.TABLES["set_aside"])

    def failing() -> DataFrame:
        until(jobs.getActiveJobsIds, awaited="a job", within_s=_ENOUGH_S)
        raise ValueError("no such thing")

    def write_both() -> None:
        with tables.writing(done=reported.append) as begin:
            begin("set_aside", long)
            begin("bad_rows", failing)

    with pytest.raises(ValueError, match="no such thing"):
        write_both()
    assert reported == []
