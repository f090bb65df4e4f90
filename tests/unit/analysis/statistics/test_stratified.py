"""Association over strata: exact, pooled as it is known to be, and between strata where none was run both ways."""

import math

import numpy as np
import pytest
import scipy

from pytest_kmigrate.analysis.statistics.association import Counts, lift, log_fisher
from pytest_kmigrate.analysis.statistics.stratified import judge, log_fisher_over

NONE = np.zeros(0, np.int64)


def _counts(*tables: tuple[int, int, int, int]) -> Counts:
    return Counts(*np.array(tables, dtype=np.int64).reshape(-1, 4).T)


def _one(*tables: tuple[int, int, int, int]) -> tuple[Counts, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return _counts(*tables), np.zeros(len(tables), np.int64)


def test_p_values_of_strata_are_exact() -> None:
    """Those of all sums of the hypergeometric laws of the strata, counted out."""
    chance = np.random.default_rng(3)
    for _ in range(60):
        runs = chance.integers(1, 25, (int(chance.integers(1, 6)), 2))
        tables = [(int(chance.integers(0, a + 1)), int(a), int(chance.integers(0, b + 1)), int(b)) for a, b in runs]
        likelihood = np.ones(1)
        for failed_a, of_a, failed_b, of_b in tables:
            law = scipy.stats.hypergeom(of_a + of_b, of_a, failed_a + failed_b)
            likelihood = np.convolve(likelihood, law.pmf(np.arange(of_a + 1)))
        seen = likelihood[sum(each[0] for each in tables)]
        expected = likelihood[likelihood <= seen * (1 + 1e-7)].sum()
        assert np.exp(log_fisher_over(*_one(*tables))[0]) == pytest.approx(expected, rel=1e-6)


def test_sureness_of_strata_does_not_end_where_numbers_do() -> None:
    """Three strata are three times as sure as one, far below the smallest number."""
    strata = [(1_500, 1_500, 0, 1_500)]
    once, thrice = log_fisher(_counts(*strata))[0], log_fisher_over(*_one(*strata * 3))[0]
    assert thrice < 2.9 * once < np.log(1e-308)


def test_the_pooled_lift_is_that_of_mantel_and_haenszel() -> None:
    """With the interval of Greenland and Robins but for the half failure: computed by hand from their papers."""
    ratio, low, high = lift(*_one((12, 40, 5, 60), (30, 100, 9, 80)))
    expected = (12 * 60 / 100 + 30 * 80 / 180) / (5 * 40 / 100 + 9 * 100 / 180)
    variance = ((17 * 40 * 60 - 12 * 5 * 100) / 100**2 + (39 * 100 * 80 - 30 * 9 * 180) / 180**2) / (
        (12 * 60 / 100 + 30 * 80 / 180) * (5 * 40 / 100 + 9 * 100 / 180)
    )
    assert ratio[0] == pytest.approx(expected)
    assert math.log(high[0] / low[0]) / 2 == pytest.approx(1.96 * math.sqrt(variance), rel=0.03)


@pytest.mark.parametrize("rates", [(0.05, 0.3), (0.02, 0.1, 0.4), (0.01,) * 8])
def test_pooled_intervals_cover_the_truth(rates: tuple[float, ...]) -> None:
    """95 % intervals hold a lift of 2 that strata share in 94 to 98 % of 10,000 experiments."""
    chance = np.random.default_rng(13)
    base = np.tile(rates, 10_000)
    runs = np.full(len(base), 60)
    strata = Counts(chance.binomial(runs, 2 * base), runs, chance.binomial(2 * runs, base), 2 * runs)
    _, low, high = lift(strata, np.repeat(np.arange(10_000), len(rates)))
    assert 0.94 <= np.mean((low <= 2) & (high >= 2)) <= 0.98


def test_strata_that_tell_are_compared_and_only_they() -> None:
    """A test that always fails and always has it is no part of it: in the other two it makes no difference."""
    strata, pair = _one((2, 20, 2, 20), (1, 10, 3, 30))
    found = judge(strata, pair, _counts((53, 80, 5, 50)), _counts((1, 1, 0, 0)))
    assert (found.lift[0], found.log_p[0]) == (pytest.approx(1), pytest.approx(0))
    assert [int(each[0]) for each in (found.runs.with_failures, found.runs.with_runs, found.strata)] == [3, 30, 2]


def test_one_bad_test_has_failed_once_however_often_it_ran() -> None:
    """Where no test was run both ways tests are counted: one of one beside none of nine is 1 in 10, and no cause."""
    found = judge(_counts(), NONE, _counts((50, 60, 0, 900), (50, 60, 0, 900)), _counts((1, 1, 0, 9), (5, 5, 0, 5)))
    assert np.exp(found.log_p) == pytest.approx([1 / 10, 2 / 252])
    assert (found.strata.tolist(), found.runs.with_runs.tolist()) == ([0, 0], [60, 60])
    assert np.isinf(found.lift).all()


def test_runs_and_tests_that_disagree_are_sure_of_nothing() -> None:
    """More of its runs failed, but fewer of its tests did: neither is a cause of the other's direction."""
    found = judge(_counts(), NONE, _counts((50, 100, 9, 90)), _counts((1, 9, 9, 9)))
    assert (found.lift[0] > 1, found.log_p[0]) == (True, 0)
