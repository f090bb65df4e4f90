"""Nights of schedules, from run folders to cells: what was visited and witnessed, and how those runs ended."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.facts import NONE, is_safety_violation
from pytest_kmigrate.analysis.intervals import interval_95
from pytest_kmigrate.analysis.percentiles import ascending, percentile
from pytest_kmigrate.analysis.schemas.chaos import HAPPENING_JSON, NIGHT_JSON, SCHEDULE_JSON
from pytest_kmigrate.analysis.schemas.columns import shaped
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import NIGHT, SCHEDULE
from pytest_kmigrate.model.verdict import Outcome

A_SCHEDULE = "(a schedule)"
"""Stands for the faults of a run that carried out a schedule, where runs are kept apart by their faults."""

REPLAYS = 3
"""So many runs of a shrink are of the schedule as it was; see ``campaigns/shrinking.py``."""

_PARAMETER = r"\[.*\]$"
_CELL = ("profile", "kafka", "effect", "state", "aim")
_PAIR = ("profile", "kafka", "first", "second", "relation")
_OF_FAULTS = (
    EventKind.FAULT_BEGAN,
    EventKind.FAULT_APPLIED,
    EventKind.FAULT_WITNESSED,
    EventKind.FAULT_NOT_WITNESSED,
    EventKind.FAULT_HEALED,
)
_AIM = (
    "coalesce(_each.fault.source || '->' || _each.fault.destination, nullif(array_join(_each.fault.groups, ' | '), ''),"
    " _each.fault.target, _each.fault.point, _each.fault.path, '')"
)


def schedules(headers: DataFrame, runs: DataFrame, in_phases: DataFrame) -> DataFrame:
    """One row per run that carried out a schedule: what it was, which line of which night, and how its test ended.

    ``test`` is that of the event run-ended, by which ``--kmigrate-resume`` goes, too. A run that Ctrl-C cut has none,
    even where its history has an end, and verdicts.
    """
    spelled = F.get_json_object("text", f"$.extra.{SCHEDULE}")
    read = headers.select(
        "folder",
        spelled.alias("schedule"),
        F.from_json(spelled, SCHEDULE_JSON).alias("_schedule"),
        F.from_json(F.get_json_object("text", f"$.extra.{NIGHT}"), NIGHT_JSON).alias("_night"),
    ).where(F.col("schedule").isNotNull())
    columns = {name: F.col(f"_schedule.{name}") for name in ("document", "topology", "starts_at", "walk")}
    columns |= {name: F.col(f"_night.{name}") for name in ("line", "lines", "shard", "shards", "shrinks", "signature")}
    columns["night"] = F.col("_night.digest")
    columns["happenings"] = F.size(_listed())
    ended = in_phases.where(F.col("kind") == EventKind.RUN_ENDED.value)
    ended = ended.groupBy("folder").agg(F.max("data.test").alias("test"))
    of_runs = read.join(runs.select("folder"), "folder", "left_semi").join(ended, "folder", "left")
    return shaped(of_runs, schemas.TABLES["schedules"], columns)


def happenings(of_schedules: DataFrame, in_phases: DataFrame) -> DataFrame:
    """One row per fault of a schedule: its cell, when it was in force, and what its witness saw.

    Faults are armed in the order of the line, and numbered then. Of a run in which there are more faults or fewer, such
    as one that was interrupted, nothing is known to have begun.
    """
    listed = of_schedules.select("folder", _walks().alias("_walks"), F.posexplode(_listed()).alias("_at", "_each"))
    each = listed.where("_each.fault is not null")
    of_run = Window.partitionBy("folder")
    place = F.row_number().over(of_run.orderBy("_at"))
    wanted = each.select("folder", "_walks", "_each", place.alias("_place"), F.count("*").over(of_run).alias("_count"))
    both = wanted.join(_armed(in_phases), ["folder", "_place", "_count"], "left")
    columns = {
        "number": F.col("_each.id"),
        "effect": F.col("_each.fault.kind"),
        # A state that passes by itself is recorded a moment after its trigger has seen it.
        "state": F.when(F.col("_walks"), F.coalesce(F.col("_each.begin.state"), "_phase")).otherwise(""),
        "aim": F.expr(_AIM),
        "of": F.col("_each.begin.of"),
        "is_begun": F.coalesce("is_begun", F.lit(col=False)),
        "is_witnessed": F.coalesce("is_witnessed", F.lit(col=False)),
    }
    return shaped(both, schemas.TABLES["happenings"], columns)


def _walks() -> Column:
    """Whether a line has states at all: of a document without a walk no cell has one, though its runs have phases."""
    return F.col("starts_at").isNotNull() | (F.size("walk") > 0)


def _listed() -> Column:
    return F.from_json(F.get_json_object("schedule", "$.happenings"), ArrayType(HAPPENING_JSON))


def _armed(in_phases: DataFrame) -> DataFrame:
    """One row per fault that was armed, in the order of their numbers; also of those whose trigger never fired."""
    began = F.col("kind") == EventKind.FAULT_BEGAN.value
    of_run = Window.partitionBy("folder")
    found = (
        in_phases.where(F.col("kind").isin([kind.value for kind in _OF_FAULTS]))
        .groupBy("folder", F.col("data.fault_id").alias("fault_id"))
        .agg(
            F.max(F.when(began, F.col("phase"))).alias("_phase"),
            F.max(F.when(began, F.col("at_ns"))).alias("began_ns"),
            F.max(F.when(F.col("kind") == EventKind.FAULT_HEALED.value, F.col("at_ns"))).alias("healed_ns"),
            F.bool_or(began).alias("is_begun"),
            F.bool_or(F.col("kind") == EventKind.FAULT_WITNESSED.value).alias("is_witnessed"),
            F.max("data.witness").alias("witness"),
        )
    )
    number = F.regexp_extract("fault_id", r"\d+", 0).cast("long")
    return found.withColumn("_place", F.row_number().over(of_run.orderBy(number))).withColumn(
        "_count", F.count("*").over(of_run)
    )


def besides_schedules(attempts: DataFrame, of_schedules: DataFrame) -> DataFrame:
    """Attempts of ordinary tests: of a schedule there is one run or a few, and they say nothing of flakiness."""
    return attempts.join(of_schedules.select("folder"), "folder", "left_anti")


def with_schedules_as_one(attempts: DataFrame, of_schedules: DataFrame) -> DataFrame:
    """Attempts in which all schedules of a test are one: what a requirement comes to under whatever was drawn."""
    marked = of_schedules.select("folder", F.lit(col=True).alias("_drawn"))
    joined = attempts.join(marked, "folder", "left")
    is_drawn = F.col("_drawn").isNotNull()
    columns = {"test_id": F.when(is_drawn, F.regexp_replace("test_id", _PARAMETER, "")).otherwise(F.col("test_id"))}
    for name, value in (("fault", A_SCHEDULE), ("phase", NONE), ("role", NONE)):
        columns[name] = F.when(is_drawn, F.lit(value)).otherwise(F.col(name))
    return joined.withColumns(columns).select(*attempts.columns)


def chaos_cells(of_happenings: DataFrame, of_schedules: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per cell: how often it was begun and seen to bite, and how those runs ended.

    A run counts for each of its cells, whichever of them it is red by: ``causes`` takes them apart. Runs that shrink a
    red repeat what is known, and do not count.
    """
    outcome = F.col("outcome")
    violates, conforms = outcome == Outcome.VIOLATES.name, outcome == Outcome.CONFORMS.name
    is_new = violates & (F.size("known_bugs") == 0)
    seen = F.col("is_witnessed")
    searched = of_schedules.where("shrinks is null").select("folder")
    runs = attempts.select("folder", "profile", "kafka", "outcome", "kind", "known_bugs", "duration_ms", "timeline")
    unseen = F.when(~seen, F.coalesce("witness", F.lit("it never began")))
    counted = (
        of_happenings.join(searched, "folder", "left_semi")
        .join(runs, "folder")
        .groupBy(*_CELL)
        .agg(
            F.countDistinct("folder").alias("runs"),
            F.count_if("is_begun").alias("begun"),
            F.count_if(seen).alias("witnessed"),
            F.count_if(seen & (violates | conforms)).alias("answered"),
            F.count_if(seen & conforms).alias("conforming"),
            F.count_if(seen & violates).alias("violating"),
            F.count_if(seen & is_new).alias("new_violating"),
            F.count_if(seen & is_safety_violation()).alias("safety_violations"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list(F.when(violates, F.col("known_bugs")))))).alias(
                "known_bugs"
            ),
            ascending(F.col("duration_ms") / 1000).alias("_seconds"),
            F.min(unseen).alias("why_unseen"),
            F.coalesce(F.min(F.when(is_new, F.col("folder"))), F.min(F.when(violates, F.col("folder")))).alias(
                "example"
            ),
        )
    )
    low, high = interval_95(F.col("violating"), F.col("answered"))
    values = {"low": low, "high": high, "median_s": percentile(F.col("_seconds"), 0.5)}
    return shaped(counted, schemas.TABLES["chaos_cells"], values)


