"""Values of unlike strata made comparable: each as how many times the median of its own."""

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers
from pytest_kmigrate.analysis.statistics.version_lines import version_lines

SMALLEST = 1e-3
"""Below this nothing is distinguished (values are milliseconds or counts), and zero has no logarithm."""


def aligned(values: Floats, stratum: Integers) -> Floats:
    """The logarithm of each value over the median of its stratum."""
    logs = np.log(np.maximum(values, SMALLEST))
    level = np.empty(len(logs))
    for each in np.unique(stratum):
        mine = stratum == each
        level[mine] = logs[mine] - np.median(logs[mine])
    return level


def comparable(values: Floats, stratum: Integers) -> Floats:
    """The values as they would be if the median of every stratum were that of all: in their own unit, to be shown."""
    if len(np.unique(stratum)) <= 1:
        return values
    return np.asarray(np.exp(aligned(values, stratum)) * max(float(np.median(values)), SMALLEST))


def lines(values: Floats, stratum: Integers, release: Integers) -> list[tuple[Integers, Floats]]:
    """The rows of each line of releases, in order, and their values made comparable: what is judged, and is shown.

    Among several strata one with a single value is left out: it would be the median of all, whatever it was.
    """
    return [(rows, comparable(values[rows], stratum[rows])) for rows in _compared(stratum, release) if len(rows)]


def _compared(stratum: Integers, release: Integers) -> list[Integers]:
    """The rows of each line of releases that can be compared with others of their stratum, or are of the only one."""
    found = []
    for rows in version_lines(release):
        _, which, count = np.unique(stratum[rows], return_inverse=True, return_counts=True)
        found.append(rows if len(count) == 1 else rows[count[which] > 1])
    return found
