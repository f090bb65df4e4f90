"""Facts: what happened, one row per run, attempt, verdict, fault or duration; the tables that marts count."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.schemas.columns import UNKNOWN, no_texts, shaped
from pytest_kmigrate.model.event import PHASE, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome

EVERY_RUN = "(every run)"
"""Stands for the test where a requirement was judged by checks that its test did not ask for."""

NONE = "none"
"""Shown where a condition is empty: no fault was injected, a run claims no requirement."""

UNJUDGED = "anything judged"
"""Stands for the checks of a run that has no verdict, as it was cut before it was judged."""

CONDITION = ("profile", "provider", "kafka", "topology")
BESIDE = " + "
"""Stands between several faults, phases or roles of one run."""

FAULTS = ("fault", "phase", "role")

_NS_PER_MS = 1_000_000
_NS_PER_S = 1_000_000_000
_FAULT_KINDS = (
    EventKind.FAULT_BEGAN,
    EventKind.FAULT_APPLIED,
    EventKind.FAULT_WITNESSED,
    EventKind.FAULT_NOT_WITNESSED,
    EventKind.FAULT_HEALED,
)


def weight() -> Column:
    """How bad ``outcome`` is, as a number: the model's order, a SAFETY violation above other ones."""
    ranks = F.create_map(*[F.lit(part) for outcome in Outcome for part in (outcome.name, int(outcome) * 2)])
    return ranks[F.col("outcome")] + F.when(F.col("kind") == Kind.SAFETY.value, 1).otherwise(0)


def is_safety_violation() -> Column:
    """Whether ``outcome`` and ``kind`` are those of a violation that nothing makes up for."""
    return (F.col("outcome") == Outcome.VIOLATES.name) & F.col("kind").eqNullSafe(Kind.SAFETY.value)


def role_of(node: Column) -> Column:
    """What a node is, by its name: ``broker-1`` is a broker."""
    return F.regexp_extract(node, "^[a-z]+", 0)


def verdicts(runs: DataFrame, staged: DataFrame, unreadable: DataFrame) -> DataFrame:
    """One row per verdict of every good run, and one for each thing that makes a run's verdicts incomplete.

    A run that was interrupted, that judged nothing, or whose verdicts are not all as it wrote them can be at best
    INCONCLUSIVE, and still be VIOLATES: what was seen stays seen.
    """
    judged = staged.join(runs.select("folder"), "folder", "left_semi")
    interrupted = runs.where(~F.col("is_complete")).select("folder")
    silent = runs.where("is_complete").join(judged, "folder", "left_anti").join(unreadable, "folder", "left_anti")
    damaged = unreadable.join(runs.select("folder"), "folder", "left_semi").select("folder").distinct()
    added = (
        _inconclusive(interrupted, "run finished", Kind.HARNESS, "interrupted: the run has no manifest.json")
        .unionByName(_inconclusive(silent, UNJUDGED, Kind.VACUOUS, "the run has no verdict"))
        .unionByName(
            _inconclusive(damaged, "verdicts readable", Kind.HARNESS, "verdicts.jsonl is set aside, or lines of it")
        )
    )
    columns = schemas.TABLES["verdicts"].names
    return judged.select(*columns).unionByName(added.select(*columns))


def _inconclusive(folders: DataFrame, check: str, kind: Kind, summary: str) -> DataFrame:
    reported = {"check": check, "outcome": Outcome.INCONCLUSIVE.name, "kind": kind.value, "summary": summary}
    values = {name: F.lit(value) for name, value in reported.items()} | {"count": F.lit(0)}
    values |= dict.fromkeys(("violations", "facts"), F.lit(None))
    values |= dict.fromkeys(("requirements", "known_bugs"), F.array())
    values |= {"anomaly": F.lit(None), "counts": F.lit(col=True), "standing": F.lit(col=False), "about": F.lit(None)}
    return shaped(folders, schemas.TABLES["verdicts"], values)


def phases(events: DataFrame) -> DataFrame:
    """Events with two columns more: the ``phase`` the run was in, and ``data`` read."""
    read = events.withColumn("data", F.from_json("data", schemas.EVENT_DATA))
    until_now = Window.partitionBy("folder").orderBy("seq")
    entered = F.when(_is_phase(), F.col("data.state"))
    return read.withColumn("phase", F.coalesce(F.last(entered, ignorenulls=True).over(until_now), F.lit(UNKNOWN)))


