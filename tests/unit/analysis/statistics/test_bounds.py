"""Bounds: what a count proves."""

import numpy as np
import pytest

from pytest_kmigrate.analysis.statistics.bounds import bound_after_clean, interval_95, more_clean_runs_needed


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 10, 0.0, 0.25887),
        (10, 10, 0.74113, 1.0),
        (1, 1, 0.05, 1.0),
        (1, 10, 0.01788, 0.40415),
        (81, 263, 0.25534, 0.36620),
    ],
)
def test_interval_of_a_share(successes: int, trials: int, low: float, high: float) -> None:
    """Wilson's interval as published tables have it; at the edges 0 or 1 and the bound of clean runs."""
    found = interval_95([successes], [trials])

    assert [found[0][0], found[1][0]] == [pytest.approx(low, abs=2e-4), pytest.approx(high, abs=2e-4)]
    assert found[0][0] >= 0
    assert found[1][0] <= 1


def test_no_interval_of_nothing() -> None:
    """Without a trial there is no interval."""
    low, high = interval_95([0], [0])

    assert np.isnan([low[0], high[0]]).all()


def test_bound_after_clean_runs() -> None:
    """It is the rate at which so many clean runs happen once in twenty times; after none, anything is possible."""
    bound = bound_after_clean([0, 1, 30, 299])

    assert bound == pytest.approx([1.0, 0.95, 1 - 0.05 ** (1 / 30), 1 - 0.05 ** (1 / 299)])
    assert (1 - bound[2]) ** 30 == pytest.approx(0.05)


def test_runs_needed_for_a_claim() -> None:
    """One more run than needed adds nothing: 299 clean runs bound the rate by 1 %, 298 do not."""
    assert more_clean_runs_needed([0, 100, 298, 299, 5_000]).tolist() == [299, 199, 1, 0, 0]
    assert bound_after_clean(299) <= 0.01 < bound_after_clean(298)
