"""Associations: how much more often failures come with one thing than without it, over many runs and comparisons."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis.arrow import over_arrays
from pytest_kmigrate.analysis.schemas.causes import ASSOCIATION, CAUSES
from pytest_kmigrate.analysis.statistics.arrays import Integers
from pytest_kmigrate.analysis.statistics.association import (
    Counts,
    false_discovery_rates,
    lift,
    log_fisher,
    ranks,
    simplest_first,
)
from pytest_kmigrate.model.verdict import Outcome

ALL_RUNS = ""
"""The population of every cluster: all runs. No check and no test has this name."""

COMBINED = "fault in phase"
"""The factor whose levels combine two others."""

_COUNTS = ("with_failures", "with_runs", "without_failures", "without_runs")
_FAILURE = ("what", "failure")
_LEVEL = ("factor", "level")
_POPULATION = ("what", "population", "factor")


def named(what: str, failure: Column, rows: DataFrame) -> DataFrame:
    """The runs of some rows, each as one of a failure, or of those that could have failed so."""
    return rows.select(F.lit(what).alias("what"), failure.alias("failure"), "folder")


def answered(rows: DataFrame) -> DataFrame:
    """Those rows that give an answer."""
    return rows.where(F.col("outcome").isin(Outcome.CONFORMS.name, Outcome.VIOLATES.name))


def violated(rows: DataFrame) -> DataFrame:
    """Those rows that tell of a violation."""
    return rows.where(F.col("outcome") == Outcome.VIOLATES.name)


def ran(attempts: DataFrame) -> DataFrame:
    """Runs that can have failed in any way."""
    return attempts.where(F.col("outcome") != Outcome.NOT_APPLICABLE.name)


def in_populations(failed: Sequence[DataFrame], could: Sequence[DataFrame]) -> DataFrame:
    """One row per failure and run that failed so, and per ``population`` and run that could have (no ``failure``)."""
    own_name = F.when(F.col("what") == "cluster", ALL_RUNS).otherwise(F.col("failure"))
    failures = functools.reduce(DataFrame.unionByName, failed).select("*", own_name.alias("population"))
    populations = functools.reduce(DataFrame.unionByName, could).select(
        "what", F.lit(None).cast("string").alias("failure"), "folder", F.col("failure").alias("population")
    )
    return failures.unionByName(populations).distinct()


def every_association(of_failures: DataFrame, had: DataFrame, known: DataFrame) -> DataFrame:
    """One row per failure and level that some of the runs which could fail so ``had`` and some had not.

    A run counts for a factor only if it is ``known`` (``folder``, ``factor``) which of its levels it had.
    """
    return _told(_counts(of_failures, had, known), _every_pair, CAUSES["causes"])


def seen_associations(of_failures: DataFrame, had: DataFrame, known: DataFrame) -> DataFrame:
    """The same, only of what failed runs had: for levels without number. Corrected for all pairs nevertheless."""
    return _told(_counts(of_failures, had, known), _pairs_seen, ASSOCIATION)


def _told(counts: DataFrame, judged: Callable[[pa.Array], list[dict[str, Any]]], row: StructType) -> DataFrame:
    """The statistics of all pairs at once: the correction for many comparisons is over every one that was made."""
    at_once = over_arrays(judged, ArrayType(row))
    return counts.agg(at_once(F.struct(*counts.columns)).alias("_all")).select(F.inline("_all"))


def _counts(of_failures: DataFrame, had: DataFrame, known: DataFrame) -> DataFrame:
    """Runs per failure (or population, where there is none) and level, and per factor (no ``level``).

    Runs that had the very same levels are counted together first: there are far fewer sorts of runs than runs, and
    every check of every run is a row here.
    """
    any_level = known.select("folder", "factor", F.lit(None).cast("string").alias("level"))
    levels = F.sort_array(F.collect_set(F.struct(*_LEVEL))).alias("_levels")
    of_runs = had.unionByName(any_level).groupBy("folder").agg(levels)
    # The same runs give the same sum of hashes: circumstances that were always together are known by it.
    hashes = F.sum(F.xxhash64("folder").cast("decimal(20,0)")).alias("_hashes")
    of_sorts = of_failures.join(of_runs, "folder").groupBy(*_FAILURE, "population", "_levels")
    return (
        of_sorts.agg(F.count("*").alias("_runs"), hashes)
        .select("*", F.inline("_levels"))
        .groupBy(*_FAILURE, "population", *_LEVEL)
        .agg(F.sum("_runs").alias("runs"), F.sum("_hashes").cast("string").alias("signature"))
    )


def _every_pair(rows: pa.Array) -> list[dict[str, Any]]:
    failed, varied, failed_with = _parts(pa.Table.from_struct_array(rows))
    pairs = failed.join(varied, list(_POPULATION), join_type="inner", use_threads=False).join(
        failed_with, [*_FAILURE, "population", *_LEVEL], use_threads=False
    )
    pairs = _pairs(pairs)
    judged = _judged(pairs, pairs.num_rows)
    inseparable = pa.array(_inseparable(pairs), pa.list_(pa.string()))
    return list(judged.append_column("inseparable", inseparable).to_pylist())


def _pairs_seen(rows: pa.Array) -> list[dict[str, Any]]:
    failed, varied, failed_with = _parts(pa.Table.from_struct_array(rows))
    pairs = failed_with.join(failed, [*_FAILURE, "population", "factor"], join_type="inner", use_threads=False).join(
        varied, [*_POPULATION, "level"], join_type="inner", use_threads=False
    )
    return list(_judged(_pairs(pairs), _compared(failed, varied)).to_pylist())


def _compared(failed: pa.Table, varied: pa.Table) -> int:
    """How many pairs there are in all: that a failure never came with a level has been looked at, too."""
    failures = failed.group_by(list(_POPULATION)).aggregate([("failure", "count")])
    levels = varied.group_by(list(_POPULATION)).aggregate([("level", "count")])
    both = failures.join(levels, list(_POPULATION), join_type="inner", use_threads=False)
    return int(np.dot(both["failure_count"].to_numpy(), both["level_count"].to_numpy()))


def _parts(counts: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Runs that failed, per failure; runs with each level that not all had, per population; runs with both."""
    is_population, is_any = pc.is_null(counts["failure"]), pc.is_null(counts["level"])

    def chosen(of: pa.ChunkedArray, name: str, *columns: str) -> pa.Table:
        rows = counts.filter(of).rename_columns([name if each == "runs" else each for each in counts.column_names])
        return rows.select([*columns, name])

    of_level, is_failure = pc.invert(is_any), pc.invert(is_population)
    runs = chosen(pc.and_(is_population, is_any), "_runs", *_POPULATION)
    varied = chosen(pc.and_(is_population, of_level), "with_runs", *_POPULATION, "level", "signature").join(
        runs, list(_POPULATION), join_type="inner", use_threads=False
    )
    varied = varied.filter(pc.less(varied["with_runs"], varied["_runs"]))
    failed = chosen(pc.and_(is_failure, is_any), "_failures", "failure", *_POPULATION)
    failed_with = chosen(pc.and_(is_failure, of_level), "_failed_with", *_FAILURE, "population", *_LEVEL)
    return failed, varied, failed_with


