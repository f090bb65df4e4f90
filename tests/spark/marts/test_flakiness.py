"""Flakiness: nights, cells and change points over attempts, as tables."""

import datetime as dt
from collections.abc import Iterable

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertSchemaEqual

from pytest_kmigrate.analysis import marts
from pytest_kmigrate.analysis.flakiness import REQUIREMENT_CELL, change_points, flakiness
from pytest_kmigrate.analysis.nights import excused, in_nights, infra_nights
from pytest_kmigrate.analysis.schemas.flakiness import FLAKINESS
from tests.spark.frames import CELL, ended, frame, table

FIRST = dt.datetime(2026, 1, 1, 22)  # noqa: DTZ001  # as Spark gives it back: in the UTC of the session
OUTCOMES = {
    "C": ("CONFORMS", None),
    "V": ("VIOLATES", "LIVENESS"),
    "S": ("VIOLATES", "SAFETY"),
    "I": ("INCONCLUSIVE", "INFRA"),
    "N": ("NOT_APPLICABLE", None),
}


def _nightly(outcomes: str, first_night: int = 0, **more: object) -> list[dict[str, object]]:
    """One attempt per night, a letter each."""
    rows = []
    for night, letter in enumerate(outcomes, first_night):
        name = f"{more.get('test_id', 't')}-{night}"
        known = {"run_id": name, "folder": name, "attempt": night + 1, "seed": str(night), **more}
        rows.append(ended(*OUTCOMES[letter], started_at=FIRST + dt.timedelta(days=night), **known))
    return rows


def _attempts(
    spark: SparkSession, *rows: Iterable[dict[str, object]], infra_night: dt.datetime | None = None
) -> DataFrame:
    """Attempts out of order, as Spark may read them."""
    attempts = table(spark, "attempts", [row for some in rows for row in some][::-1])
    aside = [] if infra_night is None else [{"night": infra_night.date()}]
    return in_nights(attempts, frame(spark, FLAKINESS["infra_nights"], aside))


def test_a_cell_is_counted_in_the_order_of_its_runs(spark: SparkSession) -> None:
    """Counts, flips, clean runs, rates with their intervals, what is still needed, and when it ran last."""
    reported = flakiness(_attempts(spark, _nightly("CVCCICCC")))

    assertSchemaEqual(reported.to(FLAKINESS["flakiness"]).schema, FLAKINESS["flakiness"])
    row = reported.collect()[0]
    assert (row.runs, row.conforming, row.violating, row.inconclusive, row.infra_runs) == (8, 6, 1, 1, 0)
    assert (row.flips, row.clean_runs, row.more_runs_needed) == (2, 5, 294)
    assert (row.standing, row.decision, row.newest_at) == ("FLAKY", "UNDECIDED", FIRST + dt.timedelta(days=7))
    assert (row.flip_rate, row.rate) == (pytest.approx(2 / 6), pytest.approx(1 / 7))
    assert (row.wilson_low, row.wilson_high) == (pytest.approx(0.02568, abs=1e-4), pytest.approx(0.51313, abs=1e-4))
    assert row.bound_after_clean == pytest.approx(1 - 0.05 ** (1 / 5))
    assert 0 < row.shrunk_low < row.shrunk_rate < row.shrunk_high < 1


def test_cells_are_apart_and_siblings_lend_strength(spark: SparkSession) -> None:
    """Another fault is another cell; two clean runs promise less beside a flaky sibling than beside a steady one."""
    rows = [
        *_nightly("C" * 40, test_id="steady", fault="kill"),
        *_nightly("CC", test_id="steady", fault="cut"),
        *_nightly("CV" * 20, test_id="flaky", fault="kill"),
        *_nightly("CC", test_id="flaky", fault="cut"),
    ]

    reported = {(each.test_id, each.fault): each for each in flakiness(_attempts(spark, rows)).collect()}

    assert len(reported) == 4
    assert reported["steady", "cut"].rate == reported["flaky", "cut"].rate == 0
    assert reported["flaky", "cut"].shrunk_rate > 3 * reported["steady", "cut"].shrunk_rate
    assert [reported[each, "kill"].decision for each in ("steady", "flaky")] == ["UNDECIDED", "QUARANTINE"]


