"""Association: exact p-values, corrected for many comparisons, intervals that cover, and the right cause first."""

import numpy as np
import pytest
import scipy

from pytest_kmigrate.analysis.statistics.association import (
    Counts,
    false_discovery_rates,
    lift,
    log_fisher,
    ranks,
    simplest_first,
)
from tests.unit.analysis.planted_causes import night, place_of_the_cause, q_values, suite

NIGHTS = 300


def _counts(*tables: tuple[int, int, int, int]) -> Counts:
    return Counts(*np.array(tables, dtype=np.int64).T)


def _random_counts(pairs: int, most_runs: int = 200) -> Counts:
    chance = np.random.default_rng(7)
    with_runs, without_runs = chance.integers(1, most_runs, pairs), chance.integers(1, most_runs, pairs)
    rates = chance.random((2, pairs))
    return Counts(
        chance.binomial(with_runs, rates[0]), with_runs, chance.binomial(without_runs, rates[1]), without_runs
    )


@pytest.mark.slow
def test_p_values_are_those_of_fisher() -> None:
    """All pairs at once give what SciPy's exact test gives for each, however small."""
    counts = _random_counts(200)
    columns = (counts.with_failures, counts.with_runs, counts.without_failures, counts.without_runs)
    expected = [
        scipy.stats.fisher_exact([[failed, runs - failed], [other, others - other]]).pvalue
        for failed, runs, other, others in zip(*columns, strict=True)
    ]
    assert np.exp(log_fisher(counts)) == pytest.approx(expected, rel=1e-9)


def test_sureness_does_not_end_where_numbers_do() -> None:
    """Two causes whose p-values are both too small for a number are still distinguished."""
    sure, surer = log_fisher(_counts((1_500, 1_500, 0, 1_500), (2_000, 2_000, 0, 2_000)))
    assert surer < sure < np.log(1e-308)


