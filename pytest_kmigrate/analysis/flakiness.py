"""Flakiness: what each test's runs under equal conditions amount to, and from which run on they were different."""

import dataclasses
from collections.abc import Sequence

import numpy as np
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.believing import with_limit
from pytest_kmigrate.analysis.facts import CONDITION, FAULTS, is_safety_violation
from pytest_kmigrate.analysis.nights import night_of
from pytest_kmigrate.analysis.schemas.columns import COUNT, NUMBER, TEXT, struct
from pytest_kmigrate.analysis.statistics import bounds, histories
from pytest_kmigrate.analysis.statistics.arrays import Flags, Integers
from pytest_kmigrate.analysis.statistics.bernoulli_changes import first_p_value, rate_changes
from pytest_kmigrate.analysis.statistics.shrinkage import shrunk_rates
from pytest_kmigrate.analysis.statistics.version_lines import version_lines
from pytest_kmigrate.model.verdict import Outcome

CELL = ("test_id", *CONDITION, *FAULTS)
"""A test under equal conditions."""

REQUIREMENT_CELL = ("requirement", *CELL)
"""What such a test says of one requirement. Over several tests there is no order of runs to speak of: a night that runs
a green test ten times and then a red one ten times has changed nothing."""

_COUNTED = struct(
    **{name: TEXT if name in ("decision", "standing") else COUNT for name in histories.Told.__annotations__}
)
_RATES = struct(
    **dict.fromkeys(
        ("flip_rate", "wilson_low", "wilson_high", "rate", "shrunk_rate", "shrunk_low", "shrunk_high"), NUMBER
    ),
    bound_after_clean=NUMBER,
    more_runs_needed=COUNT,
)
_CHANGE = struct(
    position=COUNT,
    newest=COUNT,
    rate_before=NUMBER,
    rate_after=NUMBER,
    runs_before=COUNT,
    runs_after=COUNT,
    p_value=NUMBER,
)


def flakiness(attempts: DataFrame, cell: tuple[str, ...] = CELL) -> DataFrame:
    """One row per cell: its counts, its rate of violations as it is and in the light of others, and a verdict.

    Rates and verdict are of the runs since the last change of the cell, counts and flips of all its runs. Runs
    without a start time are counted but left out of every statistic that depends on order.

    Cells that agree in the first column of ``cell``, of one test or of one requirement, lend each other strength. Every
    attempt counts, retries too. INCONCLUSIVE is no answer and counted apart, and so is whatever happened in an infra
    night, save SAFETY violations, which nothing excuses.
    """
    # sort_array compares natively; array_sort calls a comparator it interprets, and takes minutes for millions of runs.
    # Lists leave nulls out.
    is_placed = F.col("started_at").isNotNull()
    in_order = F.sort_array(F.collect_list(F.when(is_placed, F.struct("started_at", "run_id", "letter"))))
    timeless = F.collect_list(F.when(~is_placed, F.col("letter")))
    cells = (
        _lettered(attempts, cell)
        .groupBy(*cell)
        .agg(in_order["letter"].alias("_letters"), timeless.alias("_timeless"), F.max("started_at").alias("newest_at"))
    )
    letters = (F.concat_ws("", "_letters"), F.concat_ws("", "_timeless"))
    reported = F.udf(_told, _COUNTED, useArrow=False)(*letters)
    counted = cells.select(*cell, reported.alias("_told"), "newest_at").select(*cell, "_told.*", "newest_at")
    return _with_rates(counted, cell[0]).drop("turns")


def _lettered(attempts: DataFrame, cell: tuple[str, ...]) -> DataFrame:
    """Attempts with what each was as a letter of a history; a small one for a retry.

    A retry is the same test with the same seed once more in a night in which it violated already: it repeats a
    question rather than asking a new one.
    """
    violated = F.col("outcome") == Outcome.VIOLATES.name
    letter = (
        F.when(F.col("is_aside"), histories.SET_ASIDE)
        .when(is_safety_violation(), histories.SAFETY)
        .when(violated & (F.size("known_bugs") > 0), histories.EXPLAINED)
        .when(violated, histories.VIOLATES)
        .when(F.col("outcome") == Outcome.CONFORMS.name, histories.CONFORMS)
        .when(F.col("outcome") == Outcome.INCONCLUSIVE.name, histories.INCONCLUSIVE)
        .otherwise(histories.NOT_APPLICABLE)
    )
    same_question = Window.partitionBy(*cell, F.coalesce("seed", "run_id"), night_of("started_at"))
    before = same_question.orderBy("started_at", "run_id").rowsBetween(Window.unboundedPreceding, -1)
    is_retry = F.coalesce(F.bool_or(violated).over(before), F.lit(col=False)) & F.col("started_at").isNotNull()
    is_answer = letter.isin(list(histories.ANSWERS))
    return attempts.withColumn("letter", F.when(is_retry & is_answer, F.lower(letter)).otherwise(letter))


