"""Associations: how much more often failures come with one thing than without it, over many runs and comparisons.

Runs are compared test by test where a test was run both with the thing and without it. Where none was, tests are.
"""

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
    ranks,
    simplest_first,
)
from pytest_kmigrate.analysis.statistics.stratified import judge
from pytest_kmigrate.analysis.strata import FAILURE, LEVEL, POPULATION, joined, part, strata_of, tests_met, tests_of
from pytest_kmigrate.model.verdict import Outcome

ALL_RUNS = ""
"""The population of every cluster: all runs. No check and no test has this name."""

COMBINED = "fault in phase"
"""The factor whose levels combine two others."""

_COUNTS = ("with_failures", "with_runs", "without_failures", "without_runs")


def named(what: str, failure: Column, rows: DataFrame) -> DataFrame:
    """The runs of some rows, each as one of a failure, or of those that could have failed so."""
    return rows.select(F.lit(what).alias("what"), failure.alias("failure"), "folder")


def answered(rows: DataFrame) -> DataFrame:
    """Those rows that give an answer."""
    return rows.where(F.col("outcome").isin(Outcome.CONFORMS.name, Outcome.VIOLATES.name))


def violated(rows: DataFrame) -> DataFrame:
    """The rows of a violation."""
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


def test_name() -> Column:
    """The test without its parameters, which name the fault."""
    return F.regexp_replace("test_id", r"\[.*$", "")


