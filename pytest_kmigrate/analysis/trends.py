"""Trends: durations, unavailability, time to fail over and write-behind lag over runs, and where they changed."""

from collections.abc import Sequence

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.believing import with_limit
from pytest_kmigrate.analysis.facts import CONDITION
from pytest_kmigrate.analysis.schemas.columns import COUNT, NUMBER, TEXT, struct
from pytest_kmigrate.analysis.schemas.trends import TRENDS
from pytest_kmigrate.analysis.statistics.alignment import lines
from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers
from pytest_kmigrate.analysis.statistics.rank_changes import first_p_value, level_changes, rises
from pytest_kmigrate.model.verdict import Outcome

LAG_METRIC = "ZkWriteBehindLag"
"""How far ZooKeeper is behind the metadata log, as the active controller reports it."""

UNAVAILABLE_FACT = "longest_s"
"""The fact with the longest time without an acknowledged write of a check; began_ns and ended_ns are its limits."""

_ACKNOWLEDGED_LATE_NS = 1_000_000_000
"""What was on its way when a fault began may still be acknowledged so much later; the gap it made begins only then."""

_MS_PER_S = 1_000
_NS_PER_MS = 1_000_000
_SERIES = ("measure", "name", "profile", "provider", "topology")
_CHANGE = struct(
    position=COUNT, median_before=NUMBER, median_after=NUMBER, ratio=NUMBER, p_value=NUMBER, direction=TEXT
)


def trends(
    durations: DataFrame, verdicts: DataFrame, faults: DataFrame, metrics: DataFrame, attempts: DataFrame
) -> DataFrame:
    """One row per run and thing measured in it, of all runs that gave an answer: others may have stopped anywhere.

    How long something took in an infra night says nothing of Kafka.
    """
    is_answer = F.col("outcome").isin(Outcome.CONFORMS.name, Outcome.VIOLATES.name)
    runs = attempts.where(is_answer & ~F.col("is_aside")).select(
        "folder", "test_id", *CONDITION, "run_id", "started_at", "commit"
    )
    gaps = _gaps(verdicts)
    measured = (
        _durations(durations, runs)
        .unionByName(_unavailable(gaps))
        .unionByName(_fail_overs(gaps, faults))
        .unionByName(_lags(metrics))
    )
    points = measured.where(F.col("value").isNotNull()).join(runs, "folder")
    return points.join(_version_order(attempts), "kafka").select(*TRENDS["trends"].names)


def _durations(durations: DataFrame, runs: DataFrame) -> DataFrame:
    """Whole runs by test, which are as long as the test is; phases and steps by their own names, all stays together."""
    what = F.concat_ws(" ", "what", "name")
    name = F.when(F.col("what") == "run", F.concat_ws(" ", F.lit("run"), "test_id")).otherwise(what)
    timed = durations.join(runs.select("folder", "test_id"), "folder")
    of_a_run = timed.groupBy("folder", name.alias("name")).agg(F.sum("took_ms").alias("value"))
    return of_a_run.select("folder", F.lit("duration_ms").alias("measure"), "name", "value")


def _gaps(verdicts: DataFrame) -> DataFrame:
    """The longest time without an acknowledged write of each run, with when it began and ended."""
    reported = verdicts.withColumn("_facts", F.from_json("facts", schemas.FACTS_MAP))
    number = {name: F.col("_facts")[name].try_cast("double") for name in (UNAVAILABLE_FACT, "began_ns", "ended_ns")}
    return reported.select("folder", "check", *[value.alias(name) for name, value in number.items()]).where(
        F.col(UNAVAILABLE_FACT).isNotNull()
    )


def _unavailable(gaps: DataFrame) -> DataFrame:
    value = (F.col(UNAVAILABLE_FACT) * _MS_PER_S).alias("value")
    return gaps.select("folder", F.lit("unavailable_ms").alias("measure"), F.col("check").alias("name"), value)


