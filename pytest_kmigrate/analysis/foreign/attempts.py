"""Foreign files as rows: each read whole in a task of Spark, by the reader for its kind."""

import codecs
import re
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.arrow import over_arrays
from pytest_kmigrate.analysis.foreign.allure import read_allure
from pytest_kmigrate.analysis.foreign.ducktape import read_ducktape
from pytest_kmigrate.analysis.foreign.junit import read_junit
from pytest_kmigrate.analysis.foreign.results import Reading, Result, Unread, unreadable
from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, MOMENT, NUMBER, TEXT, TEXTS, UNKNOWN
from pytest_kmigrate.analysis.schemas.foreign import FOREIGN_RESULTS

_READERS: dict[str, Callable[[str], Reading]] = {
    "junit": read_junit,
    "allure": read_allure,
    "ducktape": read_ducktape,
}
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARED = re.compile(rb"""<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.-]{1,40})["']""")
_Row = dict[str, object]

_ARROW = {
    TEXT: pa.string(),
    TEXTS: pa.list_(pa.string()),
    COUNT: pa.int64(),
    NUMBER: pa.float64(),
    MOMENT: pa.timestamp("us", "UTC"),
}
_ROWS = pa.list_(pa.struct([(each.name, _ARROW[each.dataType]) for each in FOREIGN_RESULTS.fields]))


def is_foreign(name: str) -> str | None:
    """The kind of foreign results a file of this name may hold (``junit``, ``allure``, ``ducktape``), or None."""
    base = name.rpartition("/")[2]
    if base.endswith(".xml"):
        return "junit"
    if base.endswith("-result.json"):
        return "allure"
    return "ducktape" if base == "report.json" else None


def foreign_attempts(files: DataFrame) -> DataFrame:
    """One row per attempt of a test in the files (columns of ``FILES``), in the shape of the fact ``attempts``.

    Staged like everything else: rows with a ``reason`` are what could not be read. A ``folder`` is the file and the
    attempt's place in it, for attempts are told apart by their folders. The same result in two files counts once;
    ``is_copy`` marks the rows that only tell of this.
    """
    read = over_arrays(_read, ArrayType(FOREIGN_RESULTS))
    return _numbered(_counted_once(files.select(F.inline(read("folder", "file", "text")))))


def _read(folders: pa.Array, files: pa.Array, texts: pa.Array) -> pa.Array:
    """The rows of each file, one list per file."""
    # What Spark calls a text is what the file holds: Arrow may not take it for UTF-8.
    told = zip(folders.to_pylist(), files.to_pylist(), texts.cast(pa.binary()).to_pylist(), strict=True)
    rows = [list(_rows(folder, file, decoded(content or b""))) for folder, file, content in told]
    return pa.array(rows, _ROWS)


def decoded(content: bytes) -> str:
    """A file as text: UTF-16 with its mark, or as its XML declares, else UTF-8; what is none is marked (U+FFFD)."""
    declared = _DECLARED.match(content)
    named = declared[1].decode() if declared else "utf-8"
    # A declaration that can be read as bytes is not in UTF-16, whatever it says.
    narrow = "utf-8" if named.lower().startswith("utf") else named
    try:
        return content.decode("utf-16" if content.startswith(_UTF_16_MARKS) else narrow, "replace")
    except (LookupError, UnicodeError):
        return content.decode(errors="replace")


def _rows(folder: str, file: str, text: str) -> Iterator[_Row]:
    kind = is_foreign(file)
    if kind is None:
        yield _unread(folder, file, Unread("not a name that JUnit, Allure or ducktape give their results"))
        return
    try:
        reading = _READERS[kind](text)
    except (ValueError, RecursionError) as error:
        reading = unreadable(f"not readable: {error}")
    for place, result in enumerate(reading.results, 1):
        if result.test_id.strip():
            yield _row(f"{folder}/{file}#{place}", file, kind, result)
        else:
            yield _unread(folder, file, Unread(f"result {place}: its test has no name"))
    for each in reading.unread:
        yield _unread(folder, file, each)


def _row(folder: str, file: str, kind: str, result: Result) -> _Row:
    conditions = {name: result.conditions.get(name, UNKNOWN) for name in (*CONDITION, *FAULTS)}
    # What ran the test is known when nothing else is: the tool that wrote the file.
    conditions["provider"] = result.conditions.get("provider", kind)
    row: _Row = {
        "folder": folder,
        "file": file,
        "run_id": result.run_id,
        "test_id": result.test_id,
        **conditions,
        "outcome": result.outcome.name,
        "kind": result.kind.value if result.kind else None,
        "check": result.check,
        "summary": result.summary,
        "known_bugs": [],
        "duration_ms": result.duration_ms,
        "started_at": result.started_at,
        "seed": result.conditions.get("seed"),
    }
    # JSON can hold halves of a character, which no table can.
    return {k: v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for k, v in row.items()}


def _unread(folder: str, file: str, unread: Unread) -> _Row:
    return {"folder": folder, "file": file, "line": unread.line, "reason": unread.reason}


def _counted_once(read: DataFrame) -> DataFrame:
    """Of the same result in several files the first stays; each other file says so in one row, whatever it holds."""
    path = F.regexp_replace("folder", "#[0-9]+$", "")
    same = Window.partitionBy("run_id").orderBy("folder")
    placed = read.select("*", path.alias("_path"), F.row_number().over(same).alias("_copy"))
    marked = placed.select(
        "*",
        F.first("_path").over(same).alias("_first"),
        (F.col("reason").isNull() & (F.col("_copy") > 1)).alias("_is_copy"),
    )
    in_file = Window.partitionBy("_path", "_first", "_is_copy")
    told = F.format_string("%d of its results are copies of ones in %s, which are counted", "_copies", "_first")
    return (
        marked.withColumn("_copies", F.count("*").over(in_file))
        .withColumn("_place", F.row_number().over(in_file.orderBy("folder")))
        .where("not _is_copy or _place = 1")
        .withColumn("reason", F.when(F.col("_is_copy"), told).otherwise(F.col("reason")))
        .withColumn("folder", F.expr("if(_is_copy, substring(_path, 1, length(_path) - length(file) - 1), folder)"))
        .select(*read.columns, F.col("_is_copy").alias("is_copy"))
    )


def _numbered(staged: DataFrame) -> DataFrame:
    """Attempts in the order they were made, among those of the same test under the same conditions."""
    alike = Window.partitionBy("test_id", *CONDITION, F.col("reason").isNull()).orderBy("started_at", "run_id")
    number = F.when(F.col("reason").isNull(), F.row_number().over(alike))
    return staged.withColumn("attempt", number)
