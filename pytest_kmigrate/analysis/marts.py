"""Marts: what people look at. Flakiness, requirements, causes, consistency, durations and growth over many runs."""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.facts import CONDITION, FAULTS, is_safety_violation, weight
from pytest_kmigrate.analysis.intervals import interval_95
from pytest_kmigrate.analysis.percentiles import ascending, percentile
from pytest_kmigrate.model.verdict import SEEN_AS, Outcome

CELL = ("test_id", "requirement", *CONDITION, *FAULTS)

FEWEST_SIZES = 3
"""Through two sizes every line fits."""

FITS = 0.9
"""The least R² of a line that is drawn on: below, a size explains next to nothing of what was measured."""

BEYOND = 10
"""How many times the largest size that was tried the line is drawn out to."""


def cells(requirement_attempts: DataFrame, requirement_flakiness: DataFrame) -> DataFrame:
    """One row per test, requirement and condition: the grain at which flaky is decided."""
    return _with_standing(statistics(requirement_attempts, CELL), requirement_flakiness, CELL)


def tests(attempts: DataFrame, flakiness: DataFrame) -> DataFrame:
    """One row per test and cluster shape, over all its faults and phases."""
    keys = ("test_id", *CONDITION)
    return _with_standing(statistics(attempts, keys), flakiness, keys)


def requirements(requirement_attempts: DataFrame, requirement_flakiness: DataFrame) -> DataFrame:
    """One row per requirement, profile and Kafka version, over all tests that speak about it.

    ``judged_by`` are all checks that could have violated it, ``violated_by`` those that did where it stands worst: by
    SAFETY ones, where there is any.
    """
    keys = ("requirement", "profile", "kafka")
    safety, any_kind = (_checks_where(chosen) for chosen in (is_safety_violation(), _is(Outcome.VIOLATES)))
    violated_by = F.when(F.bool_or(is_safety_violation()), safety).otherwise(any_kind).alias("violated_by")
    judged_by = F.array_sort(F.array_distinct(F.flatten(F.collect_list("judged_by")))).alias("judged_by")
    return _with_standing(statistics(requirement_attempts, keys, judged_by, violated_by), requirement_flakiness, keys)


def requirement_outcomes(requirement_attempts: DataFrame) -> DataFrame:
    """One row per requirement, profile, Kafka version, outcome and what explains it: what a tally counts.

    ``outcome`` is null where no check could have violated the requirement. ``known_bugs`` is empty unless known bugs
    explain all that is violated.
    """
    could = F.when(F.size("judged_by") > 0, F.col("outcome")).alias("outcome")
    of = requirement_attempts.select("requirement", "profile", "kafka", could, "known_bugs")
    counted = of.groupBy(*of.columns).agg(F.count("*").alias("runs"))
    return counted.select(*schemas.TABLES["requirement_outcomes"].names)


def _checks_where(chosen: Column) -> Column:
    return F.array_sort(F.array_distinct(F.flatten(F.collect_list(F.when(chosen, F.col("violated_by"))))))


def statistics(rows: DataFrame, keys: tuple[str, ...], *more: Column) -> DataFrame:
    """Counts, pass rate with its interval and durations per group of ``keys``, and ``more`` columns.

    INCONCLUSIVE is counted apart: the pass rate is that of the runs which gave an answer, so a weak harness never
    looks like a flaky Kafka. Durations are those of runs with an answer, for the same reason.
    """
    is_answer = _is(Outcome.CONFORMS) | _is(Outcome.VIOLATES)
    answered_ms = F.when(is_answer, F.col("duration_ms"))
    counted = rows.groupBy(_number(keys).alias("_group")).agg(
        *[F.first(key).alias(key) for key in keys],
        F.count("*").alias("runs"),
        F.count_if(_is(Outcome.CONFORMS)).alias("conforming"),
        F.count_if(_is(Outcome.VIOLATES)).alias("violating"),
        F.count_if(_is(Outcome.INCONCLUSIVE)).alias("inconclusive"),
        F.count_if(_is(Outcome.NOT_APPLICABLE)).alias("not_applicable"),
        F.count_if(is_safety_violation()).alias("safety_violations"),
        ascending(answered_ms).alias("_answered_ms"),
        *more,
    )
    answers = F.col("conforming") + F.col("violating")
    low, high = interval_95(F.col("conforming"), answers)
    rated = {
        "pass_rate": F.when(answers > 0, F.col("conforming") / answers),
        "pass_rate_low": low,
        "pass_rate_high": high,
        "duration_median_ms": percentile(F.col("_answered_ms"), 0.5),
        "duration_p90_ms": percentile(F.col("_answered_ms"), 0.9),
    }
    return counted.withColumns(rated).drop("_group", "_answered_ms")


