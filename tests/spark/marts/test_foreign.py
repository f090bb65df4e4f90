"""Foreign files: one row per attempt, in the shape of our own, and a reason for everything else."""

import json

import pytest
from pyspark.sql import SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import schemas, staging
from pytest_kmigrate.analysis.foreign import is_foreign
from pytest_kmigrate.model.errors import WrongUseError
from tests.spark.foreign_files import JUNIT, counted_in, files_of, set_aside_in, staged_from


def test_attempts_have_the_shape_of_our_own(spark: SparkSession) -> None:
    """All columns of the fact, in the order the runs were made; what a file lacks is unknown."""
    files = files_of(spark, **{"night-2/x.xml": JUNIT % 2, "night-1/x.xml": JUNIT % 1})

    good = staging.good(staged_from(files))

    attempts = good.select(*schemas.ATTEMPTS.names)
    assertSchemaEqual(attempts.to(schemas.ATTEMPTS).schema, schemas.ATTEMPTS)
    reported = [
        (row.folder, row.test_id, row.attempt, row.outcome, row.kind, row.provider, row.kafka, row.fault)
        for row in attempts.orderBy("test_id", "attempt").collect()
    ]
    assert reported == [
        ("night-1/x.xml#1", "s.t", 1, "VIOLATES", "LIVENESS", "junit", "3.9.1", "unknown"),
        ("night-2/x.xml#1", "s.t", 2, "VIOLATES", "LIVENESS", "junit", "3.9.1", "unknown"),
        ("night-1/x.xml#2", "s.u", 1, "CONFORMS", None, "junit", "3.9.1", "unknown"),
        ("night-2/x.xml#2", "s.u", 2, "CONFORMS", None, "junit", "3.9.1", "unknown"),
    ]


def test_every_kind_is_read_and_every_stranger_named(spark: SparkSession) -> None:
    """Allure and ducktape beside JUnit; what is none of them, and halves of characters, cost no other file anything."""
    files = files_of(
        spark,
        **{
            "a/1-result.json": json.dumps({"fullName": "t\ud800", "status": "passed", "start": 1_772_359_200_000}),
            "d/report.json": json.dumps({"results": [{"test_id": "d", "test_status": "PASS"}]}),
            "j/pom.xml": "<project/>",
            "j/notes.txt": "hello",
        },
    )

    staged = staged_from(files)

    assert sorted((row.test_id, row.provider) for row in staging.good(staged).collect()) == [
        ("d", "ducktape"),
        ("t?", "allure"),
    ]
    assert sorted((row.path, row.line, row.reason) for row in staging.set_aside(staged).collect()) == [
        ("j/notes.txt", None, "not a name that a test tool gives its results"),
        ("j/pom.xml", None, "Maven or Ant: no results of tests"),
    ]


def test_a_file_need_not_be_utf_8(spark: SparkSession) -> None:
    """What a file declares, or its mark says, is believed where it can be true; what is no text costs a character."""
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

    staged = staged_from(files.withColumn("text", files["text"].cast("string")))

    assert staging.set_aside(staged).collect() == []
    reported = {row.folder: row.test_id for row in staging.good(staged).collect()}
    names = ("a\ufffd", "\u00e9f", "\u00e9l", "\u00e9u", "\u00e9w")
    assert reported == {f"r/{file}#1": f"s.{name}" for file, name in zip(contents, names, strict=True)}


def test_a_result_without_a_name_is_set_aside(spark: SparkSession) -> None:
    """Nobody could find it in a report; the results beside it count."""
    staged = staged_from(
        files_of(spark, **{"a/x.xml": '<testsuite><testcase name=" "/><testcase name="t"/></testsuite>'})
    )

    assert [row.folder for row in staging.good(staged).collect()] == ["a/x.xml#2"]
    assert [(row.path, row.reason) for row in staging.set_aside(staged).collect()] == [
        ("a/x.xml", "result 1: its test has no name")
    ]


def test_what_is_nested_too_deep_costs_only_itself(spark: SparkSession) -> None:
    """Also where it is just not too deep to be read, and the result is then too deep to differ from others."""
    texts = {f"a/{n}-result.json": f'{{"fullName": "t", "x": {"[" * n}{"]" * n}}}' for n in range(700, 1_000)}
    staged = staged_from(files_of(spark, **texts))

    read, aside = (
        rows.count() for rows in (staging.good(staged), staging.set_aside(staged, is_run=staged["is_doubt"]))
    )

    assert read + aside == len(texts)
    assert read > 0
    assert aside > 0


