"""Foreign files as rows: each read whole in a task of Spark, by the reader for its kind."""

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.arrow import over_arrays
from pytest_kmigrate.analysis.foreign.allure import read_allure, read_container
from pytest_kmigrate.analysis.foreign.ducktape import read_ducktape
from pytest_kmigrate.analysis.foreign.json_formats import read_json
from pytest_kmigrate.analysis.foreign.junit import read_junit
from pytest_kmigrate.analysis.foreign.labels import Label, labelled
from pytest_kmigrate.analysis.foreign.results import Reading, Result, Unread, digest, unreadable
from pytest_kmigrate.analysis.schemas.columns import (
    CONDITION,
    COUNT,
    FAULTS,
    FLAG,
    MOMENT,
    NUMBER,
    TEXT,
    TEXTS,
    UNKNOWN,
)
from pytest_kmigrate.analysis.schemas.foreign import FOREIGN_ROWS
from pytest_kmigrate.redaction import nameless, redacted

_READERS: dict[str, Callable[[str], Reading]] = {
    "junit": read_junit,
    "allure": read_allure,
    "allure-container": read_container,
    "ducktape": read_ducktape,
    "json": read_json,
}
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARED = re.compile(rb"""<\?xml[^>]{1,200}?encoding\s*=\s*["']([\w.-]{1,40})["']""")
_REPORTS = re.compile(
    r"(?:^\.report|ctrf|test2json|pytest|go[-_.]?test|test[-_.]?(?:reports?|results?|output)).*\.(?:json|jsonl|ndjson)$",
    re.IGNORECASE,
)
"""Names that people give the JSON of their test tools; what it holds decides."""
_BETWEEN_NAMES = re.compile(r"[#:./\\]+")
_PARAMETERS = re.compile(r"[\[({].*", re.DOTALL)
_MOST_PROPERTIES = 40
_Row = dict[str, object]

_ARROW = {
    TEXT: pa.string(),
    TEXTS: pa.list_(pa.string()),
    COUNT: pa.int64(),
    FLAG: pa.bool_(),
    NUMBER: pa.float64(),
    MOMENT: pa.timestamp("us", "UTC"),
}
_ROWS = pa.list_(pa.struct([(each.name, _ARROW[each.dataType]) for each in FOREIGN_ROWS.fields]))


def is_foreign(name: str) -> str | None:
    """The kind of foreign results a file of this name may hold (``junit``, ``allure``, ...), or None."""
    base = name.rpartition("/")[2].removesuffix(".gz")
    if base.endswith((".xml", ".trx")):
        return "junit"
    if base.endswith("-result.json"):
        return "allure"
    if base.endswith("-container.json"):
        return "allure-container"
    if base == "report.json":
        return "ducktape"
    return "json" if _REPORTS.search(base) else None


def foreign_rows(files: DataFrame, labels: Sequence[Label] = ()) -> DataFrame:
    """All that is in the files (columns of ``FILES``), as rows of ``FOREIGN_ROWS``."""

    def read(folders: pa.Array, names: pa.Array, texts: pa.Array) -> pa.Array:
        # What Spark calls a text is what the file holds: Arrow may not take it for UTF-8.
        given = zip(folders.to_pylist(), names.to_pylist(), texts.cast(pa.binary()).to_pylist(), strict=True)
        rows = [list(_rows(folder, name, decoded(content or b""), labels)) for folder, name, content in given]
        return pa.array(rows, _ROWS)

    return files.select(F.inline(over_arrays(read, ArrayType(FOREIGN_ROWS))("folder", "file", "text")))


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


def _rows(folder: str, file: str, text: str, labels: Sequence[Label]) -> Iterator[_Row]:
    kind = is_foreign(file)
    if kind is None:
        yield _unread(folder, file, Unread("not a name that a test tool gives its results"))
        return
    try:
        reading = _READERS[kind](text)
    except (ValueError, RecursionError) as error:
        reading = unreadable(f"not readable: {error}")
    for place, result in enumerate(reading.results, 1):
        if result.test_id.strip():
            yield _row(folder, file, place, result, labels)
        else:
            yield _unread(folder, file, Unread(f"result {place}: its test has no name"))
    for each in reading.unread:
        yield _unread(folder, file, each)
    if reading.broken:
        yield {"folder": folder, "file": file, "broken": list(reading.broken)}


def _row(folder: str, file: str, place: int, result: Result, labels: Sequence[Label]) -> _Row:
    test_id = lasting(result.test_id)
    values = {each.name: each.value(folder, result.host, result.properties) for each in labels}
    named = labelled(result.conditions, values)
    conditions = {name: named.get(name, UNKNOWN) for name in (*CONDITION, *FAULTS)}
    # What ran the test is known when nothing else is: the tool that wrote the file.
    conditions["provider"] = named.get("provider", result.tool.partition("-xml")[0])
    # The same results elsewhere are the same run only if they have a time; without one their place makes them one.
    run = digest([result.run, values]) if result.run else digest([folder, file])
    row: _Row = {
        "folder": folder,
        "file": file,
        "place": place,
        "tool": result.tool,
        "neutral_id": _neutral(test_id),
        "until": result.until,
        "odd_time": result.odd_time or None,
        "host": result.host or None,
        "uuid": result.uuid or None,
        "labels": [name for name, value in values.items() if value],
        "properties": sorted(result.properties)[:_MOST_PROPERTIES] if labels else [],
        "run_id": f"{run}-{result.attempt if result.run else place:06}",
        "test_id": test_id,
        **conditions,
        "outcome": result.outcome.name,
        "kind": result.kind.value if result.kind else None,
        "check": result.check,
        "summary": result.summary,
        "known_bugs": list(result.known_as),
        "duration_ms": result.duration_ms,
        "started_at": result.started_at,
        "seed": result.conditions.get("seed"),
    }
    return _presentable(
        row, ("test_id", "neutral_id", "check", "summary", "odd_time", "host", "seed", *CONDITION, *FAULTS)
    )


def _unread(folder: str, file: str, unread: Unread) -> _Row:
    row: _Row = {"folder": folder, "file": file, "line": unread.line, "reason": unread.reason}
    return _presentable({**row, "is_doubt": unread.is_doubt, "sort": unread.sort or None}, ("reason",))


def _presentable(row: Mapping[str, object], shown: Iterable[str]) -> _Row:
    """A row without secrets in what people see, and without halves of characters, which JSON can hold and no table."""
    safe: _Row = {k: v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for k, v in row.items()}
    return {**safe, **{name: redacted(text, nameless) for name in shown if isinstance(text := safe.get(name), str)}}


_PASSING = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b0[xX][0-9a-fA-F]{4,16}\b"), "<hex>"),
    (re.compile(r"(?<=[\w;>\])])@[0-9a-f]{5,16}\b"), "@<hex>"),
    (re.compile(r"[$][$]Lambda(?:[$]\d+)?/(?:0x)?[0-9a-f]+"), "<lambda>"),
    (re.compile(r"\b((?:\d{1,3}\.){3}\d{1,3}|localhost|\[[0-9a-fA-F:]{2,39}\]):\d{2,5}\b"), r"\1:<port>"),
)
"""What a name holds of one run alone: the address or the hash of an object, a port, a random id."""


def lasting(test_id: str) -> str:
    """The name of a test as it is in every run."""
    for pattern, instead in _PASSING:
        test_id = pattern.sub(instead, test_id)
    return test_id


def _neutral(test_id: str) -> str:
    """The test without its parameters, by the names of folders, classes and functions only."""
    return _BETWEEN_NAMES.sub(".", _PARAMETERS.sub("", test_id).replace(".py", ""))
