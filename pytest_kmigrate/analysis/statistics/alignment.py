"""Values of unlike strata made comparable: each as how many times the median of its own."""

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers

SMALLEST = 1e-3
"""Below this nothing is told apart (values are milliseconds or counts), and zero has no logarithm."""


def aligned(values: Floats, stratum: Integers) -> Floats:
    """The logarithm of each value over the median of its stratum."""
    logs = np.log(np.maximum(values, SMALLEST))
    level = np.empty(len(logs))
    for each in np.unique(stratum):
        mine = stratum == each
        level[mine] = logs[mine] - np.median(logs[mine])
    return level
