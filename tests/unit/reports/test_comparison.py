"""Comparison: what changed between two versions is told with how sure it is; chance is not called a change."""

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.reports.comparison import Comparison, compare
from pytest_kmigrate.reports.rows import Row
from tests.unit.reports.fabricated_marts import Tables
from tests.unit.reports.fabricated_tables import season

CLUSTER: Row = {"profile": "kip-866", "provider": "process", "topology": "small"}


def _counted(name: str, kafka: str, conforming: int, violating: int, safety: int = 0, inconclusive: int = 0) -> Row:
    counts = {"conforming": conforming, "violating": violating, "inconclusive": inconclusive}
    runs = {"runs": conforming + violating + inconclusive, "safety_violations": safety}
    return {"test_id": name, "requirement": name, **CLUSTER, "kafka": kafka, **counts, **runs}


def _runs(kafka: str, count: int) -> list[Row]:
    return [{"folder": f"{kafka}/{n}", "kafka": kafka} for n in range(count)]


def _compared(**tables: list[Row]) -> Comparison:
    return compare({"attempts": _runs("A", 40) + _runs("B", 40), **tables}, "A", "B")


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

    told = _changes(found["tests"], "test_id")
    assert told == {"worse": "WORSE", "better": "BETTER", "chance": "UNSURE", "same": "SAME"}
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
        _counted("added", "B", 0, 40),
        *(_counted("mute", "A", 40, 0), _counted("mute", "B", 0, 0, inconclusive=40)),
    ]

    found = _compared(tests=rows)

    assert _changes(found["tests"], "test_id") == {"dropped": "ONLY_A", "added": "ONLY_B", "mute": "UNSURE"}
    assert found["headline"] == "Kafka A to B: nothing changed that is more than chance"


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


def test_durations_that_moved_are_found_by_rank() -> None:
    """Half as long again in every run is worse, shorter is better; one outlier moves nothing."""

    def points(name: str, kafka: str, values: list[float]) -> list[Row]:
        return [{"measure": "duration_ms", "name": name, **CLUSTER, "kafka": kafka, "value": value} for value in values]

    usual = [100.0 + n for n in range(20)]
    trends = [
        *points("slower", "A", usual),
        *points("slower", "B", [1.5 * value for value in usual]),
        *points("quicker", "A", usual),
        *points("quicker", "B", [0.5 * value for value in usual]),
        *points("outlier", "A", usual),
        *points("outlier", "B", [*usual[1:], 90_000.0]),
        *points("new", "B", usual),
    ]

    found = _compared(trends=trends)["durations"]

    assert _changes(found, "name") == {"slower": "WORSE", "quicker": "BETTER", "outlier": "UNSURE"}
    slower = found[0]
    assert (slower["median_a"], slower["median_b"], slower["ratio"]) == (109.5, 164.25, 1.5)
    assert 150 < float(str(slower["low_b"])) < 164.25 < float(str(slower["high_b"])) < 178.5


def test_failures_are_new_gone_or_more_often_by_their_runs() -> None:
    """Counted are runs of each version, not messages; a cluster of neither version is not told."""

    def cluster(name: str) -> Row:
        return {"cluster": name, "representative": name}

    def members(name: str, kafka: str, runs: int) -> list[Row]:
        return [{"cluster": name, "folder": f"{kafka}/{n}"} for n in range(runs)] * 2

    found = _compared(
        failure_clusters=[cluster(name) for name in ("new", "gone", "more", "alike", "elsewhere")],
        failure_members=[
            *members("new", "B", 3),
            *members("gone", "A", 3),
            *members("more", "A", 2),
            *members("more", "B", 30),
            *members("alike", "A", 4),
            *members("alike", "B", 5),
            *members("elsewhere", "C", 9),
        ],
    )["clusters"]

    assert _changes(found, "cluster") == {"more": "WORSE", "new": "NEW", "gone": "GONE", "alike": "UNSURE"}
    assert [(row["runs_a"], row["runs_b"], row["of_b"]) for row in found if row["cluster"] == "more"] == [(2, 30, 40)]


@pytest.mark.parametrize(("a", "b"), [("3.6.0", "4.0.0"), ("3.6.0", "3.6.0")])
def test_versions_that_cannot_be_compared_are_wrong_use(a: str, b: str) -> None:
    """The error names the versions there are, in the order of releases."""
    tables: Tables = season(runs=30)

    with pytest.raises(WrongUseError, match=r"which are: 3\.6\.0, 3\.9\.1, 3\.10\.0"):
        compare(tables, a, b)