def test_large_blocks_are_summed_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few terms are allowed at once, the result is the same."""
    counts = _random_counts(50)
    at_once = log_fisher(counts)
    monkeypatch.setattr("pytest_kmigrate.analysis.statistics.association._MOST_TERMS", 60)
    assert log_fisher(counts) == pytest.approx(at_once, rel=1e-12)


@pytest.mark.slow
def test_many_comparisons_are_corrected_for() -> None:
    """The q-values are those of Benjamini and Hochberg."""
    p_values = np.random.default_rng(1).random(100) ** 3
    assert false_discovery_rates(p_values) == pytest.approx(scipy.stats.false_discovery_control(p_values))


def test_what_was_compared_without_being_told_is_corrected_for() -> None:
    """Pairs without a p-value count as those would that are certainly chance."""
    p_values = np.random.default_rng(1).random(100) ** 9
    of_all = false_discovery_rates(np.concatenate([p_values, np.ones(300)]))
    assert false_discovery_rates(p_values, compared=400) == pytest.approx(of_all[:100])


@pytest.mark.parametrize(
    ("runs", "rates"),
    [((100, 1_000), (0.2, 0.05)), ((50, 500), (0.05, 0.02)), ((300, 300), (0.5, 0.5)), ((20, 200), (0.3, 0.1))],
)
def test_lift_intervals_cover_the_truth(runs: tuple[int, int], rates: tuple[float, float]) -> None:
    """95 % intervals hold the true lift in 94 to 97.5 % of 20,000 experiments: never too narrow, hardly too wide."""
    chance = np.random.default_rng(11)
    failures = [chance.binomial(count, rate, 20_000) for count, rate in zip(runs, rates, strict=True)]
    counts = Counts(failures[0], np.full(20_000, runs[0]), failures[1], np.full(20_000, runs[1]))
    _, low, high = lift(counts, np.arange(20_000))
    assert 0.94 <= np.mean((low <= rates[0] / rates[1]) & (rates[0] / rates[1] <= high)) <= 0.975


def test_a_lift_points_where_the_rates_do() -> None:
    """Above 1 just where more failed with it than without, however few the runs, and 1 where equally many did."""
    counts = _random_counts(5_000, most_runs=12)
    with_it, without = counts.with_failures * counts.without_runs, counts.without_failures * counts.with_runs
    ratio, low, high = (each[with_it + without > 0] for each in lift(counts, np.arange(5_000)))
    rises = np.sign(with_it - without)[with_it + without > 0]
    assert np.array_equal(np.sign(ratio - 1), rises)
    assert np.all((low <= ratio) & (ratio <= high))
    assert {-1, 0, 1} == set(rises.tolist())


def test_a_lift_is_none_or_any_where_one_side_never_failed() -> None:
    """One run that passed is no lift of 13; what failed only with it has no upper end, but a lower one."""
    ratio, low, high = lift(_counts((0, 1, 1, 77), (5, 10, 0, 100), (2, 2, 2, 2)), np.arange(3))
    assert (ratio[0], low[0]) == (0, 0)
    assert high[0] > 1
    assert (ratio[1], high[1]) == (np.inf, np.inf)
    assert 1 < low[1] < 100
    assert low[2] < ratio[2] == 1 < high[2]


def test_ranks_count_per_failure_and_equal_ones_share() -> None:
    """Surest first within each failure; what is equally sure shares a place; what lowers the rate comes last."""
    counts = _counts((5, 10, 0, 100), (8, 10, 0, 100), (8, 10, 0, 100), (0, 100, 8, 10), (1, 10, 2, 20))
    assert ranks(np.array([0, 0, 0, 0, 1]), counts.rises(), log_fisher(counts)).tolist() == [2, 1, 1, 3, 1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runs", "base_rate", "effect"), [(300, 0.05, 5), (300, 0.1, 3), (300, 0.1, 5), (600, 0.02, 5), (600, 0.1, 3)]
)
def test_the_planted_cause_comes_first(runs: int, base_rate: float, effect: float) -> None:
    """Of 300 nights with one cause planted among 58 circumstances, it is ranked first in at least 90 %."""
    places = [place_of_the_cause(night(seed, runs=runs, base_rate=base_rate, lift=effect)) for seed in range(NIGHTS)]
    assert np.mean(np.array(places) == 1) >= 0.9


@pytest.mark.slow
def test_a_fault_in_one_phase_comes_first_with_more_runs() -> None:
    """What bites only in one of 35 pairs of fault and phase is seldom in force; 2,400 runs report it in 90 %."""
    nights = [night(seed, runs=2_400, base_rate=0.05, lift=6.0, is_pair=True) for seed in range(NIGHTS)]
    assert np.mean([place_of_the_cause(each) == 1 for each in nights]) >= 0.9


def test_a_combination_pays_for_how_many_there_are() -> None:
    """Slightly surer than the fault alone is not enough; what was in the same runs as the fault stays beside it."""
    failure, is_combined = np.zeros(4, np.int64), np.array([False, True, True, True])
    log_p = np.log([1e-4, 5e-5, 1e-4, 1e-6])
    expected = np.log([1e-4, 3 * 5e-5, 1e-4, 3 * 1e-6])
    assert simplest_first(failure, is_combined, log_p) == pytest.approx(expected)


@pytest.mark.slow
def test_a_bad_test_is_not_taken_for_its_fault_nor_for_the_cause() -> None:
    """A version makes many tests fail, and one fails by itself: the version is first in 90 %, its fault is no cause."""
    nights = [suite(seed, tests=12, runs_each=40, base_rate=0.05, lift=3.0) for seed in range(NIGHTS)]
    assert np.mean([place_of_the_cause(each) == 1 for each in nights]) >= 0.9
    assert np.mean([q_values(each)[each.alone] <= 0.05 for each in nights]) <= 0.05


def test_a_night_without_a_cause_claims_none() -> None:
    """At a q-value of 5 % at most 5 % of nights in which nothing was planted name a cause."""
    nights = [night(seed, runs=300, base_rate=0.05, lift=1.0) for seed in range(NIGHTS)]
    claimed = [q_values(each).min() <= 0.05 for each in nights]
    assert np.mean(claimed) <= 0.05
