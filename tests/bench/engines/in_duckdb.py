"""The same marts in DuckDB's SQL, written from what they mean and not from how Spark does it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from pytest_kmigrate.analysis.statistics.bounds import DOUBT, Z_95
from tests.bench.engines.engine import Answer

_PLAIN = """
SELECT test_id, kafka, count(*) AS runs, count(*) FILTER (outcome = 'VIOLATES') AS violating,
       avg(duration_ms) AS mean_ms
FROM '{data}/requirement_attempts/*.parquet' GROUP BY ALL
"""
_CELLS = """
WITH counted AS (
  SELECT test_id, requirement, profile, provider, kafka, topology, fault, phase, role, count(*) AS runs,
         count(*) FILTER (outcome = 'CONFORMS') AS conforming,
         count(*) FILTER (outcome = 'VIOLATES') AS violating,
         count(*) FILTER (outcome = 'INCONCLUSIVE') AS inconclusive,
         count(*) FILTER (outcome = 'NOT_APPLICABLE') AS not_applicable,
         count(*) FILTER (outcome = 'VIOLATES' AND kind = 'SAFETY') AS safety_violations,
         quantile_cont(duration_ms, 0.5) FILTER (outcome IN ('CONFORMS', 'VIOLATES')) AS duration_median_ms,
         quantile_cont(duration_ms, 0.9) FILTER (outcome IN ('CONFORMS', 'VIOLATES')) AS duration_p90_ms
  FROM '{data}/requirement_attempts/*.parquet' GROUP BY ALL
), rated AS (
  SELECT *, nullif(conforming + violating, 0)::DOUBLE AS n, conforming / n AS pass_rate,
         (pass_rate + {square} / (2 * n)) / (1 + {square} / n) AS middle,
         {z} / (1 + {square} / n) * sqrt(pass_rate * (1 - pass_rate) / n + {square} / (4 * n * n)) AS half
  FROM counted
)
SELECT * EXCLUDE (n, middle, half),
       CASE WHEN conforming = 0 AND n > 0 THEN 0.0 WHEN conforming = n THEN pow({doubt}, 1 / n)
            WHEN n > 0 THEN middle - half END AS pass_rate_low,
       CASE WHEN conforming = n THEN 1.0 WHEN conforming = 0 AND n > 0 THEN 1 - pow({doubt}, 1 / n)
            WHEN n > 0 THEN middle + half END AS pass_rate_high
FROM rated
"""
_DURATIONS = """
SELECT profile, provider, kafka, topology, what, name, count(took_ms) AS times,
       quantile_cont(took_ms, 0.5) AS median_ms, quantile_cont(took_ms, 0.9) AS p90_ms, max(took_ms) AS largest_ms
FROM '{data}/durations/*.parquet' JOIN '{data}/attempts/*.parquet' USING (folder) GROUP BY ALL
"""
_QUERIES = {"plain": _PLAIN, "cells": _CELLS, "durations": _DURATIONS}
_MEMORY_PART = 0.75
"""DuckDB's limit is for its buffers; it takes more besides."""


@contextmanager
def started(data: Path, *, cores: int, memory_gib: float | None) -> Iterator[Answer]:
    """DuckDB in this process; above its limit of memory it spills to disk."""
    import duckdb  # noqa: PLC0415  # for the one test that needs it, and not whenever tests are collected

    with duckdb.connect() as connection:
        connection.execute(f"SET threads = {cores}")
        connection.execute(f"SET temp_directory = '{data / 'spilled'}'")
        if memory_gib is not None:
            connection.execute(f"SET memory_limit = '{int(memory_gib * _MEMORY_PART * 1024)}MiB'")

        def answer(mart: str) -> pa.Table:
            query = _QUERIES[mart].format(data=data, z=Z_95, square=Z_95 * Z_95, doubt=DOUBT)
            return connection.sql(query).to_arrow_table()

        yield answer
