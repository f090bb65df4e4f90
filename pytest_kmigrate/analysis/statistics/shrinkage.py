"""Rates of cells that borrow strength from each other: hierarchical Beta-binomial shrinkage.

A cell with three runs says little by itself, but its test was run in other cells too, and other tests have taught
what tests are like. The rates of a test's cells are taken to come from one Beta distribution, whose mean and
concentration are unknown and weighed over a grid (so that not knowing them widens the intervals, where a single best
fit would feign certainty); how common each mean and concentration is among tests is fitted over all tests, by
marginal likelihood.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers
from pytest_kmigrate.analysis.statistics.beta_binomial import (
    PRIORS_CONCENTRATION,
    PRIORS_MEAN,
    Mixture,
    log_likelihoods,
)

_ROUNDS = 60
_PSEUDO_TESTS = 10.0
"""The fit starts as if this many tests were known, with means spread by Jeffreys' rule; it keeps a handful of tests
from deciding what tests are like."""
_SMOOTHING = 0.5
"""Priors this near (in log odds of the mean, and in log concentration) are about as common as each other. Without it
the likeliest fit is a few spikes, and the intervals are those of somebody who believes in them."""
_KEPT_PRIORS = 20
"""Of the priors those that matter for a test; the others have hardly any of its weight together."""
_ALWAYS_IN_SIGHT = 0.1
"""However few the runs of a test, one violation in ten is something it could have."""
_BOTH_TAILS, _ONE_TAIL = 0.025, 0.05


@dataclass(frozen=True)
class ShrunkRates:
    """Expected rate and 95 % credible interval per cell."""

    rate: Floats
    low: Floats
    high: Floats


def shrunk_rates(test: Integers, violations: Integers, runs: Integers) -> ShrunkRates:
    """The rate of every cell in the light of all cells of its ``test`` (a number from 0), and of all tests.

    In a cell without a violation the interval begins at 0, and in one without a clean run it ends at 1: its 5 % lie on
    one side.
    """
    if not len(test):
        return ShrunkRates(*(np.zeros(0) for _ in range(3)))
    rows, cell = np.unique(np.stack([test, violations, runs]), axis=1, return_inverse=True)
    cells_alike = np.bincount(cell.ravel())
    tests, found, n = rows[0], rows[1].astype(np.float64), rows[2].astype(np.float64)
    in_sight = _in_sight(np.bincount(tests, n * cells_alike).astype(np.float64))
    weight = _weights(tests, log_likelihoods(found, n) * cells_alike[:, None], in_sight)[tests]
    posterior = _posterior(weight, found, n)
    none, all_of_them = (found == 0) & (n > 0), (found == n) & (n > 0)
    low = posterior.quantile(np.where(all_of_them, _ONE_TAIL, _BOTH_TAILS))
    high = posterior.quantile(1 - np.where(none, _ONE_TAIL, _BOTH_TAILS))
    back = cell.ravel()
    return ShrunkRates(posterior.mean()[back], np.where(none, 0, low)[back], np.where(all_of_them, 1, high)[back])


def _in_sight(runs: Floats) -> Flags:
    """Which priors the ``runs`` of each test can distinguish: tests x priors.

    A mean so small that no violation is expected in all runs of a test explains clean runs as well as any smaller
    one. Nothing would then stop the fit from preferring the smallest, and it would promise what was never seen.
    """
    smallest = np.minimum(1 / np.maximum(runs, 1), _ALWAYS_IN_SIGHT)
    in_sight: Flags = smallest[:, None] <= PRIORS_MEAN
    return in_sight


def _weights(test: Integers, likelihoods: Floats, in_sight: Flags) -> Floats:
    """How likely each prior is for each test: tests x priors."""
    explained = np.zeros(in_sight.shape)
    np.add.at(explained, test, likelihoods)
    explained = np.where(in_sight, explained, -np.inf)
    explained = np.exp(explained - explained.max(axis=1, keepdims=True))
    smooth, jeffreys = _smoothing(), np.sqrt(PRIORS_MEAN * (1 - PRIORS_MEAN))
    common = presumed = jeffreys / jeffreys.sum()
    for _ in range(_ROUNDS):
        weight = _shares(explained * common)
        common = smooth @ ((weight.sum(axis=0) + _PSEUDO_TESTS * presumed) / (len(weight) + _PSEUDO_TESTS))
    return _shares(explained * common)


def _shares(weight: Floats) -> Floats:
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _smoothing() -> Floats:
    """What of the weight of each prior (columns) goes to which (rows)."""
    places = np.stack([logit(PRIORS_MEAN), np.log(PRIORS_CONCENTRATION)])
    apart = ((places[:, :, None] - places[:, None, :]) ** 2).sum(axis=0)
    near = np.exp(-apart / (2 * _SMOOTHING**2))
    return np.asarray(near / near.sum(axis=0))


def _posterior(weight: Floats, found: Floats, n: Floats) -> Mixture:
    """What is known of the rate of each row, after its own runs too."""
    kept = np.argpartition(-weight, _KEPT_PRIORS, axis=1)[:, :_KEPT_PRIORS]
    chosen = np.take_along_axis(weight, kept, axis=1)
    mean, concentration = PRIORS_MEAN[kept], PRIORS_CONCENTRATION[kept]
    a = mean * concentration + found[:, None]
    b = (1 - mean) * concentration + (n - found)[:, None]
    return Mixture(chosen / chosen.sum(axis=1, keepdims=True), a, b)
