"""Estimates of a report: right about chance, exact where they can be, and 95 % where they say so."""

import subprocess
import sys

import numpy as np
import pytest
import scipy

from pytest_kmigrate.analysis.statistics.alignment import aligned
from pytest_kmigrate.reports.summary.estimates import fisher, median_interval, rank_sum

LEAST_RUNS = 6
TRIES = 4_000


def test_of_few_runs_no_interval_is_claimed() -> None:
    """Five values leave out the median 6 times in 100: that is no 95 %, so there is a median and no more."""
    for runs in range(1, LEAST_RUNS):
        assert median_interval([float(each) for each in range(runs)]) == ((runs - 1) / 2, None, None)
    assert median_interval([5.0, 1.0, 4.0, 2.0, 3.0, 0.0]) == (2.5, 0.0, 5.0)


@pytest.mark.slow
def test_the_interval_of_a_median_holds_95_percent() -> None:
    """Whatever the number of runs, and of values as skewed as durations are."""
    chance = np.random.default_rng(1)
    true_median = float(np.exp(0.0))
    for runs in (LEAST_RUNS, 7, 12, 21, 60):
        drawn = np.exp(chance.normal(size=(TRIES, runs)))
        found = [median_interval(list(map(float, each))) for each in drawn]
        covered = sum(
            1 for _, low, high in found if low is not None and high is not None and low <= true_median <= high
        )
        assert covered / TRIES > 0.94


def test_one_stratum_is_fishers_test() -> None:
    """The p-values are those of SciPy's."""
    chance = np.random.default_rng(3)
    for _ in range(50):
        of_a, of_b = (int(each) for each in chance.integers(1, 60, 2))
        bad_a, bad_b = int(chance.integers(0, of_a + 1)), int(chance.integers(0, of_b + 1))
        expected = scipy.stats.fisher_exact([[bad_a, of_a - bad_a], [bad_b, of_b - bad_b]]).pvalue
        assert fisher((bad_a, of_a, bad_b, of_b)) == pytest.approx(expected)


def test_strata_add_up_and_are_not_mixed() -> None:
    """Two tests are surer than one; what one side alone ran, or what never failed, adds nothing."""
    assert fisher((0, 5, 3, 5), (0, 5, 3, 5)) < fisher((0, 5, 3, 5)) / 4
    assert fisher((0, 5, 3, 5), (0, 0, 9, 9), (0, 7, 0, 70)) == pytest.approx(fisher((0, 5, 3, 5)))
    assert fisher((5, 10, 50, 100), (0, 100, 0, 10)) == pytest.approx(1.0)


def test_one_stratum_is_a_rank_sum() -> None:
    """With ties and without, the p-values are those of SciPy's normal approximation."""
    chance = np.random.default_rng(5)
    for decimals in (0, 9):
        values, is_b = np.round(chance.normal(0, 2, 60), decimals), np.arange(60) % 3 == 0
        expected = scipy.stats.mannwhitneyu(values[is_b], values[~is_b], method="asymptotic").pvalue
        assert rank_sum(values, is_b, np.zeros(60, np.int64))[0] == pytest.approx(expected)


def test_ranks_tell_which_side_is_above() -> None:
    """By the ranks that it has too many; exactly 0 where both sides are alike in each stratum."""
    is_b, stratum = np.array([False, False, True, True] * 2), np.repeat([0, 1], 4)

    def surplus(*values: float) -> float:
        return rank_sum(np.array(values), is_b, stratum)[1]

    assert surplus(1, 2, 3, 4, 5, 6, 7, 8) == 4
    assert surplus(3, 4, 1, 2, 7, 8, 5, 6) == -4
    assert surplus(1, 2, 1, 2, 7, 9, 7, 9) == surplus(1, 2, 3, 4, 7, 8, 5, 6) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("tests", "runs"), [(1, 40), (12, 2), (8, 6)])
def test_equal_versions_differ_by_chance_only(tests: int, runs: int) -> None:
    """Of 2,000 pairs of equal versions at most 6 % have a p-value of 5 %, also where each test ran once on each."""
    chance = np.random.default_rng(9)
    test = np.repeat(np.arange(tests), runs)
    is_b = np.arange(len(test)) % 2 == 0
    scale = chance.lognormal(0, 2, tests)[test]
    drawn = (chance.lognormal(0, 0.3, len(test)) * scale for _ in range(2_000))
    p_values = [rank_sum(aligned(values, test), is_b, test)[0] for values in drawn]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.06


@pytest.mark.slow
def test_an_analysis_does_not_import_scipy_stats() -> None:
    """It takes as long as everything else that an analysis imports, before Spark is even started."""
    code = "import sys, pytest_kmigrate.reports.analyze; print('scipy.stats' in sys.modules)"
    reported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert reported.stdout.strip() == "False"
