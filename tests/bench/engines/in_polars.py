"""The same marts in polars' lazy frames, written from what they mean and not from how Spark does it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pytest_kmigrate.analysis.statistics.bounds import DOUBT, Z_95
from tests.bench.engines.engine import Answer

if TYPE_CHECKING:
    import polars as pl

_CELL = ("test_id", "requirement", "profile", "provider", "kafka", "topology", "fault", "phase", "role")


@contextmanager
def started(data: Path, *, cores: int, memory_gib: float | None) -> Iterator[Answer]:
    """Polars in this process; it takes no limit of memory."""
    os.environ["POLARS_MAX_THREADS"] = str(cores)  # read when it is imported, and never again
    import polars as pl  # noqa: PLC0415  # as said

    def facts(name: str) -> "pl.LazyFrame":
        return pl.scan_parquet(data / name / "*.parquet")

    def answer(mart: str) -> pa.Table:
        if mart == "cells":
            asked = _cells(facts("requirement_attempts"))
        elif mart == "durations":
            asked = _durations(facts("durations"), facts("attempts"))
        else:
            asked = _plain(facts("requirement_attempts"))
        return asked.collect(engine="streaming").to_arrow()

    yield answer


def _plain(rows: "pl.LazyFrame") -> "pl.LazyFrame":
    import polars as pl  # noqa: PLC0415

    return rows.group_by("test_id", "kafka").agg(
        runs=pl.len().cast(pl.Int64),
        violating=(pl.col("outcome") == "VIOLATES").sum().cast(pl.Int64),
        mean_ms=pl.col("duration_ms").mean(),
    )


def _cells(rows: "pl.LazyFrame") -> "pl.LazyFrame":
    import polars as pl  # noqa: PLC0415

    outcome, square = pl.col("outcome"), Z_95 * Z_95
    answered_ms = pl.when(outcome.is_in(["CONFORMS", "VIOLATES"])).then(pl.col("duration_ms"))
    named = ("CONFORMS", "VIOLATES", "INCONCLUSIVE", "NOT_APPLICABLE")
    counts = ("conforming", "violating", "inconclusive", "not_applicable")
    counted = rows.group_by(*_CELL).agg(
        pl.len().cast(pl.Int64).alias("runs"),
        *[(outcome == name).sum().cast(pl.Int64).alias(count) for name, count in zip(named, counts, strict=True)],
        ((outcome == "VIOLATES") & (pl.col("kind") == "SAFETY")).sum().cast(pl.Int64).alias("safety_violations"),
        answered_ms.quantile(0.5, "linear").alias("duration_median_ms"),
        answered_ms.quantile(0.9, "linear").alias("duration_p90_ms"),
    )
    both = pl.col("conforming") + pl.col("violating")
    n = pl.when(both > 0).then(both.cast(pl.Float64))
    rate = pl.col("conforming") / n
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = (Z_95 / (1 + square / n)) * (rate * (1 - rate) / n + square / (4 * n * n)).sqrt()
    rest = DOUBT ** (1 / n)
    return counted.with_columns(
        pass_rate=rate,
        pass_rate_low=pl.when(rate == 0).then(0.0).when(rate == 1).then(rest).otherwise(middle - half),
        pass_rate_high=pl.when(rate == 1).then(1.0).when(rate == 0).then(1 - rest).otherwise(middle + half),
    )


def _durations(timed: "pl.LazyFrame", attempts: "pl.LazyFrame") -> "pl.LazyFrame":
    import polars as pl  # noqa: PLC0415

    condition = ("profile", "provider", "kafka", "topology")
    joined = timed.join(attempts.select("folder", *condition), on="folder")
    return joined.group_by(*condition, "what", "name").agg(
        times=pl.col("took_ms").count().cast(pl.Int64),
        median_ms=pl.col("took_ms").quantile(0.5, "linear"),
        p90_ms=pl.col("took_ms").quantile(0.9, "linear"),
        largest_ms=pl.col("took_ms").max(),
    )
