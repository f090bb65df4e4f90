"""Strata: the runs of each failure and level test by test, as Arrow tables of counts.

``by_test`` has a row per failure (or population, where there is none), test and level, and per factor (no ``level``);
``met`` is what ``tests_met`` makes of it.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pytest_kmigrate.analysis.statistics.arrays import Integers
from pytest_kmigrate.analysis.statistics.association import Counts

FAILURE = ("what", "failure")
LEVEL = ("factor", "level")
POPULATION = ("what", "population", "factor")

_PAIR = "_pair"


def tests_met(pairs: pa.Table, by_test: pa.Table) -> pa.Table:
    """A row per pair and test that failed so and was run with the level: its runs, those with it, failures of each."""
    failed = part(by_test, "_failures", "failure", *POPULATION, "test")
    both = part(by_test, "_both", "failure", *POPULATION, "level", "test")
    met = joined(
        joined(_numbered(pairs), failed, ("failure", *POPULATION)), _had(by_test), (*POPULATION, "level", "test")
    )
    met = met.join(both, ["failure", *POPULATION, "level", "test"], use_threads=False)
    return met.set_column(met.column_names.index("_both"), "_both", pc.fill_null(met["_both"], 0))


def strata_of(met: pa.Table) -> tuple[Counts, Integers]:
    """The tests that failed so and were run both with the level and without, and the number of the pair of each."""
    met = met.filter(pc.less(met["_had"], met["_ran"]))
    pair, had, ran, failures, both = (met[name].to_numpy() for name in (_PAIR, "_had", "_ran", "_failures", "_both"))
    return Counts(both, had, failures - both, ran - had), pair


def tests_of(met: pa.Table, pairs: pa.Table, by_test: pa.Table) -> tuple[Counts, pa.ChunkedArray]:
    """Per pair the tests always run with the level and never, and how many of either failed so.

    And the one test that was ever run with it; null if there are several.
    """
    pair = met[_PAIR].to_numpy()
    is_always = np.asarray(pc.equal(met["_had"], met["_ran"]))
    failing, always_failing = (np.bincount(each, minlength=pairs.num_rows) for each in (pair, pair[is_always]))
    had = _had(by_test)
    spread = had.append_column("_always", pc.cast(pc.equal(had["_had"], had["_ran"]), pa.int64()))
    of_level = [("test", "count"), ("_always", "sum"), ("test", "min")]
    every = _counted(part(by_test, "_ran", *POPULATION, "test"), POPULATION).rename_columns({"test_count": "_tests"})
    failed = _counted(part(by_test, "_", "failure", *POPULATION, "test"), ("failure", *POPULATION))
    reported = joined(_numbered(pairs), every, POPULATION)
    reported = joined(reported, failed.rename_columns({"test_count": "_failing"}), ("failure", *POPULATION))
    reported = joined(reported, spread.group_by([*POPULATION, "level"]).aggregate(of_level), (*POPULATION, "level"))
    reported = reported.sort_by(_PAIR)
    tests, all_failing, with_it, always = (
        reported[name].to_numpy() for name in ("_tests", "_failing", "test_count", "_always_sum")
    )
    counts = Counts(always_failing, always, all_failing - failing, tests - with_it)
    return counts, pc.if_else(pc.equal(reported["test_count"], 1), reported["test_min"], None)


def part(counts: pa.Table, name: str, *columns: str) -> pa.Table:
    """The runs, by this name, of failures or of populations, with a level or with any: as ``columns`` have them."""
    is_failure, is_of_level = (pc.is_valid(counts[each]) for each in ("failure", "level"))
    wanted = is_failure if "failure" in columns else pc.invert(is_failure)
    rows = counts.filter(pc.and_(wanted, is_of_level if "level" in columns else pc.invert(is_of_level)))
    return rows.select([*columns, "runs"]).rename_columns([*columns, name])


def joined(left: pa.Table, right: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows of both that agree in these columns, in an order that does not depend on chance."""
    return left.join(right, list(keys), join_type="inner", use_threads=False)


def _had(by_test: pa.Table) -> pa.Table:
    """A row per population, test and level that it was run with: those runs, and all of its runs."""
    had = part(by_test, "_had", *POPULATION, "level", "test")
    return joined(had, part(by_test, "_ran", *POPULATION, "test"), (*POPULATION, "test"))


def _numbered(pairs: pa.Table) -> pa.Table:
    named = pairs.select([*FAILURE, *LEVEL, "population"])
    return named.append_column(_PAIR, pa.array(np.arange(pairs.num_rows)))


def _counted(rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    return rows.group_by(list(keys)).aggregate([("test", "count")])