def _is_phase() -> Column:
    return (F.col("kind") == EventKind.STATE.value) & (F.col("data.of") == PHASE)


def endings(runs: DataFrame, staged_events: DataFrame) -> DataFrame:
    """One row per run: whether its history records its end, and whether a workload in it may still be at work.

    A last line that cannot be read may have been the end; it is set aside itself. Where a workload that began did not
    end, sends in flight have left no row. So it may be where this is unknown: a line that cannot be read may have been
    the beginning of a workload, and a history with neither that nor the end is cut.
    """
    is_good, is_end = F.col("reason").isNull(), F.col("kind").eqNullSafe(EventKind.RUN_ENDED.value)
    began = F.count_if((F.col("kind") == EventKind.WORKLOAD_BEGAN.value) | F.isnull("kind"))
    ended = F.count_if((F.col("kind") == EventKind.WORKLOAD_ENDED.value) & is_good)
    tells_end = F.bool_or(is_end) | F.max_by(F.isnull("kind"), "line")
    is_settled = (began == ended) & ((began > 0) | F.bool_or(is_end))
    reported = staged_events.groupBy("folder").agg(tells_end.alias("_tells_end"), is_settled.alias("_is_settled"))
    return (
        runs.select("folder")
        .join(reported, "folder", "left")
        .select(
            "folder",
            F.coalesce("_tells_end", F.lit(col=False)).alias("has_ended"),
            (~F.coalesce("_is_settled", F.lit(col=False))).alias("is_at_work"),
        )
    )


def faults(in_phases: DataFrame) -> DataFrame:
    """One row per fault: what it was, in which phase it began, and whether a witness saw it bite."""
    of_faults = in_phases.where(F.col("kind").isin([kind.value for kind in _FAULT_KINDS]))

    def told_by(kind: EventKind, value: Column) -> Column:
        return F.max(F.when(F.col("kind") == kind.value, value))

    began = {name: F.col(f"data.{name}") for name in ("fault", "effect", "trigger")}
    return (
        of_faults.groupBy("folder", F.col("data.fault_id").alias("fault_id"))
        .agg(
            *[told_by(EventKind.FAULT_BEGAN, value).alias(name) for name, value in began.items()],
            # Whom it hits is decided only when it is applied.
            F.max("data.targets").alias("targets"),
            told_by(EventKind.FAULT_BEGAN, F.col("phase")).alias("phase"),
            told_by(EventKind.FAULT_BEGAN, F.col("at_ns")).alias("began_ns"),
            told_by(EventKind.FAULT_HEALED, F.col("at_ns")).alias("healed_ns"),
            F.bool_or(F.col("kind") == EventKind.FAULT_WITNESSED.value).alias("is_witnessed"),
            F.max("data.witness").alias("witness"),
            told_by(EventKind.FAULT_BEGAN, F.col("seq")).alias("seq"),
        )
        .where(F.col("fault").isNotNull())
    )


def conditions(runs: DataFrame, of_faults: DataFrame) -> DataFrame:
    """Runs with their faults, the phases these began in and the roles they were aimed at, as three texts.

    Runs with equal ones were treated alike. A fault on "some node" is thus one condition for each role it fell on.
    """
    in_order = F.sort_array(F.collect_list(F.struct("seq", "fault", "phase", _roles().alias("roles"))))
    listed = of_faults.groupBy("folder").agg(in_order.alias("_faults"))
    roles = F.concat_ws(BESIDE, F.array_sort(F.array_distinct(F.flatten("_faults.roles"))))
    texts = {name: F.concat_ws(BESIDE, F.array_distinct(F.col(f"_faults.{name}"))) for name in ("fault", "phase")}
    texts["role"] = F.when(roles == "", UNKNOWN).otherwise(roles)
    return runs.join(listed, "folder", "left").select(
        *runs.columns, *[F.when(F.col("_faults").isNull(), NONE).otherwise(texts[name]).alias(name) for name in FAULTS]
    )


