"""Shrinkage: cells with few runs are seen in the light of their siblings."""

import numpy as np
import pytest
import scipy

from pytest_kmigrate.analysis.statistics.beta_binomial import Mixture
from pytest_kmigrate.analysis.statistics.shrinkage import ShrunkRates, shrunk_rates


def _shrunk(*cells: tuple[int, int, int]) -> ShrunkRates:
    return shrunk_rates(*np.array(cells, np.int64).T)


def test_a_cell_with_few_runs_is_drawn_to_its_siblings() -> None:
    """One violation in two runs is no rate of 50 % in a test that hardly ever violates, and is one in a flaky test."""
    steady = [(0, 1, 100)] * 6
    flaky = [(1, 50, 100)] * 6

    rates = _shrunk(*steady, *flaky, (0, 1, 2), (1, 1, 2))

    assert rates.rate[-2] < 0.05
    assert rates.rate[-1] == pytest.approx(0.5, abs=0.05)


def test_a_cell_with_many_runs_stays_where_it_is() -> None:
    """What a thousand runs of a cell say is not overruled by other cells."""
    rates = _shrunk(*[(0, 0, 100)] * 6, (0, 300, 1_000))

    assert rates.rate[-1] == pytest.approx(0.3, abs=0.01)


def test_the_interval_is_one_sided_at_the_edges() -> None:
    """Without a violation nothing speaks against a rate of 0, nor without a clean run against 1."""
    rates = _shrunk((0, 0, 20), (1, 20, 20), (2, 10, 20))

    assert rates.low.tolist()[0] == 0.0
    assert rates.high.tolist()[1] == 1.0
    assert 0 < rates.low[2] < rates.rate[2] < rates.high[2] < 1


def test_more_runs_make_the_interval_narrower() -> None:
    """Ten times the runs at the same rate say more."""
    few, many = _shrunk((0, 5, 50)), _shrunk((0, 50, 500))

    assert (many.high - many.low)[0] < (few.high - few.low)[0] / 2


def test_a_cell_without_an_answer_is_expected_to_be_like_its_siblings() -> None:
    """It has the rate of its test and a wide interval, not an error."""
    siblings = [(0, violating, 100) for violating in (10, 20, 30, 30, 40, 50)]

    rates = _shrunk(*siblings, (0, 0, 0))

    assert rates.rate[-1] == pytest.approx(0.3, abs=0.05)
    assert 0 < rates.low[-1] < 0.12
    assert 0.48 < rates.high[-1] < 1


def test_no_cells_no_rates() -> None:
    """An analysis without a run has no rates, and no error either."""
    assert len(shrunk_rates(*(np.zeros(0, np.int64) for _ in range(3))).rate) == 0


def test_quantiles_of_a_mixture_cut_off_what_they_should() -> None:
    """Also where the parts lie far from each other and no single Beta distribution is near."""
    weight, a, b = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[2.0, 1.0], [1.5, 300.0]]), np.full((2, 2), 90.0)
    mixture = Mixture(weight, a, b)

    for share in (0.025, 0.5, 0.975):
        found = mixture.quantile(np.full(2, share))
        assert found[0] == pytest.approx(scipy.stats.beta.ppf(share, 2, 90), rel=1e-3)
        assert (weight[1] * scipy.stats.beta.cdf(found[1], a[1], b[1])).sum() == pytest.approx(share, abs=1e-5)