def _fail_overs(gaps: DataFrame, faults: DataFrame) -> DataFrame:
    """From the first fault that can have made the longest gap to the end of that gap: writers were served again."""
    could = faults.withColumnRenamed("began_ns", "_fault_ns").join(gaps, "folder")
    could = could.where(
        (F.col("_fault_ns") >= F.col("began_ns") - _ACKNOWLEDGED_LATE_NS) & (F.col("_fault_ns") <= F.col("ended_ns"))
    )
    first = could.groupBy("folder").agg(
        F.min_by("fault", "_fault_ns").alias("name"),
        ((F.max("ended_ns") - F.min("_fault_ns")) / _NS_PER_MS).alias("value"),
    )
    return first.select("folder", F.lit("fail_over_ms").alias("measure"), "name", "value")


def _lags(metrics: DataFrame) -> DataFrame:
    """The largest write-behind lag that any controller reported in a run."""
    reported = (
        metrics.where(F.col("metric").contains(LAG_METRIC)).groupBy("folder").agg(F.max("largest").alias("value"))
    )
    return reported.select(
        "folder", F.lit("write_behind_lag").alias("measure"), F.lit("largest").alias("name"), "value"
    )


def _version_order(attempts: DataFrame) -> DataFrame:
    """One row per Kafka with its place among all: releases by number (3.10 after 3.9), then by name."""
    digits = F.split(F.regexp_extract("kafka", r"^(\d+(?:\.\d+)*)", 1), r"\.")
    number = F.transform(digits, lambda each: F.coalesce(each.try_cast("int"), F.lit(-1)))
    ordered = F.array_sort(F.collect_set(F.struct(number.alias("number"), "kafka"))).alias("_versions")
    placed = attempts.agg(ordered).select(F.posexplode("_versions").alias("version_order", "_version"))
    return placed.select(F.col("_version.kafka").alias("kafka"), F.col("version_order").cast("long"))


def trend_changes(of_trends: DataFrame) -> DataFrame:
    """One row per run from which on something took longer, or less long: found by ranks, not by any threshold.

    Equal tests are compared with equal tests, so that adding a slow test is no regression: the medians are those of
    values that were made comparable. Series are many; what is believed of one depends on all of them. Every measure
    here is better the smaller it is. Runs without a start time are left out.
    """
    placed = of_trends.where(F.col("started_at").isNotNull())
    stratum = F.xxhash64("test_id").alias("stratum")
    point = F.struct("started_at", "run_id", "kafka", "value", stratum, F.xxhash64("kafka").alias("release"), "commit")
    series = placed.groupBy(*_SERIES).agg(F.sort_array(F.collect_list(point)).alias("_points"))
    columns = [F.col(f"_points.{name}") for name in ("value", "stratum", "release")]
    limited = with_limit(series, columns, _lines, first_p_value)
    changes = F.udf(_changes, ArrayType(_CHANGE), useArrow=False)(*columns, "_limit")
    found = limited.select("*", F.inline(changes))
    since = F.get("_points", F.col("position").cast("int"))
    return found.withColumn("_since", since).select(
        *_SERIES,
        F.col("_since.run_id").alias("since_run"),
        F.col("_since.started_at").alias("since_at"),
        F.col("_since.kafka").alias("since_kafka"),
        F.col("_since.commit").alias("since_commit"),
        *_CHANGE.names[1:],
    )


def _lines(value: Sequence[float], stratum: Sequence[int], release: Sequence[int]) -> list[tuple[Integers, Floats]]:
    return lines(np.array(value, np.float64), np.array(stratum, np.int64), np.array(release, np.int64))


def _changes(
    value: Sequence[float], stratum: Sequence[int], release: Sequence[int], limit: float
) -> list[tuple[object, ...]]:
    """The changes of every line of releases: where (in all points), from which median to which."""
    found: list[tuple[object, ...]] = []
    for line, level in _lines(value, stratum, release):
        for change in level_changes(level, limit):
            before, after = (
                float(np.median(level[part]))
                for part in (slice(change.began, change.at), slice(change.at, change.ended))
            )
            direction = "WORSE" if rises(level, change) else "BETTER"
            ratio = after / before if before else None
            found.append((int(line[change.at]), before, after, ratio, change.p_value, direction))
    return found
