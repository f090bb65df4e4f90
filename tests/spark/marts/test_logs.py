"""Log lines: alike ones of all runs are one template, and those that go with failures are reported by how surely."""

import datetime as dt

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import logs
from pytest_kmigrate.analysis.schemas.causes import CAUSES
from tests.spark.frames import ended, table

RUNS = 24
ACL, FENCED, RETRY = "Unable to add the ACL <id> to it", "Fenced by epoch <n> of another", "Retry <n> of the send"
EVERYWHERE = "no config was given, so it runs alone"


def _line(folder: str, shape: str | None, **more: object) -> dict[str, object]:
    text = f"2026-03-01 10:00:00,000 WARN {shape}".replace("<n>", folder[1:]).replace("<id>", f"a{folder}")
    line = {"node": "broker-1", "level": "WARN", "lines": 2, "first_line": 7, "example": text}
    return {"folder": folder, "shape": shape, **line, **more}


@pytest.fixture(scope="module")
def night(spark: SparkSession) -> dict[str, DataFrame]:
    """Twenty-four runs. Every third violates, half of these by losing an ACL, half by a fenced node.

    Each failure logs its own line in its runs only. A retry is logged in every second run, one line in all.
    A run that is not counted (``copy``) has logged the first line, and one of INFO ran without a warning.
    """
    attempts, lines, members = [], [], []
    for number in range(RUNS):
        folder, at = f"r{number}", dt.datetime(2026, 3, 1 + number, tzinfo=dt.UTC)
        outcome = "CONFORMS" if number % 3 else "VIOLATES"
        seen = {"started_at": at, "timeline": f"{folder}.html", "test_id": f"t{number % 2}"}
        attempts.append(ended(outcome, folder=folder, **seen))
        lines.append(_line(folder, EVERYWHERE))
        lines += [_line(folder, RETRY)] * (number % 2)
        if outcome == "VIOLATES":
            shape, cluster = (ACL, "acl") if number % 2 else (FENCED, "fenced")
            node = {"node": "controller-3000", "level": "EXCEPTION", "lines": 1 + (folder == "r3")}
            lines.append(_line(folder, shape, **node))
            members.append({"cluster": cluster, "folder": folder})
    lines += [_line("copy", ACL), _line("quiet", None, level="INFO")]
    attempts.append(ended("CONFORMS", folder="quiet"))
    attempts.append(ended("VIOLATES", folder="without logs"))
    of_runs = {name: table(spark, name, rows) for name, rows in (("attempts", attempts), ("log_lines", lines))}
    forms = logs.log_forms(of_runs["log_lines"], of_runs["attempts"]).cache()
    assertSchemaEqual(forms.schema, CAUSES["log_forms"])
    return {**of_runs, "forms": forms, "members": table(spark, "failure_members", members)}


def test_a_template_tells_when_where_and_by_whom_it_was_logged(night: dict[str, DataFrame]) -> None:
    """Lines, each run once, tests, first and last sighting; the line of its newest run, and where that stands."""
    found = logs.log_templates(night["log_lines"], night["forms"], night["attempts"])
    assertSchemaEqual(found.schema, CAUSES["log_templates"])

    row = next(row for row in found.collect() if row.normal_form == ACL)

    assert (row.lines, row.runs, row.tests, row.kafka) == (5, 4, ["t1"], ["3.9.1"])
    assert (row.levels, row.roles) == (["EXCEPTION"], ["controller"])
    assert (row.first_at.day, row.last_at.day) == (4, 22)
    assert row.representative == "Unable to add the ACL ar21 to it"
    assert (row.example_folder, row.example_node, row.example_line) == ("r21", "controller-3000", 7)
    assert row.example_timeline == "r21.html"


def test_nearly_the_same_lines_are_one_template(spark: SparkSession) -> None:
    """Another topic in a long line: one template, shown in its most frequent form; a run that has both is one run."""
    marked = "[ReplicaFetcher replicaId=<n>, leaderId=<n>, fetcherId=<n>] Partition {}-<n> marked as failed"
    shapes = {marked.format("orders"): 3, marked.format("payments"): 9, FENCED: 1}
    attempts = table(spark, "attempts", [ended("CONFORMS", folder="r1")])
    lines = table(spark, "log_lines", [_line("r1", shape, lines=count) for shape, count in shapes.items()])

    rows = logs.log_templates(lines, logs.log_forms(lines, attempts), attempts).collect()

    reported = {row.normal_form: (row.lines, row.runs) for row in rows}
    assert reported == {marked.format("payments"): (12, 1), FENCED: (1, 1)}


def test_the_line_of_a_failure_comes_first(night: dict[str, DataFrame]) -> None:
    """Of each cluster its own line, of any violation both; over runs of its test that have logs."""
    found = logs.log_signs(night["log_lines"], night["forms"], night["attempts"], night["members"])
    assertSchemaEqual(found.schema, CAUSES["log_signs"])
    shapes = {row.template: row.shape for row in night["forms"].collect()}

    first = {row.failure: row for row in found.where("rank = 1 AND what = 'cluster'").collect()}

    assert {failure: shapes[row.template] for failure, row in first.items()} == {"acl": ACL, "fenced": FENCED}
    counts = ("with_failures", "with_runs", "without_failures", "without_runs")
    assert [first["acl"][name] for name in counts] == [4, 4, 0, RUNS // 2 - 4]
    assert first["acl"].q_value < 0.05
    of_any = {shapes[row.template]: row for row in found.where("what = 'run'").collect()}
    assert [of_any[ACL][name] for name in counts] == [4, 4, 0, RUNS // 2 - 4]
    assert (of_any[ACL]["rank"], of_any[FENCED]["rank"]) == (1, 1)


def test_only_what_a_failed_run_logged_is_told_but_all_is_corrected_for(night: dict[str, DataFrame]) -> None:
    """The fenced line never came with a lost ACL: no row, yet one of the twelve comparisons that q counts."""
    rows = logs.log_signs(night["log_lines"], night["forms"], night["attempts"], night["members"]).collect()

    assert [row for row in rows if row.with_failures == 0] == []
    # Three failures and four templates: the quiet run is why even the line of all others is compared. The surest four
    # pairs, each line with its cluster and with any violation of its test, share a p-value.
    surest = min(rows, key=lambda row: float(row.p_value))
    assert surest.q_value == pytest.approx(surest.p_value * 12 / 4)


def test_no_log_is_no_template(spark: SparkSession) -> None:
    """Without a warning there is nothing to report, and nothing fails."""
    attempts, members = table(spark, "attempts", [ended("VIOLATES", folder="r1")]), table(spark, "failure_members", [])
    lines = table(spark, "log_lines", [_line("r1", None, level="INFO")])

    forms = logs.log_forms(lines, attempts)

    assert forms.collect() == []
    assert logs.log_templates(lines, forms, attempts).collect() == []
    assert logs.log_signs(lines, forms, attempts, members).collect() == []
