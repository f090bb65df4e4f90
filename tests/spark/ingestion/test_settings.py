"""Settings are for speed only: whichever Spark is given, the tables are the same. And what a column must not cost."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from py4j.clientserver import ClientServerConnection  # type: ignore[import-untyped]
from py4j.protocol import REFL_GET_UNKNOWN_SUB_COMMAND_NAME, REFLECTION_COMMAND_NAME  # type: ignore[import-untyped]
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from pytest_kmigrate.reports.ingestion.session import LOCAL, settings
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.run_folders import fault, migration, verdict, write_run


@contextmanager
def settings_for_much_data(spark: SparkSession) -> Iterator[None]:
    """What can be set while Spark runs, of that which differs: compiled stages, the number of shuffles, replanning."""
    little, much = settings(LOCAL, is_small=True), settings(LOCAL, is_small=False)
    differing = {name for name in {**little, **much} if little.get(name) != much.get(name)}
    names = [name for name in differing if name.startswith("spark.sql.")]
    before = {name: spark.conf.get(name) for name in names}
    for name in names:
        spark.conf.set(name, much[name]) if name in much else spark.conf.unset(name)
    yield
    for name, value in before.items():
        spark.conf.set(name, str(value))


def _rows(result: AnalysisResult) -> dict[str, list[str]]:
    """The rows of every table, in an order that does not depend on who wrote them."""
    folder = Path(str(result.tables))
    return {name: sorted(map(str, pq.read_table(folder / name).to_pylist())) for name in schemas.TABLES}


def test_little_and_much_data_are_counted_alike(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three runs, with a fault, a violation and client operations, counted as little data and as if they were much."""
    runs = tmp_path / "runs"
    red = verdict("controller_moves", "VIOLATES", "LIVENESS", summary="no controller for 31 s", facts={"longest_s": 31})
    write_run(runs, "green", [verdict()], migration(fault(11_000)))
    write_run(runs, "red", [verdict(), red], migration(fault(11_000)), started_at="2026-03-02T10:00:00Z")
    with_operations = write_run(runs, "lost", [verdict()], started_at="2026-03-03T10:00:00Z")
    write_parts(synthetic_run(7, 2_000), with_operations / "operations")

    little = _rows(analyze(str(runs), tmp_path / "little"))
    monkeypatch.setattr("pytest_kmigrate.reports.analyze.SMALL_RUNS", 0)
    with settings_for_much_data(spark):
        much = _rows(analyze(str(runs), tmp_path / "much"))

    assert much == little
    assert all(little[name] for name in ("attempts", "anomalies", "causes", "failure_clusters", "flakiness", "trends"))


def test_there_is_room_for_what_the_jvm_compiles(spark: SparkSession) -> None:
    """An analysis fills up to 50 MiB; a JVM that has no more room for code ends Spark, or itself, in the midst."""
    pools = spark.sparkContext._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
    room = sum(pool.getUsage().getMax() for pool in pools if "Code" in pool.getName())
    assert room >= 200 << 20


def test_no_class_is_looked_up_again_for_a_column(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look-up searches all jars of Spark, and an analysis makes thousands of columns."""
    reported: list[str] = []
    send = ClientServerConnection.send_command
    monkeypatch.setattr(
        ClientServerConnection, "send_command", lambda it, text: reported.append(text) or send(it, text)
    )

    first = F.row_number().over(Window.partitionBy("id").orderBy("id"))
    some = spark.range(2).where(F.col("id") > F.lit(0)).withColumn("first", first)
    some.select("first", F.transform(F.array("id"), lambda each: each + 1).alias("more"))

    looked_up = [
        each for each in reported if each.startswith(REFLECTION_COMMAND_NAME + REFL_GET_UNKNOWN_SUB_COMMAND_NAME)
    ]
    assert reported
    assert looked_up == []
