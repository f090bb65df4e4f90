"""Marts: what counts as flaky, how sure a pass rate is, and what all runs say together."""

import json
from collections.abc import Sequence

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.testing import assertDataFrameEqual, assertSchemaEqual

from pytest_kmigrate.analysis import flakiness, marts, schemas
from pytest_kmigrate.analysis.intervals import interval_95
from tests.spark.frames import CELL, ended, table


def _cells(spark: SparkSession, *rows: dict[str, object]) -> DataFrame:
    attempts = table(spark, "requirement_attempts", rows)
    reported = flakiness.flakiness(attempts, flakiness.REQUIREMENT_CELL)
    return marts.cells(attempts, reported)


@pytest.mark.parametrize(
    ("cells", "standing"),
    [
        ([("CONFORMS", 9), ("CONFORMS", 1)], "CONFORMS"),
        ([("CONFORMS", 9), ("FLAKY", 1)], "FLAKY"),
        ([("CONFORMS", 9), ("VIOLATES", 0)], "VARIES"),
        ([("FLAKY", 9), ("VIOLATES", 0)], "FLAKY"),
        ([("FLAKY", 9), ("VIOLATES", 30)], "VIOLATES"),
        ([("CONFORMS", 9), ("VIOLATES", 30)], "VIOLATES"),
        ([("VIOLATES", 30), ("SAFETY", 9)], "SAFETY"),
        ([("VIOLATES", 0), ("INCONCLUSIVE", 0)], "VIOLATES"),
        ([("NOT_APPLICABLE", 0), ("INCONCLUSIVE", 0)], "INCONCLUSIVE"),
        ([("NOT_APPLICABLE", 0)], "NOT_APPLICABLE"),
        ([("CONFORMS", 9), ("INCONCLUSIVE", 0)], "CONFORMS"),
        ([("CONFORMS", 9), *[("INCONCLUSIVE", 0)] * 5], "INCONCLUSIVE"),
    ],
)
def test_a_test_is_what_its_cells_are(spark: SparkSession, cells: list[tuple[str, int]], standing: str) -> None:
    """The worst of them; a cell that was green and broke is worse than a flaky one, and one always red is not.

    Where a third of the runs gave no answer, those of the others prove nothing.
    """
    rows = [
        {
            **CELL,
            "fault": str(place),
            "standing": each,
            "conforming": conforming,
            "conforming_now": conforming,
            "violating_now": 0,
            "undecided_now": int(each == "INCONCLUSIVE"),
        }
        for place, (each, conforming) in enumerate(cells)
    ]

    reported = marts.tests(table(spark, "attempts", [ended("CONFORMS")]), table(spark, "flakiness", rows))

    assert [row.standing for row in reported.collect()] == [standing]


def test_a_fault_that_hit_another_role_is_another_cell(spark: SparkSession) -> None:
    """What some test finds when a broker dies says nothing of controllers: two cells, each stable, and no flake."""
    rows = _cells(
        spark,
        *[ended("CONFORMS", role="broker")] * 6,
        *[ended("VIOLATES", "LIVENESS", role="controller")] * 6,
    )

    reported = {row.role: (row.runs, row.pass_rate, row.standing) for row in rows.collect()}
    assert reported == {"broker": (6, 1.0, "CONFORMS"), "controller": (6, 0.0, "VIOLATES")}


def test_counts_rates_and_durations_of_a_cell(spark: SparkSession) -> None:
    """The rate is over answers only, and so are the durations; every count is there."""
    rows = _cells(
        spark,
        ended("CONFORMS", duration_ms=1_000.0),
        ended("CONFORMS", duration_ms=2_000.0),
        ended("CONFORMS", duration_ms=3_000.0),
        ended("VIOLATES", "LIVENESS", duration_ms=11_000.0),
        ended("INCONCLUSIVE", "HARNESS", duration_ms=99_000.0),
        ended("NOT_APPLICABLE", duration_ms=1.0),
    )

    assertSchemaEqual(rows.to(schemas.TABLES["cells"]).schema, schemas.TABLES["cells"])
    counts = rows.select("runs", "conforming", "violating", "inconclusive", "not_applicable", "safety_violations")
    assertDataFrameEqual(counts, spark.createDataFrame([(6, 3, 1, 1, 1, 0)], counts.schema))
    measured = rows.select("pass_rate", "pass_rate_low", "pass_rate_high", "duration_median_ms", "duration_p90_ms")
    expected = [(0.75, 0.30064, 0.95444, 2_500.0, 8_600.0)]
    assertDataFrameEqual(measured, spark.createDataFrame(expected, measured.schema), rtol=1e-4)


