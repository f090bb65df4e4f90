"""Trends: what is measured per run, and since when it is slower."""

import datetime as dt
import random

import numpy as np
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis.schemas.ingestion import OBSERVATIONS
from pytest_kmigrate.analysis.schemas.trends import TRENDS
from pytest_kmigrate.analysis.trends import trend_changes, trends
from tests.spark.frames import CELL, ended, frame, table

FIRST = dt.datetime(2026, 1, 1, 22)  # noqa: DTZ001  # as Spark gives it back: in the UTC of the session
SHAPE = {name: CELL[name] for name in ("profile", "provider", "kafka", "topology")}


def _trends(spark: SparkSession, **rows: list[dict[str, object]]) -> DataFrame:
    tables = {name: table(spark, name, rows.get(name, [])) for name in ("durations", "verdicts", "faults", "attempts")}
    metrics = frame(spark, OBSERVATIONS["metrics"], rows.get("metrics", []))
    return trends(tables["durations"], tables["verdicts"], tables["faults"], metrics, tables["attempts"])


def _run(folder: str, outcome: str = "CONFORMS", **more: object) -> dict[str, object]:
    return ended(outcome, **{"folder": folder, "run_id": folder, "started_at": FIRST, "is_aside": False, **more})


def test_every_measure_of_a_run_is_a_point(spark: SparkSession) -> None:
    """Durations by name (of two stays in a phase both), the longest time without an acknowledged write, and so on."""
    gap = '{"longest_s": 4.5, "began_ns": 2000000000, "ended_ns": 6500000000, "faults": []}'
    reported = _trends(
        spark,
        attempts=[_run("a", commit="1a2b")],
        durations=[
            {"folder": "a", "what": "run", "name": "whole run", "took_ms": 60_000.0},
            {"folder": "a", "what": "step", "name": "roll", "took_ms": 9_000.0},
            {"folder": "a", "what": "phase", "name": "ZOOKEEPER", "took_ms": 4_000.0},
            {"folder": "a", "what": "phase", "name": "ZOOKEEPER", "took_ms": 7_000.0},
        ],
        verdicts=[
            {"folder": "a", "check": "gap", "facts": gap},
            {"folder": "a", "check": "lost", "facts": '{"acknowledged": 7}'},
        ],
        faults=[
            {"folder": "a", "fault": "earlier", "began_ns": 100_000_000},
            {"folder": "a", "fault": "kill(broker)", "began_ns": 1_500_000_000},
            {"folder": "a", "fault": "later", "began_ns": 3_000_000_000},
        ],
        metrics=[
            {"folder": "a", "node": "c1", "metric": "ZkWriteBehindLag", "largest": 3.0},
            {"folder": "a", "node": "c2", "metric": "ZkWriteBehindLag", "largest": 17.0},
            {"folder": "a", "node": "c2", "metric": "ActiveControllerCount", "largest": 99.0},
        ],
    )

    assertSchemaEqual(reported.to(TRENDS["trends"]).schema, TRENDS["trends"])
    assert {(each.run_id, each.started_at, each.commit) for each in reported.collect()} == {("a", FIRST, "1a2b")}
    assert sorted((each.measure, each.name, each.value) for each in reported.collect()) == [
        ("duration_ms", "phase ZOOKEEPER", 11_000.0),
        ("duration_ms", "run t", 60_000.0),
        ("duration_ms", "step roll", 9_000.0),
        ("fail_over_ms", "kill(broker)", 5_000.0),
        ("unavailable_ms", "gap", 4_500.0),
        ("write_behind_lag", "largest", 17.0),
    ]


def test_only_runs_with_an_answer_are_measured(spark: SparkSession) -> None:
    """An inconclusive run may have stopped anywhere; how long it took says nothing."""
    rows = [_run("a"), _run("b", "VIOLATES"), _run("c", "INCONCLUSIVE")]
    durations = [{"folder": each, "what": "run", "name": "whole run", "took_ms": 1.0} for each in "abc"]

    reported = _trends(spark, attempts=rows, durations=durations)

    assert sorted(each.run_id for each in reported.collect()) == ["a", "b"]


def test_infra_nights_are_not_measured(spark: SparkSession) -> None:
    """Runs of a night that was set aside, slow as they may be, are no points; so they make no change either."""
    rows = [_run("a"), _run("b", is_aside=True)]
    durations = [{"folder": each, "what": "run", "name": "whole run", "took_ms": 1.0} for each in "ab"]

    assert [each.run_id for each in _trends(spark, attempts=rows, durations=durations).collect()] == ["a"]


def test_versions_are_ordered_by_number(spark: SparkSession) -> None:
    """3.10 comes after 3.9, a mutant after the release it is made of, and a name without a number first."""
    kafkas = ["3.10.0", "3.9.1 + Byteman rule", "3.9.1", "3.9", "trunk"]
    rows = [_run(str(place), kafka=kafka) for place, kafka in enumerate(kafkas)]
    durations = [{"folder": str(place), "what": "run", "name": "whole run", "took_ms": 1.0} for place in range(5)]

    reported = _trends(spark, attempts=rows, durations=durations).orderBy("version_order").collect()

    assert [each.kafka for each in reported] == ["trunk", "3.9", "3.9.1", "3.9.1 + Byteman rule", "3.10.0"]
    assert [each.version_order for each in reported] == list(range(5))


def _points(spark: SparkSession, values: list[float], tests: list[str] | None = None) -> DataFrame:
    """One point per night; the second half with the next release."""
    rows = [
        {
            **SHAPE,
            "measure": "duration_ms",
            "name": "step roll",
            "kafka": "3.8.0" if night < len(values) // 2 else "3.9.1",
            "test_id": tests[night] if tests else "t",
            "run_id": f"run {night}",
            "started_at": FIRST + dt.timedelta(days=night),
            "commit": f"commit {night}",
            "value": value,
        }
        for night, value in enumerate(values)
    ]
    return frame(spark, TRENDS["trends"], rows[::-1])


