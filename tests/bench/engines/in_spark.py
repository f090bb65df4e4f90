"""The marts as the product has them, in Spark."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow.dataset import dataset
from pyspark import SparkConf
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import marts
from pytest_kmigrate.reports.ingestion.session import settings
from tests.bench.engines.engine import Answer

_SMALL_ROWS = 100_000
"""What the product's limit for a quick start, 500 runs, comes to."""
_HEAP_PART = 0.5
"""Of the memory there is; the rest of a JVM needs some too."""


@contextmanager
def started(data: Path, *, cores: int, memory_gib: float | None) -> Iterator[Answer]:
    """Spark with the settings that the product chooses for so much data."""
    rows = dataset(data / "requirement_attempts").count_rows()
    chosen = settings(f"local[{cores}]", is_small=rows <= _SMALL_ROWS)
    if memory_gib is not None:
        chosen["spark.driver.memory"] = f"{int(memory_gib * _HEAP_PART * 1024)}m"
    session = SparkSession.builder.config(conf=SparkConf().setAll(list(chosen.items()))).getOrCreate()
    try:
        yield lambda mart: answer(session, data, mart)
    finally:
        session.stop()


def answer(spark: SparkSession, data: Path, mart: str) -> pa.Table:
    """One mart over the facts in ``data``."""

    def facts(name: str) -> DataFrame:
        return spark.read.parquet(str(data / name))

    if mart == "cells":
        return marts.statistics(facts("requirement_attempts"), marts.CELL).toArrow()
    if mart == "durations":
        return marts.duration_statistics(facts("durations"), facts("attempts")).toArrow()
    violates = F.count_if(F.col("outcome") == "VIOLATES").alias("violating")
    plain = facts("requirement_attempts").groupBy("test_id", "kafka")
    return plain.agg(F.count("*").alias("runs"), violates, F.avg("duration_ms").alias("mean_ms")).toArrow()
