"""Estimates that a report makes itself, from counts and values that the tables hold. Pure functions."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom, fisher_exact, mannwhitneyu

from pytest_kmigrate.analysis.statistics.association import false_discovery_rates
from pytest_kmigrate.analysis.statistics.bounds import wilson_95
from pytest_kmigrate.reports.rows import Row, number

SURE = 0.05
"""The share of false alarms put up with among what is called a change, or a cause."""


def wilson(successes: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson's); anything, when of none."""
    if of == 0:
        return 0.0, 1.0
    low, high = wilson_95(successes, of)
    return float(low), float(high)


def fisher(bad_a: int, of_a: int, bad_b: int, of_b: int) -> float:
    """How likely two shares differ this much by chance (Fisher's exact test, two-sided)."""
    return float(fisher_exact([[bad_a, of_a - bad_a], [bad_b, of_b - bad_b]]).pvalue)


def rank_sum(a: Sequence[float], b: Sequence[float]) -> float:
    """How likely values of one kind would differ this much in size by chance (Mann-Whitney, two-sided)."""
    if not a or not b or len({*a, *b}) == 1:
        return 1.0
    return float(mannwhitneyu(a, b).pvalue)


def corrected(p_values: Sequence[float]) -> list[float]:
    """The same p-values as q-values: the share of false alarms if this one is called one."""
    return [float(q) for q in false_discovery_rates(np.asarray(p_values, np.float64))]


def is_sure(row: Row) -> bool:
    """Whether a row may be called a change or a cause."""
    q_value = number(row["q_value"])
    return q_value is not None and q_value <= SURE


def median_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The median and its 95 % interval, from the order of the values alone; of fewer than 6 values there is none."""
    ordered = sorted(values)
    # As many values are below the true median as there are heads in so many tosses of a coin.
    left_out = int(binom.ppf(0.025, len(ordered), 0.5)) - 1
    middle = float(np.median(ordered))
    return (middle, None, None) if left_out < 0 else (middle, ordered[left_out], ordered[-1 - left_out])
