"""Foreign files as a frame, and what is read from them."""

from pyspark.sql import DataFrame, SparkSession

from pytest_kmigrate.analysis import schemas, staging
from pytest_kmigrate.analysis.foreign import foreign_attempts, labels_of
from tests.spark.frames import frame

JUNIT = """<testsuite name="s" timestamp="2026-03-0%d"><properties><property name="kafka" value="3.9.1"/></properties>
<testcase name="t" time="1"><failure message="was 4"/></testcase><testcase name="u"/></testsuite>"""
"""A suite of two tests; the day of March is left open."""


def files_of(spark: SparkSession, **texts: str) -> DataFrame:
    """Files by their path."""
    rows = []
    for path, text in texts.items():
        folder, _, file = path.rpartition("/")
        rows.append({"folder": folder, "file": file, "text": text})
    return frame(spark, schemas.FILES, rows)


def staged_from(files: DataFrame, *labels: str) -> DataFrame:
    """What is staged of them, under these labels."""
    return foreign_attempts(files, DataFrame.cache, labels_of(labels)).cache()


def counted_in(staged: DataFrame) -> list[tuple[str, str, str]]:
    """Folder, test and outcome of every attempt that counts."""
    return sorted((row.folder, row.test_id, row.outcome) for row in staging.good(staged).collect())


def set_aside_in(staged: DataFrame) -> list[tuple[str, str, bool]]:
    """Path, reason and whether it is a doubt, of everything that does not count."""
    rows = staging.set_aside(staged, is_run=staged["is_doubt"]).collect()
    return sorted((row.path, row.reason, row.is_run) for row in rows)
