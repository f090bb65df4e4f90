"""Staging: one function per source turns raw text into typed rows; what cannot be read keeps a ``reason`` and is shown.

Every function gives one row per thing found, good or bad. ``good`` and ``set_aside`` part them, so nothing is ever
dropped silently. No joins between sources here, except with the list of folders itself.
"""

import functools

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import StringType, StructType

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.model.verdict import Outcome

RUN_FILE = "run.json"
VERDICTS_FILE = "verdicts.jsonl"
HISTORY_FILE = "history.jsonl"

_CORRUPT = "_corrupt"
_SHOWN_CHARACTERS = 80


def staged_runs(folders: DataFrame, files: DataFrame) -> DataFrame:
    """One row per run folder: what its ``run.json`` says, or why that is not to be had."""
    headers = files.where(F.col("file") == RUN_FILE).select("folder", "text")
    parsed = _parsed(folders.join(headers, "folder", "left"), schemas.RUN_JSON)
    known = parsed.select(
        "folder",
        F.lit(None).cast("long").alias("line"),
        _first_reason(
            (F.col("text").isNull(), F.lit("run.json is missing or empty")),
            (F.col(_CORRUPT).isNotNull(), _unreadable("run.json")),
            (F.col("schema").isNull(), F.lit("run.json has no schema version")),
            (
                F.col("schema") > schemas.RUN_SCHEMA_VERSION,
                F.format_string(
                    f"schema version %d is newer than {schemas.RUN_SCHEMA_VERSION}, the newest one known here: "
                    "analyze it with a newer pytest-kmigrate",
                    "schema",
                ),
            ),
            *_missing("run.json", "run_id", "test_id", "kafka", "topology"),
        ),
        "run_id",
        "test_id",
        "seed",
        F.coalesce("profile", F.lit("unknown")).alias("profile"),
        F.coalesce("provider", F.lit("unknown")).alias("provider"),
        _distribution().alias("kafka"),
        "topology",
        F.coalesce("requirements", F.array().cast(schemas.TEXTS)).alias("requirements"),
        F.try_to_timestamp("started_at").alias("started_at"),
        F.coalesce("reproduce", F.col("extra.reproduce")).alias("reproduce"),
        "is_complete",
        "timeline",
    )
    return known.transform(_copies_set_aside).withColumn("file", F.lit(RUN_FILE))


def staged_verdicts(files: DataFrame) -> DataFrame:
    """One row per line of every ``verdicts.jsonl``."""
    outcomes = [outcome.name for outcome in Outcome]
    parsed = _parsed(_lines(files, VERDICTS_FILE), schemas.VERDICT_JSON)
    expected = ", ".join(outcomes)
    return parsed.select(
        "folder",
        "file",
        "line",
        _first_reason(
            (F.col(_CORRUPT).isNotNull(), _unreadable("the line")),
            *_missing("the line", "check", "outcome"),
            (
                ~F.col("outcome").isin(outcomes),
                F.format_string(f"unknown outcome: expected one of {expected}; got %s", "outcome"),
            ),
        ),
        *[name for name in schemas.VERDICT_JSON.names if name not in ("requirements", "known_bugs")],
        F.coalesce("requirements", F.array().cast(schemas.TEXTS)).alias("requirements"),
        F.coalesce("known_bugs", F.array().cast(schemas.TEXTS)).alias("known_bugs"),
    )


def staged_events(files: DataFrame) -> DataFrame:
    """One row per line of every ``history.jsonl``: faults, phases, steps and all other events."""
    parsed = _parsed(_lines(files, HISTORY_FILE), schemas.EVENT_JSON)
    return parsed.select(
        "folder",
        "file",
        "line",
        _first_reason(
            (F.col(_CORRUPT).isNotNull(), _unreadable("the line")),
            *_missing("the line", "seq", "at_ns", "kind"),
        ),
        *schemas.EVENT_JSON.names,
    )


def good(staged: DataFrame) -> DataFrame:
    """The rows that could be read."""
    return staged.where(F.col("reason").isNull()).drop("reason", "file", "line")


def set_aside(staged: DataFrame) -> DataFrame:
    """The rows that could not, as path, line and reason."""
    path = F.concat_ws("/", "folder", "file").alias("path")
    return staged.where(F.col("reason").isNotNull()).select(path, "line", "reason", F.lit(col=True).alias("is_run"))


def _distribution() -> Column:
    """What was tested: a Kafka with Byteman rules loaded (a mutant) is another one than the same release without."""
    names = F.concat_ws(", ", F.regexp_extract_all("extra.byteman", F.lit(r"(?m)^\s*RULE\s+(.*\S)"), F.lit(1)))
    digest = F.substring(F.sha2("extra.byteman", 256), 1, 6)
    mutant = F.format_string("%s + Byteman %s (%s)", "kafka", names, digest)
    return F.when(F.col("extra.byteman").isNull(), F.col("kafka")).otherwise(mutant)


def _copies_set_aside(runs: DataFrame) -> DataFrame:
    """The same run in two folders counts once: the folder first in order stays."""
    same_run = Window.partitionBy("run_id", F.col("reason").isNull()).orderBy("folder")
    numbered = runs.withColumn("_copy", F.row_number().over(same_run)).withColumn(
        "_first", F.first("folder").over(same_run)
    )
    is_copy = F.col("reason").isNull() & (F.col("_copy") > 1)
    told = F.format_string("a copy of run %s, which is counted from %s", "run_id", "_first")
    return numbered.withColumn("reason", F.when(is_copy, told).otherwise(F.col("reason"))).drop("_copy", "_first")


def _lines(files: DataFrame, file: str) -> DataFrame:
    """The lines of one kind of file, numbered from 1, empty ones left out."""
    of_kind = files.where(F.col("file") == file)
    numbered = of_kind.select("folder", "file", F.posexplode(F.split("text", "\n")).alias("position", "text"))
    line = (F.col("position") + 1).cast("long").alias("line")
    return numbered.where(F.trim("text") != "").select("folder", "file", line, "text")


def _parsed(texts: DataFrame, schema: StructType) -> DataFrame:
    """The columns of ``schema`` beside what was there; ``_corrupt`` tells that a text does not fit it."""
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": _CORRUPT}
    with_corrupt = StructType([*schema.fields]).add(_CORRUPT, StringType())
    row = F.from_json("text", with_corrupt, options)
    # Spark's parser stops after the first value and never sees what follows it.
    ends_well = F.rtrim(F.regexp_replace("text", r"\s+$", "")).endswith("}")
    corrupt = F.when(~ends_well, F.col("text")).otherwise(F.col(f"_row.{_CORRUPT}"))
    return texts.withColumn("_row", row).select(
        *texts.columns, *[F.col(f"_row.{name}").alias(name) for name in schema.names], corrupt.alias(_CORRUPT)
    )


def _missing(what: str, *names: str) -> list[tuple[Column, Column]]:
    return [(F.col(name).isNull(), F.lit(f"{what} has no {name}")) for name in names]


def _unreadable(what: str) -> Column:
    """Says what was found: the first characters of the text."""
    start = F.substring(F.regexp_replace(F.coalesce("text", F.lit("")), r"\s+", " "), 1, _SHOWN_CHARACTERS)
    return F.format_string(f"{what} is not a JSON object of the expected shape; it begins: %s", start)


def _first_reason(*rules: tuple[Column, Column]) -> Column:
    """The reason of the first rule that applies, or null."""
    chosen = functools.reduce(lambda rest, rule: F.when(rule[0], rule[1]).otherwise(rest), reversed(rules), F.lit(None))
    return chosen.cast("string").alias("reason")