def test_a_cell_without_an_answer_has_no_rate(spark: SparkSession) -> None:
    """Null, not zero: nothing was found out."""
    row = flakiness(_attempts(spark, _nightly("II"))).collect()[0]

    assert (row.rate, row.wilson_low, row.wilson_high, row.flip_rate) == (None, None, None, None)
    assert (row.inconclusive, row.bound_after_clean, row.standing) == (2, 1.0, "INCONCLUSIVE")


def test_retries_are_attempts(spark: SparkSession) -> None:
    """Red twice and green by the same seed in one night: three attempts, a flake, one violation for the decision."""
    again = {"seed": "7", "started_at": FIRST + dt.timedelta(minutes=5)}
    rows = [
        *_nightly("V", seed="7"),
        *[{**row, **again} for row in _nightly("V", run_id="second")],
        *[{**row, **again, "started_at": FIRST + dt.timedelta(hours=3)} for row in _nightly("C", run_id="third")],
    ]

    row = flakiness(_attempts(spark, rows)).collect()[0]

    assert (row.runs, row.violating, row.flips, row.standing, row.decision) == (3, 2, 1, "FLAKY", "UNDECIDED")


def test_infra_nights_are_set_aside_but_for_safety(spark: SparkSession) -> None:
    """What happened in such a night is counted apart, yet a lost record is one in any night."""
    tests = [_nightly("CCIC", test_id=f"t{each}") for each in range(6)]
    attempts = _attempts(spark, *tests, _nightly("CCSC", test_id="lost"))
    aside = infra_nights(attempts)

    reported = {each.test_id: each for each in flakiness(in_nights(attempts, aside)).collect()}

    assertSchemaEqual(aside.to(FLAKINESS["infra_nights"]).schema, FLAKINESS["infra_nights"])
    night = aside.collect()[0]
    assert (night.night, night.runs, night.inconclusive, night.tests_touched) == (dt.date(2026, 1, 3), 7, 6, 6)
    assert (night.wrong, night.wrong_runs, night.judged_runs, night.violating) == ("inconclusive", 6, 7, 0)
    assert (reported["t0"].runs, reported["t0"].infra_runs, reported["t0"].inconclusive) == (4, 1, 0)
    assert (reported["lost"].safety_violations, reported["lost"].infra_runs, reported["lost"].standing) == (
        1,
        0,
        "SAFETY",
    )


def test_a_night_of_a_new_commit_is_not_set_aside_for_being_red(spark: SparkSession) -> None:
    """Red everywhere for one night is a bad night, unless that night tried a commit that no other did."""

    def found(commits: tuple[str | None, ...]) -> int:
        rows = [
            {**row, "commit": commits[night % len(commits)] if night != 20 else commits[-1]}
            for test in range(10)
            for night, row in enumerate(_nightly("C" * 20 + "V" + "C" * 5, test_id=f"t{test}"))
        ]
        return infra_nights(_attempts(spark, rows)).count()

    assert [found((None,)), found(("1a2b", "3c4d"))] == [1, 1]
    assert found(("1a2b",) * 26 + ("bad",)) == 0


def test_what_broke_or_was_repaired_for_good_is_not_flaky(spark: SparkSession) -> None:
    """Both gave both answers, but changed once: the one violates now, the other conforms; and so it is reported."""
    histories = {"broke": "C" * 20 + "V" * 10, "repaired": "V" * 10 + "C" * 20, "flaky": "CCCCV" * 6}
    attempts = _attempts(spark, *[_nightly(reported, test_id=name) for name, reported in histories.items()])

    reported = marts.tests(attempts, flakiness(attempts)).collect()

    standings = {row.test_id: row.standing for row in reported}
    assert standings == {"broke": "VIOLATES", "repaired": "CONFORMS", "flaky": "FLAKY"}


def test_rates_are_those_since_the_last_change(spark: SparkSession) -> None:
    """Flaked once, then broke: counts and flips are of all runs, the rate and its interval of what it is now."""
    (row,) = flakiness(_attempts(spark, _nightly("C" * 8 + "V" + "C" * 11 + "V" * 10))).collect()

    assert (row.conforming, row.violating, row.flips) == (19, 11, 3)
    assert row.flip_rate == pytest.approx(3 / 29)
    assert (row.conforming_now, row.violating_now, row.rate, row.wilson_high) == (0, 10, 1.0, 1.0)
    assert row.wilson_low == pytest.approx(0.7411, abs=1e-4)
    assert row.shrunk_high == 1.0
    assert (row.standing, row.decision) == ("VIOLATES", "UNDECIDED")


