"""Results of other tools through the command: each test is what its runs say, and nothing else is in the way."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tests.spark.commands import kmigrate
from tests.spark.other_tools import SECRETS, write_matrix, write_nights

Report = dict[str, Any]


def _report(out: Path) -> Report:
    read: Report = json.loads((out / "report.json").read_text())
    return read


def _tests(report: Report) -> dict[str, tuple[str, int, int]]:
    """By the last part of its name: standing, runs and how many violated."""
    return {
        test["test_id"].partition("[")[0].rpartition(".")[2]: (test["standing"], test["runs"], test["violating"])
        for test in report["tests"]
    }


@pytest.fixture(scope="module")
def out(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of all nights of all tools."""
    runs, out = tmp_path_factory.mktemp("nights"), tmp_path_factory.mktemp("report")
    write_nights(runs)
    status, printed = kmigrate("analyze", runs, "--out", out)
    assert status == 1, printed
    return out


def test_each_test_is_what_its_runs_say(out: Path) -> None:
    """Errors are failures, setups are not; equal nights are nights; what was skipped did not pass; forks are known."""
    tests = _tests(_report(out))

    assert tests["rolls"][0] == "FLAKY"
    assert tests["TestRolls"] == ("FLAKY", 8, 1)
    assert tests["logsIn"] == ("FLAKY", 8, 2)
    assert tests["NeedsDisks"][0] == tests["DISABLED_Slow"][0] == "NOT_APPLICABLE"
    assert tests["test_rolls"] == ("CONFORMS", 1, 0)
    assert tests["test_cleans"] == ("VIOLATES", 1, 1)
    assert tests["test_waits"] == ("CONFORMS", 1, 0)


def test_a_third_without_an_answer_is_not_conforming(out: Path) -> None:
    """Six nights passed, and in three the setup failed."""
    assert _tests(_report(out))["test_fills"] == ("INCONCLUSIVE", 9, 0)


def test_a_change_has_its_day(out: Path) -> None:
    """TestNG's times are understood."""
    report = _report(out)
    (change,) = [each for each in report["change_points"] if each["test_id"].endswith("counts")]
    assert change["since_at"].startswith("2026-10-09")
    assert _tests(report)["counts"][0] == "VIOLATES"


def test_what_is_no_result_is_said_and_hangs_no_verdict(out: Path) -> None:
    """Coverage, style, and what was reported twice, each with what is used."""
    report = _report(out)
    aside = {row["path"]: row["reason"] for row in report["set_aside"]}
    session = "ducktape/2026-10-01--001"
    assert report["totals"]["doubtful"] == 0
    assert aside == {
        "reports/checkstyle.xml": "Checkstyle: no results of tests",
        "reports/coverage.xml": "Cobertura or Clover: no results of tests",
        f"{session}/LogTest/test_rolls/1/report.json": (
            f"1 of its results are copies of ones in {session}/report.json, which are counted"
        ),
        f"{session}/report.xml": (
            f"reported by two tools: 1 of its results are in {session}/report.json, too, and counted there"
        ),
    }


def test_secrets_are_in_no_page_and_no_table(out: Path) -> None:
    """Neither in the test's name nor in what it failed of."""
    tables = {path.name: str(pq.read_table(path).to_pylist()) for path in (out / "tables").iterdir()}
    pages = {path.name: path.read_text() for path in out.iterdir() if path.is_file()}
    assert tables.keys() >= {"attempts", "failure_clusters", "set_aside"}
    assert pages.keys() >= {"index.html", "report.json", "report.md"}
    holding = [name for name, text in {**tables, **pages}.items() for secret in SECRETS if secret in text]
    assert holding == []
    assert "org.x.LoginTest.logsIn[password=\u2022\u2022" in pages["index.html"]


def test_what_may_fail_needs_no_human(out: Path) -> None:
    """A failure that its own project expects is counted, and not among the urgent things."""
    assert not [each for each in _report(out)["attention"] if "test_cleans" in str(each["title"])]


def test_a_test_that_is_red_on_one_system_is_not_flaky(spark: SparkSession, tmp_path: Path) -> None:
    """Its user names where the system stands, here in all three ways: each gives its value beside the others."""
    labels = ["os=property:os.name", "host=hostname", "results=folder:test-results-{}"]
    write_matrix(tmp_path / "runs")

    arguments = [word for label in labels for word in ("--label", label)]
    status, printed = kmigrate("analyze", tmp_path / "runs", "--out", tmp_path / "out", *arguments)

    assert status == 1, printed
    report = _report(tmp_path / "out")
    assert [(test["standing"], test["topology"]) for test in report["tests"]] == [
        ("VIOLATES", "os=beta, host=runner-beta, results=beta"),
        ("CONFORMS", "os=alpha, host=runner-alpha, results=alpha"),
    ]
    assert all(label in report["about"]["command"] for label in labels)
    assert report["totals"]["flaky_tests"] == 0


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("system", "--label: expected NAME=property:KEY"),
        ("system=property:os.nmae", "no result of another tool has it; properties that results have: os.name"),
    ],
)
def test_a_label_that_names_nothing_is_wrong_use(spark: SparkSession, tmp_path: Path, label: str, said: str) -> None:
    """Exit status 2 and one line, and no report."""
    write_matrix(tmp_path / "runs")

    status, printed = kmigrate("analyze", tmp_path / "runs", "--out", tmp_path / "out", "--label", label)

    assert status == 2
    assert said in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "out" / "report.json").exists()