def test_groups_that_differ_in_where_nothing_is_told_stay_apart(spark: SparkSession) -> None:
    """The same word as fault and as phase, the other of them missing: two groups, each with its own name."""
    rows = [ended("CONFORMS", fault="x", phase=None), ended("VIOLATES", fault=None, phase="x")]

    reported = marts.statistics(table(spark, "requirement_attempts", rows), marts.CELL).collect()

    assert {(row.fault, row.phase): (row.runs, row.pass_rate) for row in reported} == {
        ("x", None): (1, 1.0),
        (None, "x"): (1, 0.0),
    }


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.25887),
        (10, 10, 0.74113, 1.0),
        (1, 1, 0.05, 1.0),
        (81, 263, 0.25534, 0.36620),
        (0, 0, None, None),
    ],
)
def test_interval_of_a_share(
    spark: SparkSession, successes: int, trials: int, low: float | None, high: float | None
) -> None:
    """Wilson's interval as published tables have it, at the edges the bound of clean runs, and none of nothing."""
    row = spark.range(1).select(*interval_95(F.lit(successes), F.lit(trials))).collect()[0]

    assert [row[0], row[1]] == [pytest.approx(low, abs=2e-4), pytest.approx(high, abs=2e-4)]


def test_a_requirement_is_counted_over_its_tests(spark: SparkSession) -> None:
    """One test red and another green is no flakiness of the requirement; profiles and versions stay apart."""
    rows = [
        ended("CONFORMS", test_id="a"),
        ended("VIOLATES", "LIVENESS", test_id="b"),
        ended("CONFORMS", profile="draft"),
    ]

    attempts = table(spark, "requirement_attempts", rows)
    flakes = flakiness.flakiness(attempts, flakiness.REQUIREMENT_CELL)

    reported = marts.requirements(attempts, flakes).select("requirement", "profile", "runs", "standing")

    expected = [("R1", "kip-866", 2, "VARIES"), ("R1", "draft", 1, "CONFORMS")]
    assertDataFrameEqual(reported, spark.createDataFrame(expected, reported.schema))


def test_a_requirement_names_the_checks_by_which_it_stands_as_it_does(spark: SparkSession) -> None:
    """Of all its runs' red checks those of the worst kind; where nothing was red, none."""
    rows = [
        ended("VIOLATES", "SAFETY", violated_by=["b", "a"]),
        ended("VIOLATES", "SAFETY", violated_by=["a"]),
        ended("VIOLATES", "LIVENESS", violated_by=["late"]),
        ended("VIOLATES", "LIVENESS", violated_by=["late"], kafka="3.6.0"),
        ended("CONFORMS", violated_by=[], kafka="3.10.0"),
    ]

    attempts = table(spark, "requirement_attempts", rows)
    flakes = flakiness.flakiness(attempts, flakiness.REQUIREMENT_CELL)

    reported = marts.requirements(attempts, flakes).collect()

    assert {row.kafka: row.violated_by for row in reported} == {"3.9.1": ["a", "b"], "3.6.0": ["late"], "3.10.0": []}


def _attempts(spark: SparkSession) -> DataFrame:
    rows = [
        ended("VIOLATES", folder="r1"),
        ended("CONFORMS", folder="r2"),
        ended("CONFORMS", folder="r3", kafka="3.6.0"),
    ]
    return table(spark, "attempts", rows)


def test_consistency_merges_the_verdicts_of_a_check(spark: SparkSession) -> None:
    """Over runs the worst verdict wins, anomalies add up, and the example is the worst one's."""
    verdicts = table(
        spark,
        "verdicts",
        [
            {"folder": "r1", "check": "lost", "outcome": "VIOLATES", "kind": "SAFETY", "count": 3, "summary": "3 lost"},
            {"folder": "r2", "check": "lost", "outcome": "CONFORMS", "count": 0, "summary": "none"},
            {"folder": "r3", "check": "lost", "outcome": "INCONCLUSIVE", "kind": "VACUOUS", "count": 0, "summary": "?"},
        ],
    )

    reported = marts.consistency(verdicts, _attempts(spark))

    expected = [
        ("3.9.1", "small", "lost", "VIOLATES", "SAFETY", 2, 1, 1, 0, 0, 3, None, "3 lost"),
        ("3.6.0", "small", "lost", "INCONCLUSIVE", "VACUOUS", 1, 0, 0, 1, 0, 0, None, "?"),
    ]
    assertDataFrameEqual(reported, table_of(spark, "consistency", expected))


def test_facts_that_are_numbers_are_added_up(spark: SparkSession) -> None:
    """Texts, truths, lists and nothing are left out; a total and the largest are given per name."""
    facts = [
        '{"acknowledged": 10, "gap_ms": 1.5, "who": "x", "ok": true, "l": [1], "n": null}',
        '{"acknowledged": 5}',
        None,
    ]
    verdicts = table(
        spark,
        "verdicts",
        [
            {"folder": f, "check": "c", "outcome": "CONFORMS", "facts": t}
            for f, t in zip(["r1", "r2", "r2"], facts, strict=True)
        ],
    )

    reported = marts.consistency_facts(verdicts, _attempts(spark))

    expected = [("3.9.1", "small", "c", "acknowledged", 2, 15.0, 10.0), ("3.9.1", "small", "c", "gap_ms", 1, 1.5, 1.5)]
    assertDataFrameEqual(reported, table_of(spark, "consistency_facts", expected))


