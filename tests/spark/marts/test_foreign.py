"""Foreign files: one row per attempt, in the shape of our own, and a reason for everything else."""

import json

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import schemas, staging
from pytest_kmigrate.analysis.foreign import foreign_attempts, is_foreign
from tests.spark.frames import frame

JUNIT = """<testsuite name="s" timestamp="2026-03-0%d"><properties><property name="kafka" value="3.9.1"/></properties>
<testcase name="t" time="1"><failure message="was 4"/></testcase><testcase name="u"/></testsuite>"""


def _files(spark: SparkSession, **texts: str) -> DataFrame:
    rows = []
    for path, text in texts.items():
        folder, _, file = path.rpartition("/")
        rows.append({"folder": folder, "file": file, "text": text})
    return frame(spark, schemas.FILES, rows)


def test_attempts_have_the_shape_of_our_own(spark: SparkSession) -> None:
    """All columns of the fact, in the order the runs were made; what a file does not tell is unknown."""
    files = _files(spark, **{"night-2/x.xml": JUNIT % 2, "night-1/x.xml": JUNIT % 1})

    good = staging.good(foreign_attempts(files))

    attempts = good.select(*schemas.ATTEMPTS.names)
    assertSchemaEqual(attempts.to(schemas.ATTEMPTS).schema, schemas.ATTEMPTS)
    told = [
        (row.folder, row.test_id, row.attempt, row.outcome, row.kind, row.provider, row.kafka, row.fault)
        for row in attempts.orderBy("test_id", "attempt").collect()
    ]
    assert told == [
        ("night-1/x.xml#1", "s.t", 1, "VIOLATES", "LIVENESS", "junit", "3.9.1", "unknown"),
        ("night-2/x.xml#1", "s.t", 2, "VIOLATES", "LIVENESS", "junit", "3.9.1", "unknown"),
        ("night-1/x.xml#2", "s.u", 1, "CONFORMS", None, "junit", "3.9.1", "unknown"),
        ("night-2/x.xml#2", "s.u", 2, "CONFORMS", None, "junit", "3.9.1", "unknown"),
    ]


def test_every_kind_is_read_and_every_stranger_named(spark: SparkSession) -> None:
    """Allure and ducktape beside JUnit; what is none of them, and halves of characters, cost nobody else anything."""
    files = _files(
        spark,
        **{
            "a/1-result.json": json.dumps({"fullName": "t\ud800", "status": "passed", "start": 1_772_359_200_000}),
            "d/report.json": json.dumps({"results": [{"test_id": "d", "test_status": "PASS"}]}),
            "j/pom.xml": "<project/>",
            "j/notes.txt": "hello",
        },
    )

    staged = foreign_attempts(files).cache()

    assert sorted((row.test_id, row.provider) for row in staging.good(staged).collect()) == [
        ("d", "ducktape"),
        ("t?", "allure"),
    ]
    assert sorted((row.path, row.line, row.reason) for row in staging.set_aside(staged).collect()) == [
        ("j/notes.txt", None, "not a name that JUnit, Allure or ducktape give their results"),
        ("j/pom.xml", 1, "not JUnit XML: expected testsuites or testsuite, got project"),
    ]


def test_a_file_need_not_be_utf_8(spark: SparkSession) -> None:
    """What a file declares, or its mark tells, is believed where it can be true; what is no text costs a character."""
    case = '<testsuite name="s"><testcase name="%s"/></testsuite>'
    declared = '<?xml version="1.0" encoding="%s"?>' + case
    contents = {
        "broken.xml": (case % "a?").encode().replace(b"?", b"\xff"),
        "false.xml": (declared % ("UTF-16", "\u00e9f")).encode(),
        "latin.xml": (declared % ("ISO-8859-1", "\u00e9l")).encode("latin-1"),
        "unheard.xml": (declared % ("x-none", "\u00e9u")).encode(),
        "wide.xml": (declared % ("UTF-16", "\u00e9w")).encode("utf-16"),
    }
    rows = [("r", name, content) for name, content in contents.items()]
    files = spark.createDataFrame(rows, "folder string, file string, text binary")

    staged = foreign_attempts(files.withColumn("text", files["text"].cast("string"))).cache()

    assert staging.set_aside(staged).collect() == []
    told = {row.folder: row.test_id for row in staging.good(staged).collect()}
    names = ("a\ufffd", "\u00e9f", "\u00e9l", "\u00e9u", "\u00e9w")
    assert told == {f"r/{file}#1": f"s.{name}" for file, name in zip(contents, names, strict=True)}


def test_a_result_without_a_name_is_set_aside(spark: SparkSession) -> None:
    """Nobody could find it in a report; the results beside it count."""
    staged = foreign_attempts(
        _files(spark, **{"a/x.xml": '<testsuite><testcase name=" "/><testcase name="t"/></testsuite>'})
    ).cache()

    assert [row.folder for row in staging.good(staged).collect()] == ["a/x.xml#2"]
    assert [(row.path, row.reason) for row in staging.set_aside(staged).collect()] == [
        ("a/x.xml", "result 1: its test has no name")
    ]


def test_what_is_nested_too_deep_costs_only_itself(spark: SparkSession) -> None:
    """Also where it is just not too deep to be read, and the result is then too deep to be told from others."""
    texts = {f"a/{n}-result.json": f'{{"name": "t", "x": {"[" * n}{"]" * n}}}' for n in range(700, 1_000)}
    staged = foreign_attempts(_files(spark, **texts)).cache()

    read, aside = (
        rows.count() for rows in (staging.good(staged), staging.set_aside(staged, is_run=~staged["is_copy"]))
    )

    assert read + aside == len(texts)
    assert read > 0
    assert aside > 0


def test_a_copied_file_counts_once(spark: SparkSession) -> None:
    """The same results in a second file are set aside in one row, which says where they are counted."""
    staged = foreign_attempts(_files(spark, **{"a/x.xml": JUNIT % 1, "b/x.xml": JUNIT % 1})).cache()

    assert sorted(row.folder for row in staging.good(staged).collect()) == ["a/x.xml#1", "a/x.xml#2"]
    assert [(row.path, row.reason) for row in staging.set_aside(staged).collect()] == [
        ("b/x.xml", "2 of its results are copies of ones in a/x.xml, which are counted")
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TEST-org.x.LogTest.xml", "junit"),
        ("deep/down/report.json", "ducktape"),
        ("5f2b-result.json", "allure"),
        ("5f2b-container.json", None),
        ("run.json", None),
        ("allure-report.json", None),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: str | None) -> None:
    """By the names the tools give; nothing is opened."""
    assert is_foreign(name) == kind
