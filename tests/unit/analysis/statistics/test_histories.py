"""Histories: what the runs of a cell come to."""

import pytest

from pytest_kmigrate.analysis.statistics.histories import reported


def test_every_run_is_counted_where_it_belongs() -> None:
    """Answers, no answers, runs of infra nights, and retries, which are attempts like others."""
    counted = reported("CVvcISXXNC")

    assert (counted.runs, counted.conforming, counted.violating) == (10, 3, 3)
    assert (counted.inconclusive, counted.infra_runs, counted.safety_violations) == (1, 2, 1)
    assert (counted.flips, counted.clean_runs) == (4, 1)


@pytest.mark.parametrize(
    ("history", "flips", "clean_runs"),
    [("", 0, 0), ("III", 0, 0), ("CCCC", 0, 4), ("CVCV", 3, 0), ("VCIXC", 1, 2), ("CIV", 1, 0)],
)
def test_flips_and_clean_runs(history: str, flips: int, clean_runs: int) -> None:
    """What is no answer neither flips nor ends a row of clean runs."""
    assert (reported(history).flips, reported(history).clean_runs) == (flips, clean_runs)


@pytest.mark.parametrize(
    ("history", "standing"),
    [
        ("CCVC", "FLAKY"),
        ("CV", "FLAKY"),
        ("Vc", "FLAKY"),
        ("C" * 30 + "V" * 10, "VIOLATES"),
        ("V" * 10 + "C" * 30, "CONFORMS"),
        ("C" * 30 + "S", "SAFETY"),
        ("CVCVS", "SAFETY"),
        ("CCC", "CONFORMS"),
        ("VVV", "VIOLATES"),
        ("CIC", "INCONCLUSIVE"),
        ("CCCI", "CONFORMS"),
        ("CXXC", "CONFORMS"),
        ("I" * 9 + "V" * 30 + "C" * 30, "CONFORMS"),
        ("V" * 30 + "CCI" * 10, "INCONCLUSIVE"),
        ("II", "INCONCLUSIVE"),
        ("X", "INCONCLUSIVE"),
        ("N", "NOT_APPLICABLE"),
    ],
)
def test_standing(history: str, standing: str) -> None:
    """Broken or repaired once and for all is not flaky, red and then green by a retry is; SAFETY never is.

    Where a third of the runs since the last change gave no answer, the others prove nothing.
    """
    assert reported(history).standing == standing


@pytest.mark.parametrize(
    ("timeless", "history", "standing", "decision", "flips", "turns", "clean_runs"),
    [
        ("CV" * 30, "", "FLAKY", "UNDECIDED", 0, 0, 0),
        ("C" * 70, "", "CONFORMS", "ADMIT", 0, 0, 70),
        ("VVV", "", "VIOLATES", "UNDECIDED", 0, 0, 0),
        ("V", "C" * 70, "FLAKY", "UNDECIDED", 0, 69, 0),
        ("C" * 9, "C" * 20 + "V" * 10, "VIOLATES", "UNDECIDED", 1, 29, 0),
        ("CV", "C" * 70 + "VV", "VIOLATES", "UNDECIDED", 1, 71, 0),
        ("C" * 9, "CV" * 10 + "C" * 100, "CONFORMS", "ADMIT", 20, 119, 100),
        ("S", "CC", "SAFETY", "UNDECIDED", 0, 1, 0),
        ("I", "", "INCONCLUSIVE", "UNDECIDED", 0, 0, 0),
    ],
)
def test_runs_without_a_time_count_but_have_no_order(
    timeless: str, history: str, standing: str, decision: str, flips: int, turns: int, clean_runs: int
) -> None:
    """In any order the result is the same: no flip, and no decision of violations; an order that is known goes."""
    found = reported(history, timeless)

    assert found == reported(history, timeless[::-1])
    assert found.runs == len(timeless + history)
    assert (found.standing, found.decision) == (standing, decision)
    assert (found.flips, found.turns, found.clean_runs) == (flips, turns, clean_runs)


@pytest.mark.parametrize(
    ("history", "conforming_now", "violating_now", "standing", "decision"),
    [
        ("C" * 100 + "V" + "C" * 100 + "V" * 50, 0, 50, "VIOLATES", "UNDECIDED"),
        ("C" * 20 + "V" + "C" * 40 + "V" * 10, 0, 10, "VIOLATES", "UNDECIDED"),
        ("CV" * 10 + "C" * 1000, 1000, 0, "CONFORMS", "ADMIT"),
        ("VvVv" * 5 + "I" + "C" * 200, 200, 0, "CONFORMS", "ADMIT"),
        ("C" * 100 + "CV" * 20, 20, 20, "FLAKY", "QUARANTINE"),
        ("CCCCV" * 20, 80, 20, "FLAKY", "QUARANTINE"),
    ],
)
def test_what_flaked_once_is_what_it_is_since_its_last_change(
    history: str, conforming_now: int, violating_now: int, standing: str, decision: str
) -> None:
    """A flake of long ago makes neither a break nor a repair for good flaky; what flakes since its change does."""
    found = reported(history)

    assert (found.standing, found.decision) == (standing, decision)
    assert found.conforming_now == pytest.approx(conforming_now, abs=1)
    assert found.violating_now == pytest.approx(violating_now, abs=1)


@pytest.mark.parametrize(
    ("history", "standing", "decision"),
    [
        ("VCVCCC" + "V" * 10, "VIOLATES", "UNDECIDED"),
        ("CCVCVC" + "V" * 12, "VIOLATES", "UNDECIDED"),
        ("CCCCVCCVC" + "V" * 6, "VIOLATES", "UNDECIDED"),
        ("VCVCCC" + "VVV", "FLAKY", "QUARANTINE"),
        ("VCVCCC" + "V" * 10 + "C", "FLAKY", "QUARANTINE"),
        ("VCVCCC" + "V" * 3 + "v" * 7, "FLAKY", "QUARANTINE"),
    ],
)
def test_two_reds_in_six_nights_and_then_red_for_good_is_no_flake(history: str, standing: str, decision: str) -> None:
    """Too few runs for a change of the rate to be believed, but chance hardly ever ends in so many reds."""
    found = reported(history)
    assert (found.standing, found.decision) == (standing, decision)


def test_retries_do_not_quarantine() -> None:
    """A seed that violates three times in a row has violated once; three seeds that do are another thing."""
    assert reported("VvvC").decision == "UNDECIDED"
    assert reported("VVVC").decision == "QUARANTINE"


def test_only_what_flakes_is_quarantined() -> None:
    """A test that is always red, or broke for good, is not unsteady; one that was admitted is so no more."""
    assert reported("VV").decision == "UNDECIDED"
    assert reported("C" * 100 + "V" * 10).decision == "UNDECIDED"


def test_a_test_that_finds_a_known_bug_is_not_quarantined() -> None:
    """Its reds are violations, and it flakes, but how steady it is the other runs show."""
    found = reported("CKCKKC")
    assert (found.violating, found.flips, found.standing, found.decision) == (3, 4, "FLAKY", "UNDECIDED")
    assert reported("KC" * 64).decision == "ADMIT"
    assert reported("CKVKVC").decision == "QUARANTINE"


def test_safety_is_decided_by_people() -> None:
    """A test that found a lost record is not quarantined for being unsteady, nor admitted as steady."""
    assert reported("CVSVV").decision == "UNDECIDED"
    assert reported("S" + "C" * 500).decision == "UNDECIDED"
