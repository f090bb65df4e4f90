"""Exact percentiles, beside Spark's own."""

import random

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.percentiles import ascending, percentile

SHARES = (0.0, 0.1, 0.5, 0.9, 1.0)
GROUPS = 140
"""More than the 128 that Spark keeps in memory while it gathers values; from then on it sorts rows instead."""


def test_percentiles_are_those_of_spark(spark: SparkSession) -> None:
    """Of as many values as the number of the group, among them equal ones; missing values count for nothing."""
    chance = random.Random(7)
    rows = [(group, chance.choice([1.0, 2.5, chance.gauss(0, 1e6)])) for group in range(GROUPS) for _ in range(group)]
    rows += [(group, None) for group in range(GROUPS)]
    frame = spark.createDataFrame(chance.sample(rows, len(rows)), "group int, value double")

    reported = frame.groupBy("group").agg(
        ascending(F.col("value")).alias("values"),
        *[F.percentile("value", F.lit(share)).alias(f"spark {share:.0%}") for share in SHARES],
    )

    ours = F.array(*[percentile(F.col("values"), share) for share in SHARES]).alias("ours")
    rows_told = reported.select(ours, F.array(*[f"spark {share:.0%}" for share in SHARES]).alias("its")).collect()
    assert len(rows_told) == GROUPS
    found, expected = (np.array([row[name] for row in rows_told], float) for name in ("ours", "its"))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
