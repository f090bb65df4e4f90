"""Causes: what each failure goes together with, and how sure that is, over many runs and many comparisons."""

import functools
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.arrow import over_arrays
from pytest_kmigrate.analysis.facts import FAULTS, NONE
from pytest_kmigrate.analysis.schemas.causes import CAUSES
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

_UNKNOWN = "unknown"
_ALL = ""
"""The population of every cluster: all runs. No check and no test has this name."""

_COMBINED = "fault in phase"

_COUNTS = ("with_failures", "with_runs", "without_failures", "without_runs")
_FAILURE = ("what", "failure")
_LEVEL = ("factor", "level")


def causes(attempts: DataFrame, faults: DataFrame, verdicts: DataFrame, members: DataFrame) -> DataFrame:
    """One row per failure and circumstance: the lift, its interval, how surely it is no chance, and its place.

    A failure (``what``) is a ``check`` that violated, a ``test`` that did, taken over its parameters, because these
    name the fault, or a ``cluster`` of messages. It is counted over the runs that could have shown it: those in which
    the check answered, the test answered, and for a cluster all that ran.
    A circumstance that all of these runs share says nothing and is left out. Those that were in force in the very
    same runs cannot be told apart: they share a rank, and each names the others.
    """
    of_failures = _failures(attempts, verdicts, members).unionByName(_populations(attempts, verdicts))
    counts = _counts(of_failures, circumstances(attempts, faults))
    judged = over_arrays(_judged, ArrayType(CAUSES["causes"]))
    return counts.agg(judged(F.struct(*counts.columns)).alias("_all")).select(F.inline("_all"))


def circumstances(attempts: DataFrame, faults: DataFrame) -> DataFrame:
    """One row per run and circumstance (``factor``, ``level``), each once; what is unknown is left out.

    A run with two faults had both; the role is that of every node a fault was aimed at. What a fault does may depend on
    the phase it met, so the two together are a circumstance as well.
    """
    injected = faults.join(attempts, "folder", "left_semi")
    others = attempts.join(faults, "folder", "left_anti")
    of_attempts = [_circumstance(attempts, factor, F.col(factor)) for factor in ("kafka", "topology")]
    of_faults = [_circumstance(runs, factor, F.col(factor)) for runs in (injected, others) for factor in FAULTS]
    in_phase = [_circumstance(runs, _COMBINED, _fault_in_phase()) for runs in (injected, others)]
    roles = injected.select("folder", F.explode(_roles()).alias("role"))
    spared = others.where(F.col("fault") == NONE)
    every = [
        *of_attempts,
        *of_faults,
        *in_phase,
        _circumstance(roles, "role", F.col("role")),
        _circumstance(spared, "role", F.lit(NONE)),
    ]
    told = functools.reduce(DataFrame.unionByName, every)
    return told.where(F.col("level").isNotNull() & (F.col("level") != _UNKNOWN)).distinct()


def _circumstance(rows: DataFrame, factor: str, level: Column) -> DataFrame:
    return rows.select("folder", F.lit(factor).alias("factor"), level.alias("level"))


def _fault_in_phase() -> Column:
    """Null where one of them is not known; a run that nothing was done to had no fault in any phase."""
    is_known = (F.col("fault") != _UNKNOWN) & (F.col("phase") != _UNKNOWN)
    return F.when(F.col("fault") == NONE, NONE).when(is_known, F.concat_ws(" in ", "fault", "phase"))


def _roles() -> Column:
    """The roles a fault was aimed at: of the nodes it hit, whose names begin with it, else as its own text tells."""
    hit = F.transform("targets", lambda node: F.regexp_extract(node, "^[a-z]+", 0))
    told = F.regexp_extract_all("fault", F.lit("(broker|controller|zookeeper)"), F.lit(1))
    return F.array_distinct(F.when(F.size("targets") > 0, hit).otherwise(told))


def _failures(attempts: DataFrame, verdicts: DataFrame, members: DataFrame) -> DataFrame:
    """The runs that failed: one row per failure and run, with the ``population`` the failure is counted in."""
    violated = F.col("outcome") == Outcome.VIOLATES.name
    own_name = F.when(F.col("what") == "cluster", _ALL).otherwise(F.col("failure"))
    return (
        _named("check", F.col("check"), verdicts.where(violated))
        .unionByName(_named("test", _test_name(), attempts.where(violated)))
        .unionByName(_named("cluster", F.col("cluster"), members))
        .select("*", own_name.alias("population"))
        .distinct()
    )


def _populations(attempts: DataFrame, verdicts: DataFrame) -> DataFrame:
    """The runs that could have: one row per run and check, test, or for clusters the run itself; no ``failure``."""
    ran = attempts.where(F.col("outcome") != Outcome.NOT_APPLICABLE.name)
    return (
        _named("check", F.col("check"), _answered(verdicts))
        .unionByName(_named("test", _test_name(), _answered(attempts)))
        .unionByName(_named("cluster", F.lit(_ALL), ran))
        .select("what", F.lit(None).cast("string").alias("failure"), "folder", F.col("failure").alias("population"))
        .distinct()
    )