def every_association(of_failures: DataFrame, had: DataFrame, known: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per failure and level that some of the runs which could fail so ``had`` and some had not.

    A run counts for a factor only if it is ``known`` (``folder``, ``factor``) which of its levels it had.
    """
    return _told(_counts(of_failures, had, known, attempts), _every_pair, CAUSES["causes"])


def seen_associations(of_failures: DataFrame, had: DataFrame, known: DataFrame, attempts: DataFrame) -> DataFrame:
    """The same, only of what failed runs had: for levels without number. Corrected for all pairs nevertheless."""
    return _told(_counts(of_failures, had, known, attempts), _pairs_seen, ASSOCIATION)


def _told(counts: DataFrame, judged: Callable[[pa.Array], list[dict[str, Any]]], row: StructType) -> DataFrame:
    """The statistics of all pairs at once: the correction for many comparisons is over every one that was made."""
    at_once = over_arrays(judged, ArrayType(row))
    return counts.agg(at_once(F.struct(*counts.columns)).alias("_all")).select(F.inline("_all"))


def _counts(of_failures: DataFrame, had: DataFrame, known: DataFrame, attempts: DataFrame) -> DataFrame:
    """Runs per failure (or population, where there is none), test and level, and per factor (no ``level``).

    Runs that had the very same levels are counted together first: there are far fewer sorts of runs than runs, and
    every check of every run is a row here.
    """
    any_level = known.select("folder", "factor", F.lit(None).cast("string").alias("level"))
    levels = F.sort_array(F.collect_set(F.struct(*LEVEL))).alias("_levels")
    of_runs = had.unionByName(any_level).groupBy("folder").agg(levels)
    of_runs = of_runs.join(attempts.select("folder", test_name().alias("test")), "folder")
    # The same runs give the same sum of hashes: circumstances that were always together are known by it.
    hashes = F.sum(F.xxhash64("folder").cast("decimal(20,0)")).alias("_hashes")
    of_sorts = of_failures.join(of_runs, "folder").groupBy(*FAILURE, "population", "test", "_levels")
    return (
        of_sorts.agg(F.count("*").alias("_runs"), hashes)
        .select("*", F.inline("_levels"))
        .groupBy(*FAILURE, "population", "test", *LEVEL)
        .agg(F.sum("_runs").alias("runs"), F.sum("_hashes").cast("decimal(38,0)").alias("signature"))
    )


def _every_pair(rows: pa.Array) -> list[dict[str, Any]]:
    by_test = pa.Table.from_struct_array(rows)
    failed, varied, failed_with = _parts(_over_tests(by_test))
    pairs = joined(failed, varied, POPULATION)
    pairs = _pairs(pairs.join(failed_with, [*FAILURE, "population", *LEVEL], use_threads=False))
    judged = _judged(pairs, by_test, pairs.num_rows)
    inseparable = pa.array(_inseparable(pairs), pa.list_(pa.string()))
    return list(judged.append_column("inseparable", inseparable).to_pylist())


def _pairs_seen(rows: pa.Array) -> list[dict[str, Any]]:
    by_test = pa.Table.from_struct_array(rows)
    failed, varied, failed_with = _parts(_over_tests(by_test))
    pairs = joined(joined(failed_with, failed, (*FAILURE, "population", "factor")), varied, (*POPULATION, "level"))
    return list(_judged(_pairs(pairs), by_test, _compared(failed, varied)).to_pylist())


def _compared(failed: pa.Table, varied: pa.Table) -> int:
    """How many pairs there are in all: that a failure never came with a level has been looked at, too."""
    failures = failed.group_by(list(POPULATION)).aggregate([("failure", "count")])
    levels = varied.group_by(list(POPULATION)).aggregate([("level", "count")])
    both = joined(failures, levels, POPULATION)
    return int(np.dot(both["failure_count"].to_numpy(), both["level_count"].to_numpy()))


def _over_tests(by_test: pa.Table) -> pa.Table:
    """The runs of all tests together."""
    keys = [*FAILURE, "population", *LEVEL]
    sums = by_test.group_by(keys, use_threads=False).aggregate([("runs", "sum"), ("signature", "sum")])
    return sums.rename_columns({"runs_sum": "runs", "signature_sum": "signature"})


def _parts(counts: pa.Table) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Runs that failed, per failure; runs with each level that not all had, per population; runs with both."""
    runs = part(counts, "_runs", *POPULATION)
    varied = joined(part(counts, "with_runs", *POPULATION, "level", "signature"), runs, POPULATION)
    varied = varied.filter(pc.less(varied["with_runs"], varied["_runs"]))
    failed = part(counts, "_failures", "failure", *POPULATION)
    return failed, varied, part(counts, "_failed_with", *FAILURE, "population", *LEVEL)


def _pairs(joined: pa.Table) -> pa.Table:
    """The four counts of runs of each pair, in order."""
    with_failures = pc.fill_null(joined["_failed_with"], 0)
    numbers = {
        "with_failures": with_failures,
        "with_runs": joined["with_runs"],
        "without_failures": pc.subtract(joined["_failures"], with_failures),
        "without_runs": pc.subtract(joined["_runs"], joined["with_runs"]),
    }
    of_pair = {name: joined[name] for name in (*FAILURE, *LEVEL, "population", "signature")}
    return pa.table({**of_pair, **numbers}).sort_by([(name, "ascending") for name in (*FAILURE, *LEVEL)])


def _judged(pairs: pa.Table, by_test: pa.Table, compared: int) -> pa.Table:
    """The statistics of pairs out of so many that were ``compared``; counts are of the runs that were."""
    met = tests_met(pairs, by_test)
    strata, pair = strata_of(met)
    of_tests, only_in = tests_of(met, pairs, by_test)
    runs = Counts(*[pairs[name].to_numpy() for name in _COUNTS])
    found = judge(strata, pair, runs, of_tests)
    p_values = np.exp(found.log_p)
    failure = _numbered(pairs, *FAILURE)
    is_combined = np.asarray(pc.equal(pairs["factor"], COMBINED))
    judged = {
        **{name: pairs[name] for name in (*FAILURE, *LEVEL)},
        **{name: getattr(found.runs, name) for name in _COUNTS},
        "lift": found.lift,
        "lift_low": found.low,
        "lift_high": found.high,
        "p_value": p_values,
        "q_value": false_discovery_rates(p_values, compared),
        "rank": ranks(failure, found.lift > 1, simplest_first(failure, is_combined, found.log_p)),
        "tests_compared": found.strata,
        "only_in": pc.if_else(pa.array(found.strata == 0), only_in, None),
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
    failure, signature = _numbered(pairs, *FAILURE), _numbered(pairs, "signature")
    together: dict[tuple[int, int], list[str]] = {}
    names = [f"{factor} {level}" for factor, level in zip(*[pairs.column(k).to_pylist() for k in LEVEL], strict=True)]
    keys = list(zip(failure.tolist(), signature.tolist(), strict=True))
    for key, name in zip(keys, names, strict=True):
        together.setdefault(key, []).append(name)
    return [sorted(set(together[key]) - {name}) for key, name in zip(keys, names, strict=True)]
