"""Comparison: what changed between two versions is reported with how sure it is; chance is not called a change."""

from collections.abc import Sequence

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.pages.markdown_comparison import compared
from pytest_kmigrate.reports.summary.comparison import Comparison, compare
from pytest_kmigrate.reports.summary.rows import Row, clusters_of
from tests.unit.reports.fabricated_marts import Tables
from tests.unit.reports.fabricated_tables import season
from tests.unit.reports.single_rows import CLUSTER


def _counted(name: str, kafka: str, conforming: int, violating: int, safety: int = 0, inconclusive: int = 0) -> Row:
    counts = {"conforming": conforming, "violating": violating, "inconclusive": inconclusive}
    runs = {"runs": conforming + violating + inconclusive, "safety_violations": safety}
    return {"test_id": name, "requirement": name, **CLUSTER, "kafka": kafka, **counts, **runs}


def _runs(kafka: str, count: int) -> list[Row]:
    known: Row = {"kafka": kafka, "test_id": "t", "is_aside": False, **CLUSTER}
    return [{"folder": f"{kafka}/{n}", **known} for n in range(count)]


def _compared(**tables: list[Row]) -> Comparison:
    attempts, cells = _runs("A", 40) + _runs("B", 40), tables.get("requirements", [])
    return compare({"attempts": attempts, "cells": cells, **tables}, "A", "B")


def _changes(rows: list[Row], name: str) -> dict[object, object]:
    return {row[name]: row["change"] for row in rows}


def test_a_test_is_called_worse_or_better_only_when_that_is_no_chance() -> None:
    """0 of 40 to 20 of 40 is worse and the reverse better; 1 of 40 to 3 of 40 may be chance; equal is the same."""
    rows = [
        *(_counted("worse", "A", 40, 0), _counted("worse", "B", 20, 20)),
        *(_counted("better", "A", 20, 20), _counted("better", "B", 40, 0)),
        *(_counted("chance", "A", 39, 1), _counted("chance", "B", 37, 3)),
        *(_counted("same", "A", 40, 0), _counted("same", "B", 40, 0)),
    ]

    found = _compared(tests=rows)

    reported = _changes(found["tests"], "test_id")
    assert reported == {"worse": "WORSE", "better": "BETTER", "chance": "UNSURE", "same": "SAME"}
    assert [row["test_id"] for row in found["tests"]][:2] == ["worse", "better"]
    assert found["headline"] == "Kafka A to B: 1 test worse, 1 test better"


def test_among_many_tests_a_small_difference_is_not_news() -> None:
    """0 of 20 against 6 of 20 is worse when it is all there is to see, and may be chance among fifty other tests."""
    rows = [_counted("t", "A", 20, 0), _counted("t", "B", 14, 6)]
    others = [_counted(f"other {n}", kafka, 20, 0) for n in range(50) for kafka in "AB"]

    alone, among_many = (_compared(tests=tests)["tests"] for tests in (rows, rows + others))

    assert _changes(alone, "test_id")["t"] == "WORSE"
    assert _changes(among_many, "test_id")["t"] == "UNSURE"


def test_a_first_safety_violation_is_worse_without_a_test() -> None:
    """One lost record in a thousand runs is no chance; its end is not yet proof that it is repaired."""
    rows = [_counted("lost", "A", 400, 0), _counted("lost", "B", 999, 1, safety=1)]
    back = [_counted("lost", "A", 999, 1, safety=1), _counted("lost", "B", 400, 0)]

    assert _changes(_compared(requirements=rows)["requirements"], "requirement") == {"lost": "WORSE"}
    assert _changes(_compared(requirements=back)["requirements"], "requirement") == {"lost": "UNSURE"}


def test_what_only_one_version_ran_is_neither_better_nor_worse() -> None:
    """It is named as such; and a version without an answer cannot be compared."""
    rows = [
        _counted("dropped", "A", 40, 0),
        _counted("added", "B", 40, 0),
        *(_counted("mute", "A", 40, 0), _counted("mute", "B", 0, 0, inconclusive=40)),
    ]

    found = _compared(tests=rows)

    assert _changes(found["tests"], "test_id") == {"dropped": "ONLY_A", "added": "ONLY_B", "mute": "UNSURE"}
    assert found["headline"] == "Kafka A to B: nothing changed that is more than chance"


def test_requirements_are_compared_test_by_test() -> None:
    """B ran the failing test more often, and each fails as it does on A: no change. One that fails more often is."""
    pooled = [_counted("r", "A", 84, 4), _counted("r", "B", 48, 40)]
    failing, clean = [(4, 4), (40, 40)], [(80, 0), (8, 0)]
    clean_no_more = [(80, 0), (3, 5)]

    def change(*tests: list[tuple[int, int]]) -> object:
        cells = [
            {**_counted(f"t{place}", kafka, *ends), "requirement": "r"}
            for place, sides in enumerate(tests)
            for kafka, ends in zip("AB", sides, strict=True)
        ]
        (row,) = _compared(requirements=pooled, cells=cells)["requirements"]
        return row["change"]

    assert change(failing, clean) == "SAME"
    assert change(failing, clean_no_more) == "WORSE"