def test_a_known_bug_explains_violations(spark: SparkSession) -> None:
    """Twice red among green is enough to be quarantined, but not for a test that met a known bug of Kafka."""
    rows = [row for bugs in (["KAFKA-1"], []) for row in _nightly("CVVC", test_id=str(bugs), known_bugs=bugs)]

    reported = {row.test_id: (row.violating, row.decision) for row in flakiness(_attempts(spark, rows)).collect()}

    assert reported == {"['KAFKA-1']": (2, "UNDECIDED"), "[]": (2, "QUARANTINE")}


def test_infra_nights_are_held_against_no_test(spark: SparkSession) -> None:
    """Red in one, a test is counted without that answer, and no cause is sought; lost records and skips stay."""
    histories = {"red": "CVC", "lost": "CSC", "skip": "CNC"}
    rows = [_nightly(reported, test_id=name) for name, reported in histories.items()]
    attempts = _attempts(spark, *rows, infra_night=FIRST + dt.timedelta(days=1))

    reported = marts.tests(excused(attempts), flakiness(attempts)).collect()

    counted = {
        row.test_id: (row.runs, row.conforming, row.violating, row.inconclusive, row.standing) for row in reported
    }
    assert counted["red"] == (3, 2, 0, 1, "CONFORMS")
    assert counted["lost"] == (3, 2, 1, 0, "SAFETY")
    assert counted["skip"] == (3, 2, 0, 0, "CONFORMS")
    assert [row.folder for row in attempts.where("is_aside").collect()] == ["red-1"]


def test_a_change_is_found_with_its_run_and_release(spark: SparkSession) -> None:
    """From the first run with the release that broke it, which follows the other: one series over both."""
    old, new = _nightly("C" * 20, kafka="3.8.0"), _nightly("V" * 10, first_night=20, kafka="3.9.1")

    found = change_points(_attempts(spark, old, new))

    assertSchemaEqual(found.to(FLAKINESS["change_points"]).schema, FLAKINESS["change_points"])
    row = found.collect()[0]
    assert (row.since_run, row.since_at, row.since_attempt) == ("t-20", FIRST + dt.timedelta(days=20), 21)
    assert (row.kafka, row.since_kafka) == ("3.9.1", "3.9.1")
    assert (row.rate_before, row.rate_after, row.runs_before, row.runs_after) == (0.0, 1.0, 20, 10)
    assert 0 < row.p_value < 1e-6


def test_a_change_must_be_surer_among_many_cells(spark: SparkSession) -> None:
    """What is believed of one cell alone is not among many that flake as ever, lost records included; what is plain is.

    A lost record is SAFETY all the same, and a test that broke is broken: what a cell amounts to is judged of it alone.
    """
    histories = {"faint": "C" * 20 + "VVV", "lost": "C" * 20 + "SSS", "plain": "C" * 20 + "V" * 10}
    rows = [row for name, reported in histories.items() for row in _nightly(reported, test_id=name)]
    flat = [row for place in range(200) for row in _nightly("CCCV" * 3, test_id=f"flat {place}")]

    def changed(*some: list[dict[str, object]]) -> list[str]:
        return sorted(row.test_id for row in change_points(_attempts(spark, *some)).collect())

    assert changed(rows) == ["faint", "lost", "plain"]
    assert changed(rows, flat) == ["plain"]
    reported = flakiness(_attempts(spark, rows, flat)).where("test_id NOT LIKE 'flat%'").collect()
    assert {row.test_id: row.standing for row in reported} == {
        "faint": "VIOLATES",
        "lost": "SAFETY",
        "plain": "VIOLATES",
    }


