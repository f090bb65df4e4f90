"""What was observed beside the verdicts: metrics, znodes, metadata images, and what the nodes logged."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.staging.reading import first_of, missing, parsed, unreadable

METRICS_FILE = "metrics/metrics.jsonl"
ZNODES_FILE = "znodes/znodes.jsonl"
IMAGES_FOLDER = "metadata"
LOGS_FOLDER = "logs"

KEPT_LEVELS = ("WARN", "ERROR", "FATAL", "EXCEPTION")
"""Lines of these levels are told apart by their normal form; of all others only the number is kept."""

_LONGEST_EXAMPLE = 400

_LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")
_JSON_LEVEL = '{"level":"'
_LONGEST_BEFORE_LEVEL = 40
_CAUSED_BY = "Caused by: "
_LONGEST_NAME = 120
_BEFORE_MESSAGE = r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,]\d{3}\]? +[A-Z]+ +|,?\"time\":\"[^\"]*\"|^" + _CAUSED_BY
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


def staged_log_lines(lines: DataFrame) -> DataFrame:
    """One row per line of a node's log with its ``level``; an exception's head has its own, its stack frames none.

    What has no level is no row.
    """
    of_logs = lines.where(F.col("file").startswith(f"{LOGS_FOLDER}/"))
    return of_logs.select("folder", "file", _level(F.col("text")).alias("level"), "line", "text").where(
        F.col("level").isNotNull()
    )


def _level(text: Column) -> Column:
    """The third word of a line that begins with date and time, or what a proxy's JSON says.

    No pattern: there are tens of millions of lines, and matching one took most of the time.
    """
    start = F.substring(text, 1, _LONGEST_BEFORE_LEVEL)
    third_word = F.substring_index(F.substring_index(start, " ", 3), " ", -1)
    begins_with_date = F.substring(F.ltrim(start, F.lit("[")), 1, 1).between("0", "9")
    in_json = F.upper(F.substring_index(F.substring(text, len(_JSON_LEVEL) + 1, len("warning")), '"', 1))
    return (
        F.when(begins_with_date & third_word.isin(*_LEVELS), third_word)
        .when(text.startswith(_JSON_LEVEL), F.when(in_json == "WARNING", "WARN").otherwise(in_json))
        .when(~text.startswith("\t") & _names_an_exception(text), "EXCEPTION")
    )


def _names_an_exception(text: Column) -> Column:
    """Whether a line is ``package.Class: message`` as Java tells of a thrown Class, or of what caused it."""
    start = F.substring(text, 1, _LONGEST_NAME)
    thrown = F.when(start.startswith(_CAUSED_BY), F.substring(start, len(_CAUSED_BY) + 1, _LONGEST_NAME))
    name = F.substring_index(F.coalesce(thrown, start), ":", 1)
    is_thrown = name.endswith("Exception") | name.endswith("Error")
    return is_thrown & name.contains(".") & ~name.contains(" ")


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