def test_bugs_are_counted_by_run_where_they_made_something_red(spark: SparkSession) -> None:
    """Two checks of one run red by the same bug are one run; a green check names no bug."""
    red = {"outcome": "VIOLATES", "kind": "LIVENESS", "requirements": ["R1"], "known_bugs": ["KAFKA-1"], "summary": "s"}
    green = {**red, "folder": "r2", "check": "b", "outcome": "CONFORMS"}
    verdicts = table(
        spark, "verdicts", [{**red, "folder": "r1", "check": "a"}, {**red, "folder": "r1", "check": "b"}, green]
    )

    reported = marts.bugs(verdicts, _attempts(spark))

    expected = [("KAFKA-1", "3.9.1", 1, ["LIVENESS"], ["a", "b"], ["R1"], ["t"], "s")]
    assertDataFrameEqual(reported, table_of(spark, "bugs", expected))


def test_each_bug_shows_its_own_violation(spark: SparkSession) -> None:
    """Two departures that one check finds are not both described by the first thing that it saw."""
    facts = json.dumps({"checked": 2, "seen_as": {"no-a": "broker-0 reports no A", "no-b": "broker-0 reports no B"}})
    red = {"outcome": "VIOLATES", "kind": "SAFETY", "requirements": ["R1"], "summary": "no A; 1 more", "facts": facts}
    verdicts = table(spark, "verdicts", [{**red, "folder": "r1", "check": "a", "known_bugs": ["no-a", "no-b", "no-c"]}])

    reported = marts.bugs(verdicts, _attempts(spark)).select("bug", "example").collect()

    assert {row.bug: row.example for row in reported} == {
        "no-a": "broker-0 reports no A",
        "no-b": "broker-0 reports no B",
        "no-c": "no A; 1 more",
    }


def test_bugs_name_the_requirements_that_they_explain(spark: SparkSession) -> None:
    """Of what a verdict is about, neither what another bug explains, nor what conforms; older folders have all."""
    red = {"folder": "r1", "check": "a", "outcome": "VIOLATES", "kind": "SAFETY", "summary": "s"}
    named = {"requirements": ["R1", "R2", "R3"], "known_bugs": ["KAFKA-1", "KAFKA-2"]}
    outcomes = [("R1", "VIOLATES", ["KAFKA-1"]), ("R2", "VIOLATES", ["KAFKA-2"]), ("R3", "CONFORMS", [])]
    about = [
        {"requirement": row, "outcome": outcome, "kind": None, "seen": 1, "known_bugs": bugs}
        for row, outcome, bugs in outcomes
    ]
    older = [{**each, "known_bugs": None} for each in about]
    for its, of_one in ((about, ["R1"]), (older, ["R1", "R2"]), (None, ["R1", "R2", "R3"])):
        reported = marts.bugs(table(spark, "verdicts", [{**red, **named, "about": its}]), _attempts(spark))
        assert {row["bug"]: row["requirements"] for row in reported.collect()}["KAFKA-1"] == of_one


def test_fault_effects_count_injections_and_runs(spark: SparkSession) -> None:
    """A fault injected twice in a run is two injections but one run."""
    one = {"fault": "kill", "phase": "HYBRID", "is_witnessed": True}
    faults = table(
        spark,
        "faults",
        [{**one, "folder": "r1"}, {**one, "folder": "r1"}, {**one, "folder": "r2", "is_witnessed": False}],
    )

    reported = marts.fault_effects(faults, _attempts(spark))

    assertDataFrameEqual(reported, table_of(spark, "fault_effects", [("kill", "HYBRID", "3.9.1", 3, 2, 1, 1)]))


def test_duration_statistics(spark: SparkSession) -> None:
    """Median, 90 % and longest per timed thing and condition: what another provider or profile took is another row."""
    condition = {"profile": "kip", "provider": "process", "kafka": "3.9.1", "topology": "small"}
    others = [("profile", "other"), ("provider", "container"), ("kafka", "3.6.0"), ("topology", "large")]
    ran = [condition, *[condition | {name: value} for name, value in others]]
    attempts = [{"folder": f"r{place}", **each} for place, each in enumerate(ran)]
    took_ms = [("r0", 10), ("r0", 20), ("r0", 30), *[(f"r{place}", 1_000 * place) for place in range(1, 5)]]
    rows = [{"folder": folder, "what": "step", "name": "roll", "took_ms": float(ms)} for folder, ms in took_ms]

    reported = marts.duration_statistics(table(spark, "durations", rows), table(spark, "attempts", attempts))

    alone = [(*each.values(), "step", "roll", 1, *[1_000.0 * place] * 3) for place, each in enumerate(ran[1:], start=1)]
    expected = [("kip", "process", "3.9.1", "small", "step", "roll", 3, 20.0, 28.0, 30.0), *alone]
    assertDataFrameEqual(reported, table_of(spark, "duration_statistics", expected))


def table_of(spark: SparkSession, name: str, rows: Sequence[tuple[object, ...]]) -> DataFrame:
    """Rows in the order of a declared table's columns."""
    return spark.createDataFrame(rows, schemas.TABLES[name])