def test_runs_without_a_time_have_no_order(spark: SparkSession) -> None:
    """Green, then red for good, and without a time: counted, but without flips, a change or a decision."""
    known = _nightly("C" * 20 + "V" * 20)
    attempts = _attempts(spark, [{**row, "started_at": None} for row in known])
    some = _attempts(spark, known, [{**row, "started_at": None} for row in _nightly("CV" * 5, run_id="0")])

    (row,) = flakiness(attempts).collect()

    assert (row.conforming, row.violating, row.flips, row.flip_rate, row.clean_runs) == (20, 20, 0, None, 0)
    assert (row.standing, row.decision, row.newest_at) == ("FLAKY", "UNDECIDED", None)
    assert change_points(attempts).collect() == []
    (row,) = flakiness(some).collect()
    assert (row.conforming, row.violating, row.flips, row.standing) == (25, 25, 1, "VIOLATES")
    assert [each.since_run for each in change_points(some).collect()] == ["t-20"]


def test_releases_side_by_side_are_no_change(spark: SparkSession) -> None:
    """Green on one and red on the other every night: a difference between releases, and none over time."""
    rows = [*_nightly("C" * 30, kafka="3.9.1"), *_nightly("V" * 30, kafka="3.6.0", run_id=None)]

    assert change_points(_attempts(spark, rows)).collect() == []


def test_a_night_set_aside_makes_no_change(spark: SparkSession) -> None:
    """Red runs of an infra night, and one seed retried again and again, are no new state of things."""
    night = FIRST + dt.timedelta(days=20)
    one_night = [{**row, "started_at": night} for row in _nightly("VVVV", first_night=20)]
    retried = [{**row, "seed": "1"} for row in one_night]
    clean = _nightly("C" * 20)

    def found(red: list[dict[str, object]], infra_night: dt.datetime | None = None) -> int:
        return len(change_points(_attempts(spark, clean, red, infra_night=infra_night)).collect())

    assert found(one_night) == 1
    assert found(one_night, night) == 0
    assert found(retried) == 0


def test_a_change_names_the_commit_it_began_with(spark: SparkSession) -> None:
    """Builds of one version: the first run of the commit that broke it; null where runs do not record it."""
    old, new = _nightly("C" * 20, commit="1a2b"), _nightly("V" * 10, first_night=20, commit="3c4d")

    row = change_points(_attempts(spark, old, new)).collect()[0]

    assert (row.since_run, row.since_kafka, row.since_commit) == ("t-20", "3.9.1", "3c4d")


def test_a_requirement_has_its_own_flakes_and_changes(spark: SparkSession) -> None:
    """Of what one test says of two requirements only the broken one has changed; clean runs prove something of each."""
    rows = [
        *_nightly("C" * 20 + "V" * 10, requirement="broken"),
        *_nightly("C" * 30, requirement="kept"),
    ]
    judged = table(spark, "requirement_attempts", rows[::-1])

    reported = {each.requirement: each for each in flakiness(judged, REQUIREMENT_CELL).collect()}
    changed = change_points(judged, REQUIREMENT_CELL)

    assertSchemaEqual(changed.to(FLAKINESS["requirement_changes"]).schema, FLAKINESS["requirement_changes"])
    (change,) = changed.collect()
    assert (change.since_run, change.since_attempt, change.runs_before, change.runs_after) == ("t-20", 21, 20, 10)
    for row in (change, reported["broken"]):
        assert {name: row[name] for name in REQUIREMENT_CELL} == {**CELL, "requirement": "broken"}
    assert reported["broken"].newest_at == FIRST + dt.timedelta(days=29)
    assert (reported["broken"].clean_runs, reported["broken"].standing) == (0, "VIOLATES")
    assert reported["kept"].bound_after_clean == pytest.approx(1 - 0.05 ** (1 / 30))
    assert reported["kept"].shrunk_high < reported["broken"].shrunk_low


def test_tests_one_after_another_are_no_change_of_a_requirement(spark: SparkSession) -> None:
    """Ten green runs of one test and ten red ones of another, every night: nothing began."""
    each_night = [("green", "C", 0), ("red", "V", 1)]
    rows = [
        {**row, "started_at": FIRST + dt.timedelta(days=night, hours=hours), "seed": f"{night}-{place}"}
        for night in range(4)
        for test, letter, hours in each_night
        for place, row in enumerate(_nightly(letter * 10, test_id=test, requirement="R"))
    ]

    assert change_points(table(spark, "requirement_attempts", rows), REQUIREMENT_CELL).count() == 0