def _pairs(joined: pa.Table) -> pa.Table:
    """The four counts of runs of each pair, in order."""
    with_failures = pc.fill_null(joined["_failed_with"], 0)
    numbers = {
        "with_failures": with_failures,
        "with_runs": joined["with_runs"],
        "without_failures": pc.subtract(joined["_failures"], with_failures),
        "without_runs": pc.subtract(joined["_runs"], joined["with_runs"]),
    }
    of_pair = {name: joined[name] for name in (*_FAILURE, *_LEVEL, "signature")}
    return pa.table({**of_pair, **numbers}).sort_by([(name, "ascending") for name in (*_FAILURE, *_LEVEL)])


def _judged(pairs: pa.Table, compared: int) -> pa.Table:
    """The statistics of pairs out of so many that were ``compared``."""
    counts = Counts(*[pairs[name].to_numpy() for name in _COUNTS])
    log_p = log_fisher(counts)
    p_values = np.exp(log_p)
    ratio, low, high = lift(counts)
    failure = _numbered(pairs, *_FAILURE)
    is_combined = np.asarray(pc.equal(pairs["factor"], COMBINED))
    judged = {
        **{name: pairs[name] for name in (*_FAILURE, *_LEVEL, *_COUNTS)},
        "lift": ratio,
        "lift_low": low,
        "lift_high": high,
        "p_value": p_values,
        "q_value": false_discovery_rates(p_values, compared),
        "rank": ranks(failure, counts, simplest_first(failure, is_combined, log_p)),
    }
    return pa.table(judged)


def _numbered(pairs: pa.Table, *names: str) -> Integers:
    """A number for each row, the same for rows that are equal in these columns."""
    codes = np.zeros(pairs.num_rows, dtype=np.int64)
    for name in names:
        column = pairs.column(name).combine_chunks().dictionary_encode()
        codes = codes * (len(column.dictionary) + 1) + column.indices.to_numpy(zero_copy_only=False)
    return codes


def _inseparable(pairs: pa.Table) -> list[list[str]]:
    """The other levels of each pair's failure that were there in exactly the same runs."""
    failure, signature = _numbered(pairs, *_FAILURE), _numbered(pairs, "signature")
    together: dict[tuple[int, int], list[str]] = {}
    names = [f"{factor} {level}" for factor, level in zip(*[pairs.column(k).to_pylist() for k in _LEVEL], strict=True)]
    keys = list(zip(failure.tolist(), signature.tolist(), strict=True))
    for key, name in zip(keys, names, strict=True):
        together.setdefault(key, []).append(name)
    return [sorted(set(together[key]) - {name}) for key, name in zip(keys, names, strict=True)]
