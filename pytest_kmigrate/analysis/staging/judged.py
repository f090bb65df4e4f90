"""What a run was and what was judged of it: ``run.json``, ``verdicts.jsonl`` and ``history.jsonl``."""

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.schemas.columns import no_texts
from pytest_kmigrate.analysis.staging.reading import blank, first_of, missing, parsed, unknown, unreadable
from pytest_kmigrate.model.event import OLDER_STATES, EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.recording.identity import BY_FILE

RUN_FILE = "run.json"
VERDICTS_FILE = "verdicts.jsonl"
HISTORY_FILE = "history.jsonl"

_NAMES_OF_A_RUN = ("run_id", "test_id", "kafka", "topology")
"""What a header must have: without one of these it is unknown what a verdict is about."""

_FIRST_POSSIBLE_START = "2011-01-01"
"""Kafka's first release: a run that says it began before that had a clock that was not set."""

_LONGEST_RUN_NS = 31 * 24 * 3600 * 10**9
"""No run lasts for a month: a later event comes from a clock that jumped."""

_ABOUT_THE_FOLDER = ("folder", "digest", "is_complete", "timeline")
"""Columns of runs that no header has."""

_LISTS = ("requirements", "known_bugs")
"""Lists of a verdict that are empty where its line has none."""

_COPY = "a copy of run %s, which is counted from %s"
_SAME_ID = (
    "not counted: its run id, %s, is also that of another run, in %s, which is counted (of such runs a complete one, "
    "then the one that began first, then the first folder); remove the wrong one, or analyze one of them by itself"
)

_BY_MODULE = "pytest_kmigrate.suites.$1.$2::"

_NO_END = "the run has no manifest.json: it was interrupted, or is being written; it is counted as at best inconclusive"


def staged_runs(
    folders: DataFrame, files: DataFrame, older: Mapping[int, Mapping[str, str]] = schemas.OLDER_RUN_JSON
) -> DataFrame:
    """One row per run folder: what its ``run.json`` says, or why that is not to be had.

    ``notice`` says what is odd about a run that is counted all the same: it has no end, or no place in time, which a
    clock that cannot be right costs it.
    """
    headers = files.where(F.col("file") == RUN_FILE).select("folder", "text")
    header = parsed(folders.join(headers, "folder", "left"), schemas.RUN_JSON).transform(_as_written_today(older))
    # Spark reads a time without a day as one of today.
    started_at = F.when(F.col("started_at").rlike(r"^\S*\d-\d"), F.try_to_timestamp("started_at"))
    clock_was_wrong = (started_at < F.lit(_FIRST_POSSIBLE_START)) | (
        started_at > F.current_timestamp() + F.expr("INTERVAL 1 DAY")
    )
    why_no_start = F.when(clock_was_wrong, "that clock was not set").when(started_at.isNull(), "that is no moment")
    shown_start = F.coalesce("started_at", F.lit("missing"))
    no_start = F.format_string(
        "started_at is %s: %s; the run is counted, without a place in time", shown_start, why_no_start
    )
    odd = F.concat_ws("; ", F.when(~F.col("is_complete"), F.lit(_NO_END)), F.when(why_no_start.isNotNull(), no_start))
    return header.select(
        "folder",
        F.lit(RUN_FILE).alias("file"),
        F.lit(None).cast("long").alias("line"),
        _why_unusable(older).alias("reason"),
        F.nullif(odd, F.lit("")).alias("notice"),
        "run_id",
        F.regexp_replace("test_id", BY_FILE, _BY_MODULE).alias("test_id"),
        "seed",
        F.coalesce("profile", F.lit("unknown")).alias("profile"),
        F.coalesce("provider", F.lit("unknown")).alias("provider"),
        _distribution().alias("kafka"),
        "topology",
        F.coalesce("requirements", no_texts()).alias("requirements"),
        F.when(~clock_was_wrong, started_at).alias("started_at"),
        F.col("extra.commit").alias("commit"),
        F.coalesce("reproduce", F.col("extra.reproduce")).alias("reproduce"),
        F.col("extra.exercise").alias("watched"),
        F.array_sort(F.map_keys("extra.distribution_digests")).alias("software"),
        "is_complete",
        "timeline",
        "digest",
    )


def _why_unusable(older: Mapping[int, Mapping[str, str]]) -> Column:
    known = [schemas.RUN_SCHEMA_VERSION, *older]
    newer = (
        f"schema version %d is newer than {schemas.RUN_SCHEMA_VERSION}, the newest one known here: "
        "analyze it with a newer pytest-kmigrate"
    )
    return first_of(
        (F.col("text").isNull(), F.lit("run.json is missing, empty or too large to be a header")),
        unreadable("run.json"),
        (F.col("schema").isNull(), F.lit("run.json has no schema version")),
        (F.col("schema") > schemas.RUN_SCHEMA_VERSION, F.format_string(newer, "schema")),
        (~F.col("schema").isin(known), F.format_string("schema version %d was never one of ours", "schema")),
        *missing("run.json", *_NAMES_OF_A_RUN),
        *blank("run.json", *_NAMES_OF_A_RUN),
    )


def _as_written_today(older: Mapping[int, Mapping[str, str]]) -> Callable[[DataFrame], DataFrame]:
    """Columns of headers of older versions, taken from where those kept them."""

    def upgraded(headers: DataFrame) -> DataFrame:
        version = F.col("schema")
        return headers.withColumns(
            {
                key: F.when(version == number, F.expr(expression)).otherwise(F.col(key))
                for number, keys in older.items()
                for key, expression in keys.items()
            }
        )

    return upgraded


