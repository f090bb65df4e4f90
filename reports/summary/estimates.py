"""Estimates that a report makes itself, from counts and values that the tables hold. Pure functions.

Of ``scipy.special`` alone: to import ``scipy.stats`` takes as long as all else that an analysis imports.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr, ndtr

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers
from pytest_kmigrate.analysis.statistics.association import Counts, false_discovery_rates
from pytest_kmigrate.analysis.statistics.bounds import interval_95
from pytest_kmigrate.analysis.statistics.stratified import log_fisher_over
from pytest_kmigrate.reports.summary.rows import Row, listed, number

SURE = 0.05
"""The share of false alarms put up with among what is called a change, or a cause."""


def interval(successes: int, of: int) -> tuple[float, float]:
    """The 95 % interval of a share (``interval_95``); from 0 to 1 without a trial."""
    if of == 0:
        return 0.0, 1.0
    low, high = interval_95(successes, of)
    return float(low), float(high)


def fisher(*strata: tuple[int, int, int, int]) -> float:
    """How likely two sides differ this much in failures by chance (exact, two-sided): Fisher's test, over strata.

    A stratum is what failed of how many on side a, then on side b. Each is only compared with itself.
    """
    log_p = log_fisher_over(Counts(*np.array(strata, np.int64).T), np.zeros(len(strata), np.int64))
    return float(np.exp(log_p[0]))


def rank_sum(values: Floats, is_b: Flags, stratum: Integers) -> tuple[float, float]:
    """How likely the values of two sides differ this much in size by chance, two-sided; by how many ranks b is above.

    The latter is the sum of its ranks less what would fall to it were both sides alike: 0 if they are, below 0 if its
    values are the smaller ones.

    Values are already aligned; to which side they belong is exchanged only within each stratum. Were it exchanged over
    all, the few values of a stratum, which lie around their own median, would count for more than they say.
    """
    _, place, ties = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(ties) - (ties - 1) / 2)[place]
    surplus = variance = 0.0
    for each in np.unique(stratum):
        mine = rank[stratum == each]
        on_b = is_b[stratum == each]
        # Of halves of whole numbers, so that sides which are alike come to exactly 0.
        surplus += (len(mine) * mine[on_b].sum() - on_b.sum() * mine.sum()) / len(mine)
        variance += on_b.sum() * (~on_b).sum() * mine.var() / max(len(mine) - 1, 1)
    # Half a rank is taken off, as sums of ranks are whole and the normal distribution is not.
    p_value = float(2 * ndtr(-max(abs(surplus) - 0.5, 0.0) / math.sqrt(variance))) if variance else 1.0
    return p_value, float(surplus)


def corrected(p_values: Sequence[float]) -> list[float]:
    """The same p-values as q-values: the share of false alarms if this one is called one."""
    return [float(q) for q in false_discovery_rates(np.asarray(p_values, np.float64))]


def is_sure(row: Row) -> bool:
    """Whether a row may be called a change or a cause."""
    q_value = number(row["q_value"])
    return q_value is not None and q_value <= SURE


def is_raising(row: Row) -> bool:
    """Whether a failure comes more often with this than without."""
    return (number(row["lift"]) or 0.0) > 1


def telling(rows: Sequence[Row]) -> list[Row]:
    """What goes with more of a failure, once, without what prevents it.

    Of those that were there in the very same runs the first stands for all, and names the others.
    """
    named: set[tuple[object, ...]] = set()
    reported = []
    for row in rows:
        if not is_raising(row) or (row["failure"], f"{row['factor']} {row['level']}") in named:
            continue
        reported.append(row)
        named |= {(row["failure"], other) for other in listed(row.get("inseparable"))}
    return reported


def median_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The median and its 95 % interval, from the order of the values alone; of fewer than 6 values there is none."""
    ordered = sorted(values)
    # As many values are below the true median as there are heads in so many tosses of a coin.
    left_out = int(np.searchsorted(bdtr(np.arange(len(ordered) + 1), len(ordered), 0.5), 0.025)) - 1
    middle = float(np.median(ordered))
    return (middle, None, None) if left_out < 0 else (middle, ordered[left_out], ordered[-1 - left_out])
