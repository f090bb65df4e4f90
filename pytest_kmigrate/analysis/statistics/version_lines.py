"""Lines of versions: releases that followed each other are one series; those tested side by side are several."""

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Integers

_STRAY = 0.05
"""This share of a version's first and last runs may lie in another's time: somebody tried an old release again."""


def version_lines(version: Integers) -> list[Integers]:
    """The rows of each line, in order; ``version`` numbers the release of each row, rows being in the order of runs.

    Two releases that are tested every night would look like a test which changes all the time. One release after the
    other is what shows with which of them a change began.
    """
    if not len(version):
        return []
    times = {int(each): _main_time(np.flatnonzero(version == each)) for each in np.unique(version)}
    lines: list[list[int]] = []
    for newcomer in sorted(times, key=times.__getitem__):
        ended = [line for line in lines if times[line[-1]][1] < times[newcomer][0]]
        # It follows the release that ended last; only when none has ended it begins a line of its own.
        if ended:
            max(ended, key=lambda line: times[line[-1]][1]).append(newcomer)
        else:
            lines.append([newcomer])
    return [np.flatnonzero(np.isin(version, line)) for line in lines]


def _main_time(rows: Integers) -> tuple[int, int]:
    stray = int(len(rows) * _STRAY)
    return int(rows[stray]), int(rows[len(rows) - 1 - stray])
