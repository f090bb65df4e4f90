"""Estimates of a report: an interval that says 95 % covers what it is about so often."""

import numpy as np

from pytest_kmigrate.reports.estimates import median_interval

LEAST_RUNS = 6
TRIES = 4_000


def test_of_few_runs_no_interval_is_claimed() -> None:
    """Five values leave out the median 6 times in 100: that is no 95 %, so there is a median and no more."""
    for runs in range(1, LEAST_RUNS):
        assert median_interval([float(each) for each in range(runs)]) == ((runs - 1) / 2, None, None)
    assert median_interval([5.0, 1.0, 4.0, 2.0, 3.0, 0.0]) == (2.5, 0.0, 5.0)


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