def _told(history: str, timeless: str) -> tuple[object, ...]:
    return dataclasses.astuple(histories.reported(history, timeless))


def _with_rates(counted: DataFrame, family: str) -> DataFrame:
    """Cells with their rates. Each is seen in the light of all, so all counts go to one place; the cells are few."""
    needed = ("conforming_now", "violating_now", "flips", "turns", "clean_runs")
    # A field of an array of structs is the array of that field.
    columns = [F.col(f"_cells.{name}") for name in needed]
    families = F.transform("_cells", lambda cell: F.xxhash64(cell[family]))
    rates = F.udf(_rates, ArrayType(_RATES), useArrow=False)(families, *columns)
    all_cells = counted.agg(F.collect_list(F.struct(*counted.columns)).alias("_cells"))
    paired = all_cells.withColumn("_rates", rates).select(F.inline(F.arrays_zip("_cells", "_rates")))
    return paired.select("_cells.*", "_rates.*")


def _rates(family: list[int], *counts: list[int]) -> list[tuple[object, ...]]:
    conforming_now, found, flips, turns, clean = (np.array(each, np.int64) for each in counts)
    answers = conforming_now + found
    of_family = np.unique(np.array(family, np.int64), return_inverse=True)[1]
    shrunk = shrunk_rates(of_family, found, answers)
    low, high = bounds.interval_95(found, answers)
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = found / answers
        flipping = flips / turns
    numbers = np.stack(
        [flipping, low, high, raw, shrunk.rate, shrunk.low, shrunk.high, bounds.bound_after_clean(clean)], axis=1
    )
    needed = bounds.more_clean_runs_needed(clean)
    return [
        (*[None if np.isnan(each) else float(each) for each in row], int(more))
        for row, more in zip(numbers, needed, strict=True)
    ]


def change_points(attempts: DataFrame, cell: tuple[str, ...] = CELL) -> DataFrame:
    """One row per run from which on a cell violated more, or less, often, whatever the release.

    Releases that followed each other are one series, so that the release is found with which a change began; ``kafka``
    is the newest of them. Retries are left out: a seed that fails three times in a row has failed once. Cells are many;
    what is believed of one depends on all of them. What a cell amounts to (``flakiness``) is judged of it alone. Runs
    without a start time are left out.
    """
    placed = _lettered(attempts, cell).where(F.col("started_at").isNotNull())
    answers = placed.where(F.col("letter").isin(list(histories.ANSWERS)))
    release = F.xxhash64("kafka").alias("release")
    run = F.struct("started_at", "run_id", "kafka", "attempt", "letter", release, "commit")
    # A test that always gave one answer has not changed; most are so, and need not be put in order.
    is_green = F.col("letter") == histories.CONFORMS
    is_mixed = F.bool_or(is_green) & F.bool_or(~is_green)
    series = answers.groupBy(*[name for name in cell if name != "kafka"])
    mixed = series.agg(F.collect_list(run).alias("_runs"), is_mixed.alias("_is_mixed")).where("_is_mixed")
    ordered = mixed.withColumn("_runs", F.sort_array("_runs"))
    columns = (F.concat_ws("", "_runs.letter"), F.col("_runs.release"))
    limited = with_limit(ordered, columns, _lines, first_p_value)
    changes = F.udf(_changes, ArrayType(_CHANGE), useArrow=False)(*columns, "_limit")
    found = limited.select("*", F.inline(changes))
    return found.withColumn("_since", _at("position")).select(
        *[_at("newest")["kafka"].alias(name) if name == "kafka" else F.col(name) for name in cell],
        F.col("_since.run_id").alias("since_run"),
        F.col("_since.started_at").alias("since_at"),
        F.col("_since.attempt").cast("long").alias("since_attempt"),
        F.col("_since.kafka").alias("since_kafka"),
        F.col("_since.commit").alias("since_commit"),
        *[name for name in _CHANGE.names if name not in ("position", "newest")],
    )


def _at(position: str) -> Column:
    return F.get("_runs", F.col(position).cast("int"))


def _lines(history: str, release: Sequence[int]) -> list[tuple[Integers, Flags]]:
    """The runs of every line of releases, and which of them violated."""
    violated = histories.violations(history)
    return [(line, violated[line]) for line in version_lines(np.array(release, np.int64))]


def _changes(history: str, release: Sequence[int], limit: float) -> list[tuple[object, ...]]:
    """The changes of every line of releases: where (in all runs), from which rate to which."""
    found: list[tuple[object, ...]] = []
    for line, answers in _lines(history, release):
        for change in rate_changes(answers, limit):
            before, after = answers[change.began : change.at], answers[change.at : change.ended]
            rates = float(before.mean()), float(after.mean())
            found.append((int(line[change.at]), int(line[-1]), *rates, len(before), len(after), change.p_value))
    return found
