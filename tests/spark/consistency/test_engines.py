"""Spark's marts against the same ones in another engine, written by what they mean."""

from pathlib import Path

from pyspark.sql import SparkSession

from tests.bench.engines import data, in_duckdb, in_spark
from tests.bench.engines.engine import MARTS, differing_rows


def test_spark_answers_as_duckdb_does(spark: SparkSession, tmp_path: Path) -> None:
    """Counts, rates, intervals and exact percentiles of 20,000 rows are the same, row by row."""
    facts = data.written(tmp_path / "facts", 20_000)

    with in_duckdb.started(facts, cores=1, memory_gib=None) as duckdb:
        differing = {mart: differing_rows(in_spark.answer(spark, facts, mart), duckdb(mart)) for mart in MARTS}

    assert differing == dict.fromkeys(MARTS, 0)
