"""Causes: what each failure goes together with, and how sure that is, over many runs and many comparisons."""

import functools
import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.associations import (
    ALL_RUNS,
    COMBINED,
    answered,
    every_association,
    in_populations,
    named,
    ran,
    test_name,
    violated,
)
from pytest_kmigrate.analysis.facts import BESIDE, NONE
from pytest_kmigrate.analysis.schemas.columns import UNKNOWN

_OF_FAULT = ("fault", "phase")


def causes(attempts: DataFrame, faults: DataFrame, verdicts: DataFrame, members: DataFrame) -> DataFrame:
    """One row per failure and circumstance: the lift, its interval, how surely it is no chance, and its place.

    A failure (``what``) is a ``check`` that violated, a ``test`` that did, taken over its parameters, because these
    name the fault, or a ``cluster`` of messages. It is counted over the runs that could have shown it: those in which
    the check answered, the test answered, and for a cluster all that ran. Runs are compared with others of their test
    if it was run both with and without the circumstance; if no test that failed so was, whole tests are compared.
    A circumstance that all of these runs share says nothing and is left out. Those that were in force in the very
    same runs cannot be distinguished: they share a rank, and each names the others.
    """
    failed = [
        named("check", F.col("check"), violated(verdicts)),
        named("test", test_name(), violated(attempts)),
        named("cluster", F.col("cluster"), members),
    ]
    could = [
        named("check", F.col("check"), answered(verdicts)),
        named("test", test_name(), answered(attempts)),
        named("cluster", F.lit(ALL_RUNS), ran(attempts)),
    ]
    had = circumstances(attempts, faults)
    return every_association(in_populations(failed, could), had, had, attempts)


def circumstances(attempts: DataFrame, faults: DataFrame) -> DataFrame:
    """One row per run and circumstance (``factor``, ``level``), each once; what is unknown is left out.

    A run with two faults had both; the role is that of every node a fault was aimed at. What a fault does may depend on
    the phase it met, so the two together are a circumstance as well.
    """
    injected = faults.join(attempts, "folder", "left_semi")
    others = attempts.join(faults, "folder", "left_anti")
    of_attempts = [_circumstance(attempts, factor, F.col(factor)) for factor in ("kafka", "topology")]
    of_faults = [_circumstance(runs, factor, F.col(factor)) for runs in (injected, others) for factor in _OF_FAULT]
    in_phase = [_circumstance(runs, COMBINED, _fault_in_phase()) for runs in (injected, others)]
    roles = attempts.select("folder", F.explode(F.split("role", re.escape(BESIDE))).alias("role"))
    every = [
        *of_attempts,
        *of_faults,
        *in_phase,
        _circumstance(roles, "role", F.col("role")),
    ]
    reported = functools.reduce(DataFrame.unionByName, every)
    return reported.where(F.col("level").isNotNull() & (F.col("level") != UNKNOWN)).distinct()


def _circumstance(rows: DataFrame, factor: str, level: Column) -> DataFrame:
    return rows.select("folder", F.lit(factor).alias("factor"), level.alias("level"))


def _fault_in_phase() -> Column:
    """Null where one of them is not known; a run that nothing was done to had no fault in any phase."""
    is_known = (F.col("fault") != UNKNOWN) & (F.col("phase") != UNKNOWN)
    return F.when(F.col("fault") == NONE, NONE).when(is_known, F.concat_ws(" in ", "fault", "phase"))
