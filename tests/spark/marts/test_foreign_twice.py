"""One run that is reported twice counts once: copies of files, one session by two tools."""

import json

from pyspark.sql import SparkSession

from pytest_kmigrate.analysis import staging
from tests.spark.foreign_files import JUNIT, counted_in, files_of, set_aside_in, staged_from


def test_a_copied_file_counts_once(spark: SparkSession) -> None:
    """The same results in a second file are set aside in one row, which says where they are counted."""
    staged = staged_from(files_of(spark, **{"a/x.xml": JUNIT % 1, "b/x.xml": JUNIT % 1}))

    assert sorted(row.folder for row in staging.good(staged).collect()) == ["a/x.xml#1", "a/x.xml#2"]
    assert [(row.path, row.reason) for row in staging.set_aside(staged).collect()] == [
        ("b/x.xml", "2 of its results are copies of ones in a/x.xml, which are counted")
    ]


def test_equal_nights_without_a_time_are_runs_each(spark: SparkSession) -> None:
    """A quick test passes alike every night: nothing but its place makes a run, and a time if it has one."""
    case = '<testsuite name="s"><testcase name="t" time="0.000">%s</testcase></testsuite>'
    nights = {f"night-{n}/x.xml": case % ("<failure/>" if n == 7 else "") for n in range(10)}

    staged = staged_from(files_of(spark, **nights))

    assert [outcome for *_, outcome in counted_in(staged)].count("CONFORMS") == 9
    assert set_aside_in(staged) == []


DUCKTAPE = {"test_id": "log_test.LogTest.test_rolls", "test_status": "PASS", "start_time": 1_772_359_200.5}
DUCKTAPE_XML = """<testsuites name="ducktape"><testsuite name="log_test">
<testcase name="test_rolls" classname="LogTest" status="pass"/></testsuite></testsuites>"""


def test_a_session_of_ducktape_counts_once(spark: SparkSession) -> None:
    """Its report.json is used, as that has times; the XML beside it and the folder of each test repeat it.

    Where only the XML is left, it counts, under the same name.
    """
    session = {"ducktape_version": "0.12.0", "results": [DUCKTAPE]}
    staged = staged_from(
        files_of(
            spark,
            **{
                "a/report.json": json.dumps(session),
                "a/report.xml": DUCKTAPE_XML,
                "a/LogTest/test_rolls/1/report.json": json.dumps(DUCKTAPE),
                "b/report.xml": DUCKTAPE_XML,
            },
        )
    )

    test = DUCKTAPE["test_id"]
    assert counted_in(staged) == [("a/report.json#1", test, "CONFORMS"), ("b/report.xml#1", test, "CONFORMS")]
    assert [row[:2] for row in set_aside_in(staged)] == [
        (
            "a/LogTest/test_rolls/1/report.json",
            "1 of its results are copies of ones in a/report.json, which are counted",
        ),
        ("a/report.xml", "reported by two tools: 1 of its results are in a/report.json, too, and counted there"),
    ]


def _allure(uuid: str, minute: int, status: str = "passed") -> str:
    start_ms = 1_772_359_200_000 + minute * 60_000
    name = "tests.test_log.TestLog#test_rolls"
    return json.dumps({"uuid": uuid, "fullName": name, "status": status, "start": start_ms, "stop": start_ms + 900})


def test_a_session_that_allure_reports_too_counts_once(spark: SparkSession) -> None:
    """By Allure, which has a time for each test; what only JUnit has counts, and so does another night of it."""
    junit = """<testsuite name="pytest" time="180" timestamp="%s"><testcase classname="tests.test_log.TestLog"
        name="test_rolls[3.9.1]"/><testcase classname="tests.test_log" name="test_cleans"/></testsuite>"""
    staged = staged_from(
        files_of(
            spark,
            **{
                "a/junit.xml": junit % "2026-03-01T10:00:00",
                "b/junit.xml": junit % "2026-03-02T10:00:00",
                "allure-results/1-result.json": _allure("1", minute=2),
            },
        )
    )

    assert [(folder, test.rpartition(".")[2]) for folder, test, _ in counted_in(staged)] == [
        ("a/junit.xml#2", "test_cleans"),
        ("allure-results/1-result.json#1", "TestLog#test_rolls"),
        ("b/junit.xml#1", "1]"),
        ("b/junit.xml#2", "test_cleans"),
    ]
    assert [path for path, *_ in set_aside_in(staged)] == ["a/junit.xml"]


def test_a_test_of_allure_whose_setup_failed_has_no_answer(spark: SparkSession) -> None:
    """Its container says so; one that broke by itself has failed."""
    container = json.dumps({"children": ["1"], "befores": [{"name": "disk", "status": "broken"}]})
    staged = staged_from(
        files_of(
            spark,
            **{
                "a/1-result.json": _allure("1", 0, "broken"),
                "a/2-result.json": _allure("2", 1, "broken"),
                "a/3-container.json": container,
            },
        )
    )

    assert [outcome for *_, outcome in counted_in(staged)] == ["INCONCLUSIVE", "VIOLATES"]
    assert set_aside_in(staged) == []