def test_secrets_are_in_no_column(spark: SparkSession) -> None:
    """What any tool writes is redacted like evidence of our own, in names, messages and in reasons, too."""
    xml = """<testsuite name="s"><testcase name="logs_in[password=correct-horse]"><failure
        message="401 at https://ada:correct-horse@x.example">sasl.jaas.config=correct-horse</failure></testcase>
        <testcase name="u" status="secret=correct-horse"/></testsuite>"""

    staged = staged_from(files_of(spark, **{"a/x.xml": xml}), "login=folder:{}")

    everything = json.dumps([row.asDict() for row in staged.collect()], default=str)
    assert "correct-horse" not in everything
    assert everything.count("[hidden]") >= 3


def test_labels_part_tests_by_what_they_name(spark: SparkSession) -> None:
    """A run on each system is another, though all else of it is equal; labels without a column are in the topology."""
    same = '<testsuite name="s" timestamp="2026-03-01T10:00:00"><testcase name="t" time="1"/></testsuite>'
    files = files_of(spark, **{"results-a/x.xml": same, "results-b/x.xml": same, "more/x.xml": JUNIT % 3})

    staged = staged_from(files, "system=folder:results-{}", "kafka=folder:results-{}")

    rows = staging.good(staged).orderBy("folder").collect()
    assert [(row.topology, row.kafka) for row in rows] == [
        ("system=unknown", "3.9.1"),
        ("system=unknown", "3.9.1"),
        ("system=a", "a"),
        ("system=b", "b"),
    ]
    with pytest.raises(WrongUseError, match=r"os=property:os: no result .* have: kafka"):
        staged_from(files, "os=property:os")


ON_HOST = """<testsuite name="s" hostname="%s" timestamp="2026-03-0%dT%02d:00:00">
<testcase name="%s">%s</testcase></testsuite>"""


def test_answers_that_go_with_the_host_are_said(spark: SparkSession) -> None:
    """In one line with the label that distinguishes the runs; not if it is given, or each run has its own host."""
    nights = [(day, host) for day in range(1, 4) for host in ("a", "b")]
    texts = {f"{d}/{h}.xml": ON_HOST % (h, d, 1, "t", "<failure/>" if h == "b" else "") for d, h in nights}
    texts |= {f"u{d}.xml": ON_HOST % (f"vm-{d}", d, 2, "u", "<failure/>" if d == 2 else "") for d in range(1, 4)}
    files = files_of(spark, **texts)

    ((path, reason, is_doubt),) = set_aside_in(staged_from(files))

    assert (path, is_doubt) == ("1/a.xml", False)
    assert reason == "s.t fails on some hosts and passes on all others: --label host=hostname distinguishes its runs"
    assert set_aside_in(staged_from(files, "host=hostname")) == []


def test_times_that_are_not_understood_are_said_once(spark: SparkSession) -> None:
    """Of all files; the results count, without an order."""
    xml = '<testsuite name="s" timestamp="10/0%d/2026"><testcase name="t"/><testcase name="u"/></testsuite>'
    staged = staged_from(files_of(spark, **{f"{n}/x.xml": xml % n for n in range(1, 4)}))

    assert len(counted_in(staged)) == 6
    said = '6 results have a start time that was not understood, such as "10/01/2026": they count, but have no order'
    assert set_aside_in(staged) == [("1/x.xml", said, False)]


def test_files_of_one_sort_are_one_line(spark: SparkSession) -> None:
    """And no doubt, unless they are all there is of results in a format that is not read."""
    testng, cobertura = "<testng-results/>", "<coverage/>"
    staged = staged_from(
        files_of(
            spark,
            **{
                "a/coverage.xml": cobertura,
                "b/coverage.xml": cobertura,
                "c/coverage.xml": cobertura,
                "with/testng-results.xml": testng,
                "with/junitreports/x.xml": JUNIT % 1,
                "without/testng-results.xml": testng,
            },
        )
    )

    coverage, beside, alone = set_aside_in(staged)
    assert coverage == (
        "a/coverage.xml",
        "Cobertura or Clover: no results of tests; the same holds for 2 more files",
        False,
    )
    assert (beside[0], beside[2]) == ("with/testng-results.xml", False)
    assert (alone[0], alone[2]) == ("without/testng-results.xml", True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TEST-org.x.LogTest.xml", "junit"),
        ("deep/down/report.json", "ducktape"),
        ("5f2b-result.json", "allure"),
        ("5f2b-container.json", "allure-container"),
        ("run.json", None),
        ("allure-report.json", None),
    ],
)
def test_a_name_tells_the_kind(name: str, kind: str | None) -> None:
    """By the names the tools give; nothing is opened."""
    assert is_foreign(name) == kind
