"""Changes of a rate: the likelihood-ratio scan over a series of yes and no, with its exact p-value."""

import numpy as np
from scipy.special import gammaln, xlogy

from pytest_kmigrate.analysis.statistics import change_points
from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers
from pytest_kmigrate.analysis.statistics.change_points import (
    FALSE_ALARM_RATE,
    LEAST_RUNS,
    Change,
    Split,
    places,
)

_HALVINGS = 30
_ROUNDING = 1e-9


def rate_changes(violated: Flags, limit: float = FALSE_ALARM_RATE) -> list[Change]:
    """From which runs on the rate of violations was another one; ``limit`` is the p-value up to which that is believed.

    It can be no more than what a series alone is allowed.
    """
    return change_points.change_points(violated, scan, p_value, limit)


def first_p_value(violated: Flags) -> float | None:
    """That of the best place to part the runs, 1 where that is not believable; None where they cannot be parted."""
    return change_points.first_p_value(violated, scan, p_value)


def scan(violated: Floats) -> Split | None:
    """The place where two rates explain the series best; None where one of the answers was hardly ever given.

    One violation after ten thousand clean runs is a rare thing, and will look like a change on the day it happens,
    in every test that ever violates.
    """
    runs, found = len(violated), float(violated.sum())
    before = places(runs)
    if not len(before) or min(found, runs - found) < LEAST_RUNS:
        return None
    ratio = log_likelihood_ratio(before, np.cumsum(violated)[before.astype(np.int64) - 1], runs, found)
    best = int(np.argmax(ratio))
    return Split(int(before[best]), float(ratio[best]))


def log_likelihood_ratio(before: Floats, found_before: Floats, runs: float, found: float) -> Floats:
    """How much better two rates, parted after the first ``before`` runs, explain what was found than one does."""
    after, found_after = runs - before, found - found_before

    def explained(violations: Floats, n: Floats) -> Floats:
        return np.asarray(xlogy(violations, violations / n) + xlogy(n - violations, 1 - violations / n))

    one = explained(np.asarray(found), np.asarray(runs))
    return explained(found_before, before) + explained(found_after, after) - one


def p_value(violated: Floats, split: Split) -> float:
    """How often the same answers in any other order would be parted as well as this, somewhere. Exact.

    The number of violations among the first t runs walks, over all orders, like a draw without replacement. The walk
    is followed run by run, and what steps out to where the ratio is as good is counted.
    """
    runs, found = len(violated), int(violated.sum())
    if _chance_at(split, runs, found) > FALSE_ALARM_RATE:
        # All places together are likelier than this one, so it cannot be believed; the walk is spared.
        return 1.0
    low, high = _inside(runs, found, split.statistic)
    chance, least, outside = np.ones(1), 0, 0.0
    for drawn in range(runs - LEAST_RUNS):
        hit = chance * (found - np.arange(least, least + len(chance))) / (runs - drawn)
        chance = np.append(chance - hit, 0.0)
        chance[1:] += hit
        first = max(int(low[drawn + 1]) - least, 0)
        end = max(int(high[drawn + 1]) + 1 - least, first)
        outside += float(chance[:first].sum() + chance[end:].sum())
        chance, least = chance[first:end], least + first
    # A step that cannot be taken leaves a rounding error of either sign.
    return float(np.clip(outside, 0.0, 1.0))


def _inside(runs: int, found: int, statistic: float) -> tuple[Integers, Integers]:
    """After each number of runs: the least and the most violations for which the ratio stays below ``statistic``.

    Too near the ends of the series nothing is parted, so there everything is inside.
    """
    before = np.arange(runs + 1, dtype=np.float64)
    least, most = np.maximum(0, found - (runs - before)), np.minimum(before, found)
    inner = slice(LEAST_RUNS, runs - LEAST_RUNS + 1)
    low, high = least.copy(), most.copy()
    low[inner] = np.ceil(_last_inside(before[inner], least[inner], runs, found, statistic))
    high[inner] = np.floor(_last_inside(before[inner], most[inner], runs, found, statistic))
    return low.astype(np.int64), high.astype(np.int64)


def _last_inside(before: Floats, outermost: Floats, runs: int, found: int, statistic: float) -> Floats:
    """Between the even share, where the ratio is 0, and ``outermost``: the last number below ``statistic``."""
    # What is as good as what was seen is outside, also when it comes out as good but for rounding.
    limit = statistic - _ROUNDING
    inside, outside = before * found / runs, outermost.copy()
    is_all_inside = log_likelihood_ratio(before, outermost, runs, found) < limit
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        is_in = log_likelihood_ratio(before, middle, runs, found) < limit
        inside, outside = np.where(is_in, middle, inside), np.where(is_in, outside, middle)
    return np.where(is_all_inside, outermost, inside)


def _chance_at(split: Split, runs: int, found: int) -> float:
    """The chance to be parted as well just where the series was: two tails of the hypergeometric law."""
    level = np.arange(max(0, found - (runs - split.at)), min(split.at, found) + 1)
    ratio = log_likelihood_ratio(np.full(len(level), float(split.at)), level.astype(np.float64), runs, found)
    tails, at = level[ratio >= split.statistic - _ROUNDING], split.at
    log_chance = _log_choose(at, tails) + _log_choose(runs - at, found - tails) - _log_choose(runs, np.asarray(found))
    return float(np.exp(log_chance).sum())


def _log_choose(n: int, k: Integers) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