def _named(what: str, failure: Column, rows: DataFrame) -> DataFrame:
    return rows.select(F.lit(what).alias("what"), failure.alias("failure"), "folder")


def _test_name() -> Column:
    return F.regexp_replace("test_id", r"\[.*$", "")


def _answered(rows: DataFrame) -> DataFrame:
    return rows.where(F.col("outcome").isin(Outcome.CONFORMS.name, Outcome.VIOLATES.name))


def _counts(of_failures: DataFrame, had: DataFrame) -> DataFrame:
    """Runs per failure (or population, where there is none) and circumstance, and per factor (no ``level``).

    A run counts for a factor only if its circumstance is known.
    """
    known = had.select("folder", "factor", F.lit(None).cast("string").alias("level")).distinct()
    # The same runs give the same sum of hashes: circumstances that were always together are known by it.
    signature = F.sum(F.xxhash64("folder").cast("decimal(38,0)")).cast("string").alias("signature")
    return (
        of_failures.join(had.unionByName(known), "folder")
        .groupBy(*_FAILURE, "population", *_LEVEL)
        .agg(F.count("*").alias("runs"), signature)
    )


def _pairs(counts: pa.Table) -> pa.Table:
    """One row per failure and circumstance that some of its runs had and some had not: the four counts of runs."""
    is_population, is_any = pc.is_null(counts["failure"]), pc.is_null(counts["level"])

    def chosen(of: pa.ChunkedArray, name: str, *columns: str) -> pa.Table:
        rows = counts.filter(of).rename_columns([name if each == "runs" else each for each in counts.column_names])
        return rows.select([*columns, name])

    both, of_level = ("what", "population", "factor"), pc.invert(is_any)
    runs = chosen(pc.and_(is_population, is_any), "_runs", *both)
    varied = chosen(pc.and_(is_population, of_level), "with_runs", *both, "level", "signature").join(
        runs, list(both), join_type="inner", use_threads=False
    )
    varied = varied.filter(pc.less(varied["with_runs"], varied["_runs"]))
    is_failure = pc.invert(is_population)
    failed = chosen(pc.and_(is_failure, is_any), "_failures", "failure", *both)
    failed_with = chosen(pc.and_(is_failure, of_level), "_failed_with", *_FAILURE, *_LEVEL)
    pairs = failed.join(varied, list(both), join_type="inner", use_threads=False).join(
        failed_with, [*_FAILURE, *_LEVEL], use_threads=False
    )
    with_failures = pc.fill_null(pairs["_failed_with"], 0)
    numbers = {
        "with_failures": with_failures,
        "with_runs": pairs["with_runs"],
        "without_failures": pc.subtract(pairs["_failures"], with_failures),
        "without_runs": pc.subtract(pairs["_runs"], pairs["with_runs"]),
    }
    named = {name: pairs[name] for name in (*_FAILURE, *_LEVEL, "signature")}
    return pa.table({**named, **numbers}).sort_by([(name, "ascending") for name in (*_FAILURE, *_LEVEL)])


def _judged(rows: pa.Array) -> list[dict[str, Any]]:
    """The statistics of all pairs at once: the correction for many comparisons is over every one that was made."""
    pairs = _pairs(pa.Table.from_struct_array(rows))
    counts = Counts(*[pairs[name].to_numpy() for name in _COUNTS])
    log_p = log_fisher(counts)
    p_values = np.exp(log_p)
    ratio, low, high = lift(counts)
    failure, signature = _numbered(pairs, *_FAILURE), _numbered(pairs, "signature")
    is_combined = np.asarray(pc.equal(pairs["factor"], _COMBINED))
    judged = {
        **{name: pairs[name] for name in (*_FAILURE, *_LEVEL, *_COUNTS)},
        "lift": ratio,
        "lift_low": low,
        "lift_high": high,
        "p_value": p_values,
        "q_value": false_discovery_rates(p_values),
        "rank": ranks(failure, counts, simplest_first(failure, is_combined, log_p)),
        "inseparable": pa.array(_inseparable(pairs, failure, signature), pa.list_(pa.string())),
    }
    return list(pa.table(judged).to_pylist())


def _numbered(pairs: pa.Table, *names: str) -> Integers:
    """A number for each row, the same for rows that are equal in these columns."""
    codes = np.zeros(pairs.num_rows, dtype=np.int64)
    for name in names:
        column = pairs.column(name).combine_chunks().dictionary_encode()
        codes = codes * (len(column.dictionary) + 1) + column.indices.to_numpy(zero_copy_only=False)
    return codes


def _inseparable(pairs: pa.Table, failure: Integers, signature: Integers) -> list[list[str]]:
    """The other circumstances of each pair's failure that were there in exactly the same runs."""
    together: dict[tuple[int, int], list[str]] = {}
    names = [f"{factor} {level}" for factor, level in zip(*[pairs.column(k).to_pylist() for k in _LEVEL], strict=True)]
    keys = list(zip(failure.tolist(), signature.tolist(), strict=True))
    for key, name in zip(keys, names, strict=True):
        together.setdefault(key, []).append(name)
    return [sorted(set(together[key]) - {name}) for key, name in zip(keys, names, strict=True)]
