"""Change points: from which run on is a test another one? Found by a scan, believed by its p-value, one by one.

A scan looks at every place of a series and takes the best. What it finds is always something, so its p-value is that
of the best of all places, not of one. A series is parted where a change is believed, and both parts are scanned again.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats
from pytest_kmigrate.analysis.statistics.association import false_discovery_rates

FALSE_ALARM_RATE = 0.005
"""Of series in which nothing changed at most this share is reported: half of the one in a hundred that is promised,
for runs are never quite as independent as the law supposes."""

FALSE_DISCOVERY_RATE = 0.05
"""Of the series of one report that are said to have changed at most this share has not."""

LEAST_RUNS = 3
"""Fewer runs than this are no new state of things, however unlikely they are."""

MOST_CHANGES = 5
"""A series with more changes than this does not change; it is unsteady, which the flip rate says better."""


@dataclass(frozen=True)
class Split:
    """The best place to part a series: ``at`` is the first run of what is new."""

    at: int
    statistic: float


@dataclass(frozen=True)
class Change:
    """A believed change: the runs from ``began`` to ``at`` were one thing, those from ``at`` to ``ended`` another."""

    began: int
    at: int
    ended: int
    p_value: float


Scan = Callable[[Floats], Split | None]
Chance = Callable[[Floats, Split], float]


def believable(p_values: Floats) -> float:
    """Up to which p-value changes are believed, given that of the first change of each of many series.

    Benjamini and Hochberg's limit, which also holds within the series that have changed (Benjamini and Bogomolov), and
    never more than what a series alone is allowed. Of nothing but flat series it is 0.
    """
    found = int(np.count_nonzero(false_discovery_rates(p_values) <= FALSE_DISCOVERY_RATE))
    return min(FALSE_ALARM_RATE, FALSE_DISCOVERY_RATE * found / max(len(p_values), 1))


def change_points(series: Floats | Flags, scan: Scan, chance: Chance, limit: float = FALSE_ALARM_RATE) -> list[Change]:
    """The changes of ``series``, in order: parted by ``scan`` as long as ``chance`` is no more than ``limit``."""
    values = np.asarray(series, np.float64)
    found: dict[int, float] = {}
    parts = [(0, len(values))]
    while parts and len(found) < MOST_CHANGES:
        # The longest part first: were there too many changes, those between long times are worth most.
        began, ended = parts.pop(int(np.argmax([end - start for start, end in parts])))
        split = scan(values[began:ended])
        if split is None:
            continue
        p_value = chance(values[began:ended], split)
        if p_value <= limit:
            found[began + split.at] = p_value
            parts += [(began, began + split.at), (began + split.at, ended)]
    edges = [0, *sorted(found), len(values)]
    return [Change(a, b, c, found[b]) for a, b, c in zip(edges, edges[1:], edges[2:], strict=False)]


def first_p_value(series: Floats | Flags, scan: Scan, chance: Chance) -> float | None:
    """That of the best place to part the series, believable or not; None where it cannot be parted."""
    values = np.asarray(series, np.float64)
    split = scan(values)
    return None if split is None else chance(values, split)


def places(runs: int) -> Floats:
    """After how many runs a series of ``runs`` may be parted."""
    return np.arange(LEAST_RUNS, runs - LEAST_RUNS + 1, dtype=np.float64)