def staged_verdicts(lines: DataFrame) -> DataFrame:
    """One row per line of every ``verdicts.jsonl``."""
    outcomes, kinds = [outcome.name for outcome in Outcome], [kind.value for kind in Kind]
    return parsed(lines.where(F.col("file") == VERDICTS_FILE), schemas.VERDICT_JSON).select(
        "folder",
        "file",
        "line",
        first_of(
            unreadable("the line"),
            *missing("the line", "check", "outcome"),
            *blank("the line", "check"),
            unknown("outcome", outcomes),
            unknown("kind", kinds),
        ).alias("reason"),
        *[name for name in schemas.VERDICT_JSON.names if name not in (*_LISTS, "standing")],
        *[F.coalesce(name, no_texts()).alias(name) for name in _LISTS],
        F.coalesce("standing", F.lit(col=False)).alias("standing"),
        _counts().alias("counts"),
    )


def _counts() -> Column:
    """Whether a verdict counts for its run: ``Verdict.counts``, in columns."""
    is_vacuous = F.col("outcome").eqNullSafe(Outcome.INCONCLUSIVE.name) & F.col("kind").eqNullSafe(Kind.VACUOUS.value)
    says_nothing = (
        is_vacuous
        | F.col("outcome").eqNullSafe(Outcome.NOT_APPLICABLE.name)
        | (F.coalesce(F.size("known_bugs"), F.lit(0)) > 0)
    )
    return ~(F.coalesce("standing", F.lit(col=False)) & says_nothing)


def staged_events(lines: DataFrame) -> DataFrame:
    """One row per line of every ``history.jsonl``: faults, phases, steps and all other events.

    An event recorded after another one that yet lies before it has a time that cannot be right, as has one outside
    of any run; each such jump costs one event. States of older folders, which had kinds of their own, are of one kind.
    """
    read = _with_states(parsed(lines.where(F.col("file") == HISTORY_FILE), schemas.EVENT_JSON))
    is_possible = F.col("at_ns").between(0, _LONGEST_RUN_NS)
    earlier = Window.partitionBy("folder").orderBy("line").rowsBetween(Window.unboundedPreceding, -1)
    before_ns = F.last(F.when(is_possible, F.col("at_ns")), ignorenulls=True).over(earlier)
    outside = F.format_string("the clock jumped: at_ns is %d, which is in no run", "at_ns")
    jump = F.format_string(
        "the clock ran backwards: at_ns is %d, and that of the line before it %d", "at_ns", "_before_ns"
    )
    return read.withColumn("_before_ns", before_ns).select(
        "folder",
        "file",
        "line",
        first_of(
            unreadable("the line"),
            *missing("the line", "seq", "at_ns", "kind"),
            (~is_possible, outside),
            (F.col("at_ns") < F.col("_before_ns"), jump),
        ).alias("reason"),
        *schemas.EVENT_JSON.names,
    )


def _with_states(events: DataFrame) -> DataFrame:
    kind, data = F.col("kind"), F.col("data")
    for older, (name, key) in OLDER_STATES.items():
        parts = {"of": F.lit(name), "state": F.get_json_object("data", f"$.{key}")}
        state = F.to_json(F.struct(*[value.alias(part) for part, value in parts.items()]))
        data = F.when(F.col("kind") == older, state).otherwise(data)
        kind = F.when(F.col("kind") == older, EventKind.STATE.value).otherwise(kind)
    return events.withColumns({"kind": kind, "data": data})


def counted_once(runs: DataFrame) -> DataFrame:
    """Runs with a ``reason`` at those that are not counted, because another folder with the same run id is.

    Counted is a complete one, of several such the one that began first, of several such the first folder. ``is_copy``
    says that the other holds the same run: the same content, or, as this is unknown while one of them is incomplete,
    the same header. Else these are two runs with one id, and what the other one showed is missing.
    """
    same_id = Window.partitionBy("run_id").orderBy(F.desc("is_complete"), F.asc_nulls_last("started_at"), "folder")
    header = F.struct(*[name for name in runs.columns if name not in _ABOUT_THE_FOLDER])
    numbered = runs.withColumns({"_place": F.row_number().over(same_id), "_header": header})
    mine = numbered.withColumn(
        "_counted", F.first(F.struct("folder", "digest", "is_complete", "_header")).over(same_id)
    )
    is_whole = F.col("is_complete") & F.col("_counted.is_complete")
    same_header = F.col("_header").eqNullSafe(F.col("_counted._header"))
    is_copy = (F.col("digest") == F.col("_counted.digest")) | (~is_whole & same_header)
    copy, other = (F.format_string(reported, "run_id", "_counted.folder") for reported in (_COPY, _SAME_ID))
    reported = F.when(F.col("is_copy"), copy).otherwise(other)
    return (
        mine.withColumn("is_copy", F.coalesce(is_copy, F.lit(col=False)))
        .withColumns({"reason": F.when(F.col("_place") > 1, reported), "line": F.lit(None).cast("long")})
        .withColumn("file", F.lit(RUN_FILE))
        .drop("_place", "_header", "_counted")
    )


def _distribution() -> Column:
    """What was tested: a Kafka with a mutant, by Byteman rules or as a class, is not the release itself."""
    names = F.concat_ws(", ", F.regexp_extract_all("extra.byteman", F.lit(r"(?m)^\s*RULE\s+(.*\S)"), F.lit(1)))
    digest = F.substring(F.sha2("extra.byteman", 256), 1, 6)
    rules = F.format_string("%s + Byteman %s (%s)", "kafka", names, digest)
    planted = F.format_string("%s + mutant %s", "kafka", "extra.mutant.id")
    is_planted = F.col("extra.mutant.id").isNotNull()
    return F.when(F.col("extra.byteman").isNotNull(), rules).when(is_planted, planted).otherwise(F.col("kafka"))
