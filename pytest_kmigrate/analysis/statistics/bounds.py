"""How sure a counted rate is, and what a number of clean runs proves."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers

Number = Any
"""Arithmetic is all that is asked of it; no protocol of Python's fits both arrays and columns."""

Z_95 = 1.959963984540054
"""The normal distribution's 97.5 % quantile: 95 % lie within."""

DOUBT = 0.05
"""A claim at 95 % confidence is wrong at most this often."""

CLAIMED_RATE = 0.01
"""What people want to say of a test before they trust it: at most one violation in a hundred runs."""


def interval_95(successes: npt.ArrayLike, trials: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Lower and upper end of the 95 % interval of a share: Wilson's score interval; NaN without a trial.

    Chosen over "rate plus or minus" because it stays honest where tests live: few runs, and rates near 0 or 1. If
    nothing (or everything) was found, one end is 0 (or 1) and the other is that of ``bound_after_clean``, so that an
    interval and the claim beside it are one number.
    """
    found, n = np.asarray(successes, np.float64), np.asarray(trials, np.float64)
    n = np.where(n > 0, n, np.nan)
    low, high = wilson_ends(found / n, n, np.sqrt)
    bound = bound_after_clean(n) + 0 * n
    low = np.where(found == 0, 0 * n, np.where(found == n, 1 - bound, low))
    return low, np.where(found == n, 1 + 0 * n, np.where(found == 0, bound, high))


def wilson_ends(rate: Number, n: Number, root: Callable[[Number], Number]) -> tuple[Number, Number]:
    """Wilson's formula, of whatever can be added, multiplied and divided: arrays, or columns of Spark."""
    square = Z_95**2
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = Z_95 / (1 + square / n) * root(rate * (1 - rate) / n + square / (4 * n * n))
    return middle - half, middle + half


def bound_after_clean(clean_runs: npt.ArrayLike) -> Floats:
    """The largest rate that ``clean_runs`` without a violation leave possible: 1 - 0.05^(1/n); 1 after none.

    Were the rate any higher, so many clean runs in a row would happen less than once in twenty times.
    """
    runs = np.asarray(clean_runs, np.float64)
    return np.where(runs > 0, -np.expm1(np.log(DOUBT) / np.maximum(runs, 1)), 1.0)


def more_clean_runs_needed(clean_runs: npt.ArrayLike) -> Integers:
    """How many more clean runs it takes to claim, at 95 %, a rate of at most ``CLAIMED_RATE``."""
    needed = int(np.ceil(np.log(DOUBT) / np.log1p(-CLAIMED_RATE)))
    return np.maximum(needed - np.asarray(clean_runs, np.int64), 0)
