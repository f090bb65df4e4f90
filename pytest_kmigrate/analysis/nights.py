"""Nights: the grain in which machines fail, and those of them that are set aside."""

import dataclasses
import datetime as dt
from collections.abc import Sequence

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.facts import CONDITION, is_safety_violation
from pytest_kmigrate.analysis.schemas.flakiness import FLAKINESS
from pytest_kmigrate.analysis.statistics import outages
from pytest_kmigrate.model.verdict import Kind, Outcome

_EPOCH = dt.date(1970, 1, 1)
_COUNTS = ("runs", "inconclusive", "violating")


def night_of(moment: str) -> Column:
    """The night that a moment was in."""
    return F.to_date(F.col(moment) - F.make_interval(hours=F.lit(outages.NIGHT_BEGINS_AT_H)))


def infra_nights(attempts: DataFrame) -> DataFrame:
    """One row per night in which far more runs than usual went wrong everywhere."""
    known = attempts.where(F.col("started_at").isNotNull() & (F.col("outcome") != Outcome.NOT_APPLICABLE.name))
    night = F.unix_date(night_of("started_at")).cast("long").alias("night")
    # SAFETY violations are no sign of a bad night: no machine loses an acknowledged record.
    red = (F.col("outcome") == Outcome.VIOLATES.name) & ~is_safety_violation()
    counted = known.groupBy(
        night,
        F.xxhash64("test_id", *CONDITION).alias("stratum"),
        F.xxhash64("test_id").alias("test"),
    ).agg(
        F.count("*").alias("runs"),
        F.count_if(F.col("outcome") == Outcome.INCONCLUSIVE.name).alias("inconclusive"),
        F.count_if(red).alias("violating"),
    )
    columns = ("night", "stratum", "test", *_COUNTS)
    # Nights are compared with each other, so all counts go to one place; there are few.
    table = counted.agg(F.collect_list(F.struct(*[F.col(name).cast("long") for name in columns])).alias("_rows"))
    of_commits = known.where(F.col("commit").isNotNull()).groupBy("commit").agg(F.collect_set(night).alias("_nights"))
    once = of_commits.where(F.size("_nights") == 1).agg(F.flatten(F.collect_set("_nights")).alias("_new"))
    found = F.udf(_found, ArrayType(FLAKINESS["infra_nights"]), useArrow=False)
    return table.crossJoin(once).select(F.inline(found("_rows", "_new")))


def in_nights(attempts: DataFrame, infra_nights: DataFrame) -> DataFrame:
    """Attempts with ``is_aside``: were they made in an infra night, so that they count for no test?

    SAFETY violations count in any night, and what did not apply was not disturbed.
    """
    bad = infra_nights.select(F.col("night").alias("_night"), F.lit(col=True).alias("_is_infra"))
    known = attempts.withColumn("_night", night_of("started_at")).join(F.broadcast(bad), "_night", "left")
    is_aside = (
        F.col("_is_infra").isNotNull() & ~is_safety_violation() & (F.col("outcome") != Outcome.NOT_APPLICABLE.name)
    )
    return known.withColumn("is_aside", is_aside).drop("_night", "_is_infra")


def excused(attempts: DataFrame) -> DataFrame:
    """All attempts; those that do not count are INCONCLUSIVE, so that each is still seen to have run."""
    as_they_count = {"outcome": Outcome.INCONCLUSIVE.name, "kind": Kind.INFRA.value}
    columns = [
        F.when(F.col("is_aside"), as_they_count[name]).otherwise(F.col(name)).alias(name)
        if name in as_they_count
        else name
        for name in attempts.columns
    ]
    return attempts.select(*columns)


def _found(rows: Sequence[Sequence[int]], of_new_commits: Sequence[int]) -> list[tuple[object, ...]]:
    columns = np.array(rows, np.int64).reshape(-1, 3 + len(_COUNTS)).T
    return [
        (_EPOCH + dt.timedelta(days=each.night), *dataclasses.astuple(each)[1:])
        for each in outages.infra_nights(outages.Nightly(*columns), of_new_commits)
    ]
