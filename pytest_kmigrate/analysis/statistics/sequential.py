"""Wald's sequential probability ratio test: is a test steady enough to gate a release, or so unsteady that it must not?

The evidence is weighed after every run and a decision falls as soon as it suffices, which for most tests is long
before any fixed number of runs: 64 clean runs admit a test, and a fresh one with two early violations is quarantined.
"""

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats

ADMIT, QUARANTINE, UNDECIDED = "ADMIT", "QUARANTINE", "UNDECIDED"

STEADY_RATE = 0.005
"""A gate of 100 tests this steady is red for no reason in four nights of ten at worst: still bearable."""

FLAKY_RATE = 0.05
"""A test that fails once in twenty runs by chance makes people press "again" and stop reading."""

WRONG_DECISIONS = 0.05
"""How often a test of either rate may be decided wrongly: alpha and beta of the test."""

_IF_VIOLATED = float(np.log(FLAKY_RATE / STEADY_RATE))
_IF_CLEAN = float(np.log((1 - FLAKY_RATE) / (1 - STEADY_RATE)))
_ENOUGH = float(np.log((1 - WRONG_DECISIONS) / WRONG_DECISIONS))
_LOOKED_AT_ONCE = 512
"""Most decisions fall within this many runs, so no more of a long history is scanned for each."""


def decision(violated: Flags) -> str:
    """The newest decision that the runs, in order, led to.

    After each decision the weighing starts anew, so that a test which was admitted once can still be quarantined.
    """
    evidence = np.concatenate([[0.0], np.cumsum(np.where(violated, _IF_VIOLATED, _IF_CLEAN))])
    newest, start = UNDECIDED, 0
    while (end := _next_decision(evidence, start)) is not None:
        newest = QUARANTINE if evidence[end] > evidence[start] else ADMIT
        start = end
    return newest


def _next_decision(evidence: Floats, start: int) -> int | None:
    """After which run the evidence gathered since ``start`` suffices."""
    for first in range(start + 1, len(evidence), _LOOKED_AT_ONCE):
        suffices = np.abs(evidence[first : first + _LOOKED_AT_ONCE] - evidence[start]) >= _ENOUGH
        if suffices.any():
            return first + int(np.argmax(suffices))
    return None
