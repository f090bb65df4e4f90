"""Changes of a level: a scan over ranks, for durations, which are skewed and have outliers no average survives.

Where one value makes up more than half of a series, as 0 does of most lags, ranks show little but whether a value is
another one; that is then scanned as a rate, whose p-value is exact.
"""

import numpy as np
from scipy.special import ndtr

from pytest_kmigrate.analysis.statistics import bernoulli_changes, change_points
from pytest_kmigrate.analysis.statistics.arrays import Floats
from pytest_kmigrate.analysis.statistics.change_points import (
    FALSE_ALARM_RATE,
    LEAST_RUNS,
    Change,
    Split,
    places,
)

_STEPS = 200


def level_changes(values: Floats, limit: float = FALSE_ALARM_RATE) -> list[Change]:
    """From which runs on the values lay higher or lower; ``limit`` is the p-value up to which that is believed."""
    return change_points.change_points(values, scan, p_value, limit)


def first_p_value(values: Floats) -> float | None:
    """That of the best place to part the values, believable or not; None where they cannot be parted."""
    return change_points.first_p_value(values, scan, p_value)


def rises(values: Floats, change: Change) -> bool:
    """Whether the values lie higher since a change: by their ranks, as the change is found; means follow outliers."""
    ranks = _ranks(values[change.began : change.ended])
    return bool(ranks[change.at - change.began :].mean() > ranks.mean())


def scan(values: Floats) -> Split | None:
    """The place where the ranks before and after differ most for their number; None for a series too short or equal.

    Of a series that is mostly one value: where the rate of others changes most; None where these are too few.
    """
    others = _others(values)
    if others is not None:
        return bernoulli_changes.scan(others)
    runs = len(values)
    before = places(runs)
    ranks = _ranks(values) - (runs + 1) / 2
    variance = float((ranks**2).sum()) / (runs - 1) if runs > 1 else 0.0
    if not len(before) or variance == 0:
        return None
    # The variance of a sum of some of these ranks, drawn without replacement.
    spread = np.sqrt(before * (runs - before) / runs * variance)
    difference = np.abs(np.cumsum(ranks)[before.astype(np.int64) - 1]) / spread
    best = int(np.argmax(difference))
    return Split(int(before[best]), float(difference[best]))


def p_value(values: Floats, split: Split) -> float:
    """How often values in any other order would differ as much somewhere, after Siegmund's tail approximation.

    The difference over the places is close to a standardised Brownian bridge that is looked at only at whole runs;
    for series of any length it is a little larger than what a simulation gives, and so never too sure: as long as no
    value makes up more than half of them. Ten of a hundred flat series of 200 runs, of which two are not 0, would have
    a p-value below 0.005.
    """
    others = _others(values)
    if others is not None:
        return bernoulli_changes.p_value(others, split)
    runs, height = len(values), split.statistic
    share = np.linspace(LEAST_RUNS / runs, 1 - LEAST_RUNS / runs, _STEPS)
    room = share * (1 - share)
    crossings = _overshoot(height / np.sqrt(runs * room)) / room
    width = share[1] - share[0]
    area = float((crossings[1:] + crossings[:-1]).sum() * width / 2)
    density = np.exp(-(height**2) / 2) / np.sqrt(2 * np.pi)
    at_the_edge = 2 * float(ndtr(-height))
    return float(min(1.0, height * density * area + at_the_edge))


def _others(values: Floats) -> Floats | None:
    """Which values lie on that side of the commonest one where more do; None where it makes up no more than half."""
    each, count = np.unique(values, return_counts=True)
    if not len(each) or 2 * count.max() <= len(values):
        return None
    commonest = each[np.argmax(count)]
    above, below = values > commonest, values < commonest
    return np.asarray(above if above.sum() >= below.sum() else below, np.float64)


def _overshoot(step: Floats) -> Floats:
    """By how much a walk of whole runs is less likely to get as high as a path without steps."""
    half = step / 2
    normal = np.exp(-(half**2) / 2) / np.sqrt(2 * np.pi)
    return np.asarray((ndtr(half) - 0.5) / half / (half * ndtr(half) + normal))


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs."""
    _, which, count = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(count)
    return np.asarray((last - (count - 1) / 2)[which])