def _roles() -> Column:
    """The roles a fault was aimed at: of the nodes it hit, whose names begin with it, else by its own text."""
    hit = F.transform("targets", role_of)
    reported = F.regexp_extract_all("fault", F.lit("(broker|combined|controller|zookeeper)"), F.lit(1))
    return F.when(F.size("targets") > 0, hit).otherwise(reported)


def durations(in_phases: DataFrame) -> DataFrame:
    """One row per thing that took time: the run, each phase, each step, each wait for equal metadata on all sides.

    A run whose history has no end took no known time, and neither did the phase it was in, or what a clock that jumped
    lets end before it began.
    """
    ended_ns = F.max(F.when(F.col("kind") == EventKind.RUN_ENDED.value, F.col("at_ns"))).alias("ended_ns")
    whole = in_phases.groupBy("folder").agg(F.lit(0).cast("long").alias("began_ns"), ended_ns)
    run = whole.select("folder", F.lit("run").alias("what"), F.lit("whole run").alias("name"), "began_ns", "ended_ns")
    entered = in_phases.where(_is_phase()).join(whole.select("folder", F.col("ended_ns").alias("_end_ns")), "folder")
    next_phase_ns = F.lead("at_ns").over(Window.partitionBy("folder").orderBy("seq"))
    phase = entered.select(
        "folder",
        F.lit("phase").alias("what"),
        F.col("phase").alias("name"),
        F.col("at_ns").alias("began_ns"),
        F.coalesce(next_phase_ns, F.col("_end_ns")).alias("ended_ns"),
    )
    took_ms = ((F.col("ended_ns") - F.col("began_ns")) / _NS_PER_MS).alias("took_ms")
    every = run.unionByName(phase).unionByName(_steps(in_phases)).unionByName(_settlings(in_phases))
    return every.select("folder", "what", "name", "began_ns", took_ms).where("took_ms >= 0")


def _steps(in_phases: DataFrame) -> DataFrame:
    """Steps that began and ended; one that never ended took no known time."""
    edges = in_phases.where(F.col("kind").isin(EventKind.STEP_BEGAN.value, EventKind.STEP_ENDED.value))
    same_step = Window.partitionBy("folder", "data.step").orderBy("seq")
    ended_ns = F.when(F.lead("kind").over(same_step) == EventKind.STEP_ENDED.value, F.lead("at_ns").over(same_step))
    paired = edges.select(
        "folder",
        F.lit("step").alias("what"),
        F.col("data.step").alias("name"),
        F.col("at_ns").alias("began_ns"),
        ended_ns.alias("ended_ns"),
        "kind",
    )
    return paired.where((F.col("kind") == EventKind.STEP_BEGAN.value) & F.col("ended_ns").isNotNull()).drop("kind")


def _settlings(in_phases: DataFrame) -> DataFrame:
    """From the first look at all sides until they agreed, or, where they never did, until the last look."""
    settled = in_phases.where(F.col("kind") == EventKind.SETTLED.value)
    began_ns = F.col("at_ns") - (F.col("data.took_s") * _NS_PER_S).cast("long")
    name = F.col("data.label").alias("name")
    return settled.select(
        "folder", F.lit("settling").alias("what"), name, began_ns.alias("began_ns"), F.col("at_ns").alias("ended_ns")
    )


def attempts(runs_with_conditions: DataFrame, of_verdicts: DataFrame, of_durations: DataFrame) -> DataFrame:
    """One row per run of a test: its worst outcome, numbered among the runs of this test on the same cluster shape."""
    worst = F.max(F.struct(weight().alias("weight"), "outcome", "kind", "check", "summary"))
    merged = of_verdicts.where("counts").groupBy("folder").agg(worst.alias("_worst"), _bugs().alias("known_bugs"))
    whole = of_durations.where(F.col("what") == "run").select("folder", F.col("took_ms").alias("duration_ms"))
    number = F.row_number().over(Window.partitionBy("test_id", *CONDITION).orderBy("started_at", "run_id"))
    return (
        runs_with_conditions.join(merged, "folder")
        .join(whole, "folder", "left")
        .select(
            "*",
            number.alias("attempt"),
            *[F.col(f"_worst.{name}").alias(name) for name in ("outcome", "kind", "check", "summary")],
        )
        .select(*schemas.ATTEMPTS.names)
    )