def chaos_pairs(of_happenings: DataFrame, of_schedules: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per ordered pair of effects that came together in a run, by what really overlapped."""
    columns = ("folder", "number", "effect", "began_ns", "healed_ns", "is_witnessed")
    begun = of_happenings.where("is_begun").join(of_schedules.where("shrinks is null"), "folder", "left_semi")
    one = begun.select(*[F.col(each).alias(f"_{each}") if each != "folder" else each for each in columns])
    both = one.join(begun.select(*columns), "folder").where(
        (F.col("_number") != F.col("number"))
        & (
            (F.col("_began_ns") < F.col("began_ns"))
            | ((F.col("_began_ns") == F.col("began_ns")) & F.expr("_number < number"))
        )
    )
    relation = (
        F.when(F.col("_healed_ns") <= F.col("began_ns"), "follows")
        .when(F.col("healed_ns") <= F.col("_healed_ns"), "inside")
        .otherwise("overlaps")
    )
    named = both.withColumns({"first": F.col("_effect"), "second": F.col("effect"), "relation": relation})
    counted = (
        named.join(attempts.select("folder", "profile", "kafka", "outcome"), "folder")
        .groupBy(*_PAIR)
        .agg(
            F.countDistinct("folder").alias("runs"),
            F.countDistinct(F.when(F.col("is_witnessed") & F.col("_is_witnessed"), F.col("folder"))).alias("witnessed"),
            F.countDistinct(F.when(F.col("outcome") == Outcome.VIOLATES.name, F.col("folder"))).alias("violating"),
        )
    )
    return shaped(counted, schemas.TABLES["chaos_pairs"], {})


def chaos_nights(of_schedules: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per night: which of its lines were carried out, and by how many of its machines.

    A line counts once the test of a run of it ended. One that Ctrl-C cut may have verdicts, too: of what was there.
    """
    known = attempts.select("folder", "profile", "duration_ms")
    counted = (
        of_schedules.where("night is not null and shrinks is null and lines between 1 and 100000")
        .join(known, "folder")
        .groupBy("night", "profile")
        .agg(
            F.max("lines").alias("lines"),
            F.array_distinct(F.collect_list(F.when(F.col("test").isNotNull(), F.col("line")))).alias("_there"),
            F.max("shards").alias("shards"),
            F.countDistinct("shard").alias("shards_seen"),
            (F.sum("duration_ms") / 1000).alias("seconds"),
        )
    )
    missing = F.array_except(F.expr("sequence(cast(1 as bigint), lines)"), F.col("_there"))
    values = {
        "carried_out": F.size("_there"),
        "missing": F.transform(missing, lambda line: line.cast("string")),
        "is_whole": F.size(missing) == 0,
    }
    return shaped(counted, schemas.TABLES["chaos_nights"], values)


def shrinks(of_schedules: DataFrame, attempts: DataFrame, of_verdicts: DataFrame) -> DataFrame:
    """One row per red that was shrunk: how many replays showed it, and the smallest schedule that does."""
    red = of_verdicts.where((F.col("outcome") == Outcome.VIOLATES.name) & F.col("counts"))
    names = red.groupBy("folder").agg(
        F.collect_set("check").alias("_checks"), F.flatten(F.collect_set("known_bugs")).alias("_bugs")
    )
    runs = (
        of_schedules.where("shrinks is not null")
        .join(attempts.select("folder", "started_at", "duration_ms"), "folder")
        .join(names, "folder", "left")
    )
    is_shown = F.coalesce(
        F.expr("array_contains(_checks, signature) or array_contains(_bugs, signature)"), F.lit(col=False)
    )
    place = F.row_number().over(Window.partitionBy("shrinks", "signature").orderBy("started_at", "folder"))
    placed = runs.withColumns({"_shown": is_shown, "_place": place})
    is_replay = F.col("_place") <= REPLAYS
    smallest = F.min(
        F.when(F.col("_shown"), F.struct("happenings", F.size("walk").alias("walk"), "schedule", "folder"))
    )
    counted = (
        placed.groupBy(F.col("shrinks").alias("run_id"), "signature")
        .agg(
            F.count("*").alias("runs"),
            F.count_if(is_replay).alias("replays"),
            F.count_if(is_replay & F.col("_shown")).alias("shown"),
            F.max(F.when(is_replay, F.col("happenings"))).alias("happenings"),
            smallest.alias("_least"),
            (F.sum("duration_ms") / 1000).alias("seconds"),
        )
        .drop("folder")
    )
    low, high = interval_95(F.col("shown"), F.col("replays"))
    values = {
        "p_low": low,
        "p_high": high,
        "left": F.col("_least.happenings"),
        "schedule": F.col("_least.schedule"),
        "folder": F.col("_least.folder"),
    }
    return shaped(counted, schemas.TABLES["shrinks"], values)