def _number(keys: tuple[str, ...]) -> Column:
    """What stands for a group; of a million groups two share one with a chance of 3 in 100 million.

    Where there are more than 128 groups, Spark sorts the rows whose values it gathers by what they are grouped by. It
    sorts numbers by their digits, but would compare nine texts, most of them equal, with nine others.
    """
    # A null leaves the number as it was, wherever it stands.
    return F.xxhash64(*keys, *[F.isnull(key) for key in keys])


def _with_standing(counted: DataFrame, flakiness: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Groups with what the cells in them amount to now, worst first.

    What broke comes before what flakes: it was well and will stay broken. VARIES: some cells are red, others green. A
    group of which a third of the runs gave no answer is not called conforming, as no cell is.
    """

    def some(standing: str) -> Column:
        return F.bool_or(F.col("standing") == standing)

    violates, conforms, unknown = (each.name for each in (Outcome.VIOLATES, Outcome.CONFORMS, Outcome.INCONCLUSIVE))
    broke = F.bool_or((F.col("standing") == violates) & (F.col("conforming") > 0))
    # The same rule as for a cell: ``histories.is_undecided``.
    undecided = F.sum("undecided_now")
    is_undecided = (undecided > 0) & (F.sum(F.col("conforming_now") + F.col("violating_now")) <= 2 * undecided)
    standing = (
        F.when(some("SAFETY"), "SAFETY")
        .when(broke, violates)
        .when(some("FLAKY"), "FLAKY")
        .when(some(violates) & some(conforms), "VARIES")
        .when(some(violates), violates)
        .when(some(conforms) & ~is_undecided, conforms)
        .when(some(conforms) | some(unknown), unknown)
        .otherwise(Outcome.NOT_APPLICABLE.name)
    )
    now = flakiness.groupBy(*keys).agg(standing.alias("standing"))
    return counted.join(now, list(keys), "left").withColumn("standing", F.coalesce("standing", F.lit(unknown)))


def fault_effects(faults: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per fault, phase and version: how often it was injected, seen to bite, and how those runs ended."""
    ends = attempts.select("folder", "kafka", "outcome")
    return (
        faults.join(ends, "folder")
        .groupBy("fault", "phase", "kafka")
        .agg(
            F.count("*").alias("injected"),
            F.count_if("is_witnessed").alias("witnessed"),
            _runs_that(Outcome.CONFORMS).alias("conforming"),
            _runs_that(Outcome.VIOLATES).alias("violating"),
        )
    )


def bugs(verdicts: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per named Kafka bug and version that a violation was explained by, with what was observed of it."""
    runs = attempts.select("folder", "kafka", "test_id")
    named = verdicts.where(_is(Outcome.VIOLATES)).join(runs, "folder").withColumn("bug", F.explode("known_bugs"))
    seen = F.from_json(F.from_json("facts", schemas.FACTS_MAP)[SEEN_AS], schemas.FACTS_MAP)
    # Runs of version 0.1 have no such fact.
    named = named.withColumn("observed", F.coalesce(seen[F.col("bug")], "summary"))
    by_it = F.filter("about", _is_violated_by(F.col("bug")))
    named = named.withColumn("_violated", F.coalesce(by_it["requirement"], F.col("requirements")))
    return named.groupBy("bug", "kafka").agg(
        F.count_distinct("folder").alias("runs"),
        F.array_sort(F.collect_set("kind")).alias("kinds"),
        F.array_sort(F.collect_set("check")).alias("checks"),
        F.array_sort(F.array_distinct(F.flatten(F.collect_list("_violated")))).alias("requirements"),
        F.array_sort(F.collect_set("test_id")).alias("tests"),
        F.min("observed").alias("example"),
    )


def _is_violated_by(bug: Column) -> Callable[[Column], Column]:
    """Whether a bug explains that a requirement is violated; older folders know that of the verdict only."""

    def of(about: Column) -> Column:
        known = F.coalesce(about["known_bugs"], F.col("known_bugs"))
        return (about["outcome"] == Outcome.VIOLATES.name) & F.array_contains(known, bug)

    return of


def consistency(verdicts: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per version, topology and check: its verdicts merged, the anomalies of all of them added up."""
    worst = F.max(F.struct(weight().alias("weight"), "outcome", "kind", "summary"))
    return (
        verdicts.join(attempts.select("folder", "kafka", "topology"), "folder")
        .groupBy("kafka", "topology", "check")
        .agg(
            worst.alias("_worst"),
            F.count("*").alias("verdicts"),
            F.count_if(_is(Outcome.CONFORMS)).alias("conforming"),
            F.count_if(_is(Outcome.VIOLATES)).alias("violating"),
            F.count_if(_is(Outcome.INCONCLUSIVE)).alias("inconclusive"),
            F.count_if(_is(Outcome.NOT_APPLICABLE)).alias("not_applicable"),
            F.coalesce(F.sum(F.when(_is(Outcome.VIOLATES), F.col("count"))), F.lit(0)).alias("anomalies"),
            F.max("anomaly").alias("anomaly"),
        )
        .select("*", "_worst.outcome", "_worst.kind", F.col("_worst.summary").alias("example"))
        .select(*schemas.TABLES["consistency"].names)
    )


def consistency_facts(verdicts: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per version, topology, check and number that check reported: its total and its largest value."""
    reported = verdicts.select(
        "folder", "check", F.explode(F.from_json("facts", schemas.FACTS_MAP)).alias("fact", "text")
    )
    number = F.col("text").try_cast("double")
    return (
        reported.withColumn("_number", number)
        .where(F.col("_number").isNotNull() & ~F.isnan("_number"))
        .join(attempts.select("folder", "kafka", "topology"), "folder")
        .groupBy("kafka", "topology", "check", "fact")
        .agg(F.count("*").alias("verdicts"), F.sum("_number").alias("total"), F.max("_number").alias("largest"))
    )


def duration_statistics(durations: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per condition and timed thing: how often, median, 90 % and longest.

    A container starts otherwise than a process, so only runs on the same kind of cluster are counted together.
    """
    keys = (*CONDITION, "what", "name")
    timed = durations.join(attempts.select("folder", *CONDITION), "folder")
    took_ms = F.col("_took_ms")
    return (
        timed.groupBy(*keys)
        .agg(ascending(F.col("took_ms")).alias("_took_ms"))
        .select(
            *keys,
            F.size(took_ms).cast("long").alias("times"),
            percentile(took_ms, 0.5).alias("median_ms"),
            percentile(took_ms, 0.9).alias("p90_ms"),
            percentile(took_ms, 1.0).alias("largest_ms"),
        )
    )


def growth(figures: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per condition and measure: its median at each size, and the least-squares line through these medians.

    ``at_zero`` + ``per_one`` * size, in the unit of the measure. ``extrapolated`` is what the line says of ``beyond``,
    a size that nothing was measured at; null where the line does not fit. Without ``FEWEST_SIZES`` sizes there is none.
    """
    keys = (*CONDITION, "measure", "unit", "of")
    medians = (
        figures.where(F.col("measured").isNotNull() & F.col("size").isNotNull())
        .join(attempts.select("folder", *CONDITION), "folder")
        .groupBy(*keys, "size")
        .agg(ascending(F.col("measured")).alias("_all"))
        .select(*keys, "size", percentile(F.col("_all"), 0.5).alias("median"), F.size("_all").alias("times"))
    )
    point = F.struct("size", "median", F.col("times").cast("long").alias("times"))
    lines = medians.groupBy(*keys).agg(
        F.array_sort(F.collect_list(point)).alias("points"),
        F.regr_intercept("median", "size").alias("_at_zero"),
        F.regr_slope("median", "size").alias("_per_one"),
        F.regr_r2("median", "size").alias("_r_squared"),
        (F.max("size") * BEYOND).alias("_beyond"),
    )
    is_line = F.size("points") >= FEWEST_SIZES
    known = {name: F.when(is_line, F.col(f"_{name}")) for name in ("at_zero", "per_one", "r_squared", "beyond")}
    there = F.when(F.col("r_squared") >= FITS, F.col("at_zero") + F.col("per_one") * F.col("beyond"))
    drawn = lines.withColumns(known).withColumn("extrapolated", there)
    return drawn.select(*schemas.TABLES["growth"].names)


def _is(outcome: Outcome) -> Column:
    return F.col("outcome") == outcome.name


def _runs_that(outcome: Outcome) -> Column:
    return F.count_distinct(F.when(_is(outcome), F.col("folder")))