def test_what_is_red_and_only_the_new_version_ran_is_told() -> None:
    """A requirement that breaks SAFETY, and a test that violates: an upgrade must not miss them."""
    lost, red = _counted("lost", "B", 0, 40, safety=40), _counted("red", "B", 39, 1)

    found = _compared(requirements=[lost], tests=[red, _counted("was red", "A", 0, 40)])

    assert _changes(found["requirements"], "requirement") == {"lost": "NEW"}
    assert _changes(found["tests"], "test_id") == {"red": "NEW", "was red": "ONLY_A"}
    assert found["headline"] == "Kafka A to B: 1 requirement violated that only B ran, 1 test violated that only B ran"
    reported = "".join(compared(found, clusters_of([])))
    assert "| `lost` | **new** (not run to safety violation) |" in reported
    assert "1 only in A." in reported
    assert "only in B" not in reported


def test_rates_come_with_their_intervals_and_outcomes() -> None:
    """Both sides: worst outcome, counts, the share of violations and its 95 % interval."""
    rows = [_counted("r", "A", 40, 0, inconclusive=2), _counted("r", "B", 30, 10)]

    (row,) = _compared(requirements=rows)["requirements"]

    assert (row["worst_a"], row["worst_b"], row["violating_b"], row["answers_b"]) == (
        "INCONCLUSIVE",
        "VIOLATES",
        10,
        40,
    )
    assert row["rate_b"] == 0.25
    assert [row["rate_low_b"], row["rate_high_b"]] == pytest.approx([0.1419, 0.4019], abs=1e-4)
    assert row["rate_low_a"] == 0.0


def _points(name: str, kafka: str, values: Sequence[float], test_id: str = "t") -> list[Row]:
    series: Row = {"measure": "duration_ms", "name": name, **CLUSTER, "kafka": kafka, "test_id": test_id}
    return [{**series, "value": value} for value in values]


def test_durations_that_moved_are_found_by_rank() -> None:
    """Half as long again in every run is worse, shorter is better; one outlier moves nothing."""
    usual = [100.0 + n for n in range(20)]
    trends = [
        *_points("slower", "A", usual),
        *_points("slower", "B", [1.5 * value for value in usual]),
        *_points("quicker", "A", usual),
        *_points("quicker", "B", [0.5 * value for value in usual]),
        *_points("outlier", "A", usual),
        *_points("outlier", "B", [*usual[1:], 90_000.0]),
        *_points("alike", "A", usual),
        *_points("alike", "B", usual),
        *_points("new", "B", usual),
    ]

    found = _compared(trends=trends)["durations"]

    reported = {"slower": "WORSE", "quicker": "BETTER", "outlier": "UNSURE", "alike": "SAME"}
    assert _changes(found, "name") == reported
    slower = next(row for row in found if row["name"] == "slower")
    assert (slower["median_a"], slower["median_b"]) == (109.5, 164.25)
    assert slower["ratio"] == pytest.approx(1.5)
    assert 150 < float(str(slower["low_b"])) < 164.25 < float(str(slower["high_b"])) < 178.5


def test_whether_durations_grew_is_told_by_ranks() -> None:
    """Half of the runs take ten times as long: worse, though the median fell, or stayed where it was."""
    trends = [
        *_points("fell", "A", [1.0] * 19 + [10.1] * 21),
        *_points("fell", "B", [10.0] * 21 + [100.0] * 19),
        *_points("stayed", "A", [5.0] * 40),
        *_points("stayed", "B", [5.0] * 24 + [1_000.0] * 16),
    ]

    found = _compared(trends=trends)["durations"]

    assert [row["ratio"] for row in found if row["name"] == "fell"] == [pytest.approx(10 / 10.1)]
    assert _changes(found, "name") == {"fell": "WORSE", "stayed": "WORSE"}


def test_another_mix_of_tests_is_no_change_of_durations() -> None:
    """B ran the slow test more often, and a slower one besides: only what takes longer in the same test is worse."""
    quick, slow = [100.0 + n for n in range(20)], [900.0 + n for n in range(20)]
    mixes = {"alike": 1.0, "longer": 1.2}
    trends = [
        *(point for name in mixes for point in _points(name, "A", quick * 2, "quick")),
        *(point for name in mixes for point in _points(name, "A", slow, "slow")),
        *(point for name in mixes for point in _points(name, "B", quick, "quick")),
        *(
            point
            for name, times in mixes.items()
            for point in _points(name, "B", [times * v for v in slow] * 3, "slow")
        ),
        *(point for name in mixes for point in _points(name, "B", [9_000.0] * 40, "of B alone")),
    ]

    found = _compared(trends=trends)["durations"]

    assert _changes(found, "name") == {"longer": "WORSE", "alike": "SAME"}
    assert [(row["runs_a"], row["runs_b"]) for row in found] == [(60, 80), (60, 80)]