def _named(spark: SparkSession, name: str, values: list[float]) -> DataFrame:
    return _points(spark, values).withColumn("name", F.lit(name))


def _scattered(count: int, level: float) -> list[float]:
    chance = random.Random(count)
    return [level * chance.lognormvariate(0, 0.1) for _ in range(count)]


@pytest.mark.parametrize(("level", "direction"), [(2_000.0, "WORSE"), (500.0, "BETTER")])
def test_a_changed_duration_is_found_with_its_run_and_release(
    spark: SparkSession, level: float, direction: str
) -> None:
    """Since which run, with which release and commit, from which median to which, and whether that is good."""
    found = trend_changes(_points(spark, _scattered(25, 1_000.0) + _scattered(25, level)))

    assertSchemaEqual(found.to(TRENDS["trend_changes"]).schema, TRENDS["trend_changes"])
    row = found.collect()[0]
    assert (row.measure, row.name, row.topology) == ("duration_ms", "step roll", "small")
    assert (row.profile, row.provider) == (SHAPE["profile"], SHAPE["provider"])
    assert (row.since_run, row.since_kafka, row.since_at) == ("run 25", "3.9.1", FIRST + dt.timedelta(days=25))
    assert row.since_commit == "commit 25"
    assert (row.median_before, row.median_after) == (pytest.approx(1_000, rel=0.1), pytest.approx(level, rel=0.1))
    assert (row.ratio, row.direction) == (pytest.approx(level / 1_000, rel=0.1), direction)
    assert row.p_value < 1e-4


def test_slower_after_runs_that_hung_is_worse(spark: SparkSession) -> None:
    """Three of 25 hung, then all took twice as long: less on average than with these three, and no better for it."""
    before = _scattered(25, 1_000.0)
    before[3:18:7] = [1_000_000.0] * 3

    (row,) = trend_changes(_points(spark, before + _scattered(25, 2_000.0))).collect()

    assert (row.direction, row.median_after > row.median_before) == ("WORSE", True)


def test_what_is_told_is_what_was_judged(spark: SparkSession) -> None:
    """Both tests got quicker, and the longer one was run more often since: medians, too, are of equal tests."""
    tests = ["slow" if night % 5 < (2 if night < 30 else 3) else "quick" for night in range(60)]
    lengths = _scattered(60, 1_000.0)
    values = [
        length * (10 if test == "slow" else 1) / (1 if night < 30 else 2)
        for night, (length, test) in enumerate(zip(lengths, tests, strict=True))
    ]

    (row,) = trend_changes(_points(spark, values, tests)).collect()

    assert row.direction == "BETTER"
    # Values pooled as they are would have risen, from those of the quick test to those of the longer one.
    assert np.median(values[30:]) > np.median(values[:30])
    assert row.ratio < 0.8
    assert row.median_after / row.median_before == pytest.approx(row.ratio)


def test_runs_without_a_time_are_no_trend(spark: SparkSession) -> None:
    """Their order is that of their names: what changes in it has not changed since any run."""
    changed = _points(spark, _scattered(25, 1_000.0) + _scattered(25, 2_000.0))
    timeless = changed.withColumn("started_at", F.lit(None).cast("timestamp")).withColumn("run_id", F.col("kafka"))

    assert len(trend_changes(changed).collect()) == 1
    assert trend_changes(timeless).collect() == []


@pytest.mark.parametrize("key", ["provider", "profile"])
def test_another_provider_or_profile_is_a_series_of_its_own(spark: SparkSession, key: str) -> None:
    """The same test ran on another as well, which always took twice as long: the change is reported of its own one."""
    changed = _points(spark, _scattered(25, 1_000.0) + _scattered(25, 2_000.0))
    other = _points(spark, _scattered(50, 4_000.0)).withColumn(key, F.lit("another"))

    (row,) = trend_changes(changed.unionByName(other)).collect()

    assert row[key] == SHAPE[key]
    assert (row.median_before, row.median_after) == (pytest.approx(1_000, rel=0.1), pytest.approx(2_000, rel=0.1))


def test_a_change_must_be_surer_among_many_series(spark: SparkSession) -> None:
    """What is believed of one series alone is not among a hundred flat ones; what is plain is believed there, too."""
    faint = _named(spark, "faint", _scattered(16, 1_000.0) + [1_000_000.0 + each for each in range(6)])
    plain = _named(spark, "plain", _scattered(25, 1_000.0) + _scattered(25, 2_000.0))
    flat = _named(spark, "flat ", [1.0, 2.0, 2.0, 1.0, 2.0, 1.0, 1.0, 2.0])
    assert [row.name for row in trend_changes(faint).collect()] == ["faint"]
    many = flat.crossJoin(spark.range(100)).withColumn("name", F.concat("name", F.col("id").cast("string")))

    rows = trend_changes(plain.unionByName(faint).unionByName(many.drop("id"))).collect()

    assert [row.name for row in rows] == ["plain"]


def test_a_slow_test_that_is_added_is_no_regression(spark: SparkSession) -> None:
    """Equal tests are compared with equal tests: the same durations by one test alone would be a change."""
    quick, slow = _scattered(40, 1_000.0), _scattered(20, 3_000.0)
    values = quick[:20] + [value for pair in zip(quick[20:], slow, strict=True) for value in pair]
    names = ["quick"] * 20 + ["quick", "slow"] * 20

    assert trend_changes(_points(spark, values, names)).collect() == []
    assert len(trend_changes(_points(spark, values)).collect()) == 1
