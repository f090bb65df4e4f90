"""What was observed beside the verdicts: metrics, znodes, metadata images, and what the nodes logged."""

import re
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.pandas.types import to_arrow_schema

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.messages import normal_form
from pytest_kmigrate.analysis.staging.levels import reported
from pytest_kmigrate.analysis.staging.reading import first_of, missing, parsed, unreadable

EXERCISE_FILE = "exercise/exercise.jsonl"
METRICS_FILE = "metrics/metrics.jsonl"
ZNODES_FILE = "znodes/znodes.jsonl"
IMAGES_FOLDER = "metadata"
LOGS_FOLDER = "logs"

_LOG_LINES = to_arrow_schema(schemas.LOG_LINES)
_LONGEST_EXAMPLE = 400

_BEFORE_MESSAGE = r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{3}\]? +[A-Z]+ +|,?\"time\":\"[^\"]*\"|^Caused by: "
_MOMENT = r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{3}))?"
_WORDS_OF_CONFIDENCE = (
    r"(?i)(password|passwd|jaas|secret|private.?key|keystore.key|stored_?key|server_?key|\bsalt\b|hmac|LoginModule"
    r"|-----BEGIN|://[^\s/:@]+:[^\s@]+@)"
)


def staged_samples(lines: DataFrame) -> DataFrame:
    """One row per line of every ``metrics.jsonl``."""
    read = parsed(lines.where(F.col("file") == METRICS_FILE), schemas.SAMPLE_JSON)
    reason = first_of(unreadable("the line"), *missing("the line", "at_ns", "node", "values"))
    return read.select("folder", "file", "line", reason.alias("reason"), *schemas.SAMPLE_JSON.names)


def staged_znodes(lines: DataFrame) -> DataFrame:
    """One row per line of every ``znodes.jsonl``."""
    read = parsed(lines.where(F.col("file") == ZNODES_FILE), schemas.ZNODE_JSON)
    reason = first_of(unreadable("the line"), *missing("the line", "at_ns", "path"))
    return read.select("folder", "file", "line", reason.alias("reason"), *schemas.ZNODE_JSON.names)


def staged_executions(lines: DataFrame) -> DataFrame:
    """One row per line of every ``exercise.jsonl``."""
    read = parsed(lines.where(F.col("file") == EXERCISE_FILE), schemas.EXECUTED_JSON)
    reason = first_of(unreadable("the line"), *missing("the line", *schemas.EXECUTED_JSON.names))
    return read.select("folder", "file", "line", reason.alias("reason"), *schemas.EXECUTED_JSON.names)


def staged_images(files: DataFrame) -> DataFrame:
    """One row per metadata image: its label and what it holds, counted."""
    read = parsed(files.where(F.col("file").startswith(f"{IMAGES_FOLDER}/")), schemas.IMAGE_JSON)
    reason = first_of(unreadable("the image"), *missing("the image", "source"))
    return read.select(
        "folder",
        "file",
        F.lit(None).cast("long").alias("line"),
        reason.alias("reason"),
        F.regexp_extract("file", r"([^/]+)\.json$", 1).alias("label"),
        "source",
        "known",
        F.size("topics").cast("long").alias("topics"),
        F.size("partitions").cast("long").alias("partitions"),
    )


def staged_log_lines(texts: DataFrame) -> DataFrame:
    """One row per line of a node's log whose words are kept, with its normal form; of any other level one per text.

    A text is a file, or some of its lines: ``line`` is the number of its first one, of many lines of one level that of
    the first. What has no level is no row.
    """
    of_logs = texts.where(F.col("file").startswith(f"{LOGS_FOLDER}/"))
    return of_logs.select(*schemas.LINES.names).mapInArrow(_levelled, schemas.LOG_LINES)


def _levelled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Rows of ``LINES``, each of them any number of lines, as rows of ``LOG_LINES``."""
    for batch in batches:
        rows = list(reported(batch["text"]))
        place = pa.array([row.place for row in rows], pa.int64())
        texts = [None if row.text is None else row.text.decode(errors="replace") for row in rows]
        columns = {
            "folder": batch["folder"].take(place),
            "file": batch["file"].take(place),
            "level": [row.level for row in rows],
            "line": pc.add(batch["line"].take(place), pa.array([row.line for row in rows], pa.int64())),
            "lines": [row.lines for row in rows],
            "text": texts,
            "normal_form": _normal_forms(texts),
        }
        yield pa.RecordBatch.from_pydict(columns, _LOG_LINES)


def _normal_forms(texts: Sequence[str | None]) -> list[str | None]:
    """The normal form of each line without time and level; what many lines say is looked at once."""
    known: dict[str, str] = {}
    forms: list[str | None] = []
    for text in texts:
        said = None if text is None else re.sub(_BEFORE_MESSAGE, "", text[:_LONGEST_EXAMPLE])
        if said is not None and said not in known:
            known[said] = normal_form(said)
        forms.append(None if said is None else known[said])
    return forms


def message(text: Column) -> Column:
    """A line, cut, without its time and level; what caused an exception is one like any other."""
    return F.regexp_replace(F.substring(text, 1, _LONGEST_EXAMPLE), _BEFORE_MESSAGE, "")


def harmless(text: Column) -> Column:
    """A line as a report may show it: cut, and not at all if a secret may be in it."""
    cut = F.substring(text, 1, _LONGEST_EXAMPLE)
    return F.when(text.rlike(_WORDS_OF_CONFIDENCE), "[hidden: may hold a secret]").otherwise(cut)


def moment(text: Column) -> Column:
    """The time a log line begins with."""
    parts = [F.regexp_extract(text, _MOMENT, group) for group in (1, 2, 3)]
    return F.try_to_timestamp(F.format_string("%s %s.%s", parts[0], parts[1], F.lpad(parts[2], 3, "0")))
