"""Values of unlike tests, made comparable: what cannot be compared with itself says nothing of a change."""

import numpy as np

from pytest_kmigrate.analysis.statistics.alignment import lines
from pytest_kmigrate.analysis.statistics.rank_changes import first_p_value

ONE_RELEASE = np.zeros(50, np.int64)


def test_what_came_once_is_left_out() -> None:
    """Scaled by its own median it would lie on that of all; thirty such before ten pairs would look like a change."""
    alone, pairs = np.arange(30), 30 + np.arange(20) // 2
    values = np.random.default_rng(1).uniform(1, 100, 50)
    ((rows, level),) = lines(values, np.concatenate([alone, pairs]), ONE_RELEASE)
    assert rows.tolist() == list(range(30, 50))
    p_value = first_p_value(level)
    assert p_value is not None
    assert p_value > 0.05


def test_a_single_stratum_is_taken_as_it_is() -> None:
    """One test alone needs no scaling; of tests that all ran once nothing is left."""
    values = np.array([3.0])
    ((rows, level),) = lines(values, np.array([7]), ONE_RELEASE[:1])
    assert (rows.tolist(), level.tolist()) == ([0], [3.0])
    assert lines(np.array([1.0, 2.0]), np.array([1, 2]), ONE_RELEASE[:2]) == []