def test_a_lag_that_was_none_before_has_no_ratio() -> None:
    """Nothing to something is worse all the same, and nothing to nothing is no change."""
    trends = [
        *(point for kafka in "AB" for point in _points("none", kafka, [0.0] * 20)),
        *_points("some", "A", [0.0] * 20),
        *_points("some", "B", [5.0 + n for n in range(20)]),
    ]

    found = _compared(trends=trends)["durations"]

    assert _changes(found, "name") == {"some": "WORSE", "none": "SAME"}
    assert [row["ratio"] for row in found] == [None, None]


def _failed(name: str, kafka: str, runs: int) -> list[Row]:
    return [{"cluster": name, "folder": f"{kafka}/{n}"} for n in range(runs)] * 2


def _named(*names: str) -> list[Row]:
    return [{"cluster": name, "representative": name} for name in names]


def test_failures_are_new_gone_or_more_often_by_their_runs() -> None:
    """Counted are runs of each version, not messages; a cluster of neither version is not listed."""
    found = _compared(
        failure_clusters=_named("new", "gone", "more", "alike", "elsewhere"),
        failure_members=[
            *_failed("new", "B", 12),
            *_failed("gone", "A", 12),
            *_failed("more", "A", 2),
            *_failed("more", "B", 30),
            *_failed("alike", "A", 4),
            *_failed("alike", "B", 5),
            *_failed("elsewhere", "C", 9),
        ],
    )["clusters"]

    assert _changes(found, "cluster") == {"more": "WORSE", "new": "NEW", "gone": "GONE", "alike": "UNSURE"}
    assert [(row["runs_a"], row["runs_b"], row["of_b"]) for row in found if row["cluster"] == "more"] == [(2, 30, 40)]


def test_a_failure_that_one_version_met_by_chance_is_neither_new_nor_gone() -> None:
    """One run of 40 against none says nothing, neither way, and is in no headline."""
    members = [*_failed("first", "B", 1), *_failed("last", "A", 1)]

    found = _compared(failure_clusters=_named("first", "last"), failure_members=members)

    assert _changes(found["clusters"], "cluster") == {"first": "UNSURE", "last": "UNSURE"}
    assert found["headline"] == "Kafka A to B: nothing changed that is more than chance"


def test_failures_of_infra_nights_are_not_compared() -> None:
    """Met in twelve runs of the new version, all of one bad night: neither new nor one of its failures."""
    runs = [{**run, "is_aside": run["folder"] in {f"B/{n}" for n in range(12)}} for run in _runs("B", 40)]
    members = _failed("bad night", "B", 12)
    tables = {"failure_clusters": _named("bad night"), "failure_members": members}

    assert _compared(attempts=[*_runs("A", 40), *runs], **tables)["clusters"] == []


def test_failures_are_compared_test_by_test() -> None:
    """What one version alone ran is listed and proves nothing; failing as often in more runs proves nothing either."""
    mix = {("A", "failing"): 4, ("B", "failing"): 40, ("A", "cleaner"): 40, ("B", "cleaner"): 4, ("B", "of B"): 30}
    runs: list[Row] = [
        {"folder": f"{kafka}/{test}/{n}", "kafka": kafka, "test_id": test, "is_aside": False, **CLUSTER}
        for (kafka, test), times in mix.items()
        for n in range(times)
    ]
    members: list[Row] = [
        {"cluster": "alone" if run["test_id"] == "of B" else "mixed", "folder": run["folder"]}
        for run in runs
        if int(str(run["folder"])[-1]) % (10 if run["test_id"] == "cleaner" else 2) == 0
    ]

    found = _compared(attempts=runs, failure_clusters=_named("alone", "mixed"), failure_members=members)["clusters"]

    assert _changes(found, "cluster") == {"alone": "ONLY_B", "mixed": "UNSURE"}
    counted = [(row["runs_a"], row["of_a"], row["runs_b"], row["of_b"]) for row in found]
    assert counted == [(0, 0, 15, 30), (6, 44, 21, 44)]


@pytest.mark.parametrize(("a", "b"), [("3.6.0", "4.0.0"), ("3.6.0", "3.6.0")])
def test_versions_that_cannot_be_compared_are_wrong_use(a: str, b: str) -> None:
    """The error names the versions there are, in the order of releases."""
    tables: Tables = season(runs=30)

    with pytest.raises(WrongUseError, match=r"which are: 3\.6\.0, 3\.9\.1, 3\.10\.0"):
        compare(tables, a, b)