def requirement_attempts(of_attempts: DataFrame, runs: DataFrame, of_verdicts: DataFrame) -> DataFrame:
    """One row per run and requirement: the worst outcome of it, the checks that judged it, and those that violated it.

    Each verdict has an outcome for each requirement it speaks for; where it could not have violated one, it says
    nothing of it. In folders of version 0.1 it has one outcome for all it names, or for all the run claims. A claimed
    requirement that nothing judged is INCONCLUSIVE, for its check may simply never have been reached. What only checks
    judged that the test did not ask for is counted over all tests together, as ``EVERY_RUN``.
    """
    claimed = runs.select("folder", F.col("requirements").alias("_claimed"))
    judged = _spoken_for(of_verdicts.join(claimed, "folder"))
    unjudged = claimed.select(
        "folder",
        F.explode("_claimed").alias("requirement"),
        F.lit(Outcome.INCONCLUSIVE.name).alias("outcome"),
        F.lit(Kind.VACUOUS.value).alias("kind"),
        no_texts().alias("known_bugs"),
        F.lit(None).cast("string").alias("check"),
        F.lit(col=False).alias("standing"),
    ).join(judged, ["folder", "requirement"], "left_anti")
    red = F.collect_set(F.when(F.col("outcome") == Outcome.VIOLATES.name, F.struct(weight().alias("weight"), "check")))
    of_worst = F.array_sort(F.filter("_red", lambda each: each["weight"] == F.col("_worst.weight"))["check"])
    per_requirement = (
        judged.unionByName(unjudged)
        .withColumn("requirement", F.coalesce("requirement", F.lit(NONE)))
        .groupBy("folder", "requirement")
        .agg(
            F.max(F.struct(weight().alias("weight"), "outcome", "kind")).alias("_worst"),
            red.alias("_red"),
            F.array_sort(F.collect_set("check")).alias("judged_by"),
            F.bool_and("standing").alias("_unasked"),
            _bugs().alias("known_bugs"),
        )
        .select("*", "_worst.outcome", "_worst.kind", of_worst.alias("violated_by"))
        .drop("_worst", "_red")
    )
    context = of_attempts.drop("outcome", "kind", "known_bugs")
    test_id = F.when(F.col("_unasked"), EVERY_RUN).otherwise(F.col("test_id"))
    return (
        context.join(per_requirement, "folder")
        .withColumn("test_id", test_id)
        .select(*schemas.REQUIREMENT_ATTEMPTS.names)
    )


def _spoken_for(of_verdicts: DataFrame) -> DataFrame:
    """One row per verdict and requirement it says anything about."""
    columns = ("folder", "requirement", "outcome", "kind", "check", "known_bugs", "standing")
    is_alike = F.col("about").isNull()
    named = F.when(F.size("requirements") > 0, F.col("requirements")).otherwise(F.col("_claimed"))
    alike = of_verdicts.where(is_alike).withColumn("requirement", F.explode_outer(named))
    # Of a run that claims nothing the test itself is what is counted.
    unclaimed = of_verdicts.where(~is_alike & ~F.col("standing") & (F.size("_claimed") == 0) & (F.size("about") == 0))
    each = of_verdicts.where(~is_alike).withColumn("_about", F.explode("about")).drop("outcome", "kind")
    seen = (F.col("_about.seen") > 0) | (F.col("_about.outcome") != Outcome.INCONCLUSIVE.name)
    own = (
        each.where(seen)
        .withColumn("known_bugs", F.coalesce("_about.known_bugs", "known_bugs"))
        .select("*", "_about.requirement", "_about.outcome", "_about.kind")
    )
    frames = (alike, unclaimed.withColumn("requirement", F.lit(None).cast("string")), own)
    rows = [frame.select(*columns) for frame in frames]
    return rows[0].unionByName(rows[1]).unionByName(rows[2])


def _bugs() -> Column:
    """The known bugs that explain all that is violated, of a group of verdicts; none where one is left unexplained."""
    violated = F.col("outcome") == Outcome.VIOLATES.name
    is_open = F.bool_or(violated & (F.size("known_bugs") == 0))
    named = F.array_sort(F.array_distinct(F.flatten(F.collect_list(F.when(violated, F.col("known_bugs"))))))
    return F.when(is_open, no_texts()).otherwise(named)
