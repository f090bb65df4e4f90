"""Association: how much more often a failure comes with a circumstance than without it, over many pairs at once.

Pure NumPy over columns; a pair is one failure and one circumstance, given as ``Counts``: the 2 x 2 table of runs.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import gammaln

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers
from pytest_kmigrate.analysis.statistics.bounds import Z_95

_MOST_TERMS = 4_000_000
"""So many terms of a distribution are summed at once: some hundred megabytes."""

AS_LIKELY = 1e-7
"""Tables as likely as the seen one but for rounding count as equally likely."""


@dataclass(frozen=True)
class Counts:
    """Runs per pair, or per stratum of one: with the circumstance and without it, and how many of either failed."""

    with_failures: Integers
    with_runs: Integers
    without_failures: Integers
    without_runs: Integers

    def at(self, places: Integers | Flags) -> Self:
        """These rows only."""
        return type(self)(*[column[places] for column in self._columns()])

    def beside(self, others: Self) -> Self:
        """These rows, then others."""
        return type(self)(*map(np.append, self._columns(), others._columns()))

    def summed(self, pair: Integers) -> Self:
        """One row per pair, of all rows that are of it."""
        sums = [np.bincount(pair, column) for column in self._columns()]
        return type(self)(*[each.astype(np.int64) for each in sums])

    def rises(self) -> Flags:
        """Whether more fail with the circumstance than without."""
        return np.asarray(self.with_failures * self.without_runs > self.without_failures * self.with_runs)

    def _columns(self) -> tuple[Integers, ...]:
        return self.with_failures, self.with_runs, self.without_failures, self.without_runs


def lift(strata: Counts, pair: Integers) -> tuple[Floats, Floats, Floats]:
    """The failure rate with each circumstance over that without it, and its 95 % interval, pooled over strata.

    A row is a stratum of the pair with that number; pairs are numbered from 0, and each has a stratum. The ratio is
    Mantel and Haenszel's, of one stratum just that of its rates: 0 if none failed with it, infinite if none failed
    without, and no number if none failed at all. The interval is Greenland and Robins', with half a failure and a whole
    run added on both sides, shared by the strata: a rate of 0 has no logarithm, and both rates 1 would leave no doubt
    after two runs. That draws the rate of a small group to a half, so it ends no nearer than the ratio itself.
    """
    failed, runs = (strata.with_failures, strata.without_failures), (strata.with_runs, strata.without_runs)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Products of whole numbers, so that equal rates give exactly 1.
        ratio = np.divide(*_weighted(pair, *failed, *runs))
    share = 1 / np.bincount(pair)[pair]
    with_failed, without_failed = (each + share / 2 for each in failed)
    with_runs, without_runs = (each + share for each in runs)
    if_with, if_without = _weighted(pair, with_failed, without_failed, with_runs, without_runs)
    all_runs = with_runs + without_runs
    scatter = (with_failed + without_failed) * with_runs * without_runs / all_runs - with_failed * without_failed
    reach = Z_95 * np.sqrt(np.bincount(pair, scatter / all_runs) / (if_with * if_without))
    logarithm = np.log(if_with / if_without)
    return ratio, np.fmin(np.exp(logarithm - reach), ratio), np.fmax(np.exp(logarithm + reach), ratio)


def _weighted(
    pair: Integers,
    with_failed: Integers | Floats,
    without_failed: Integers | Floats,
    with_runs: Integers | Floats,
    without_runs: Integers | Floats,
) -> tuple[Floats, Floats]:
    """Either rate of each pair, a stratum counting the more the more runs it has on both sides."""
    runs = with_runs + without_runs
    weights = with_failed * without_runs / runs, without_failed * with_runs / runs
    if_with, if_without = (np.bincount(pair, each).astype(np.float64) for each in weights)
    return if_with, if_without


def log_fisher(counts: Counts) -> Floats:
    """The logarithm of Fisher's exact two-sided p-value: as a logarithm, for strong causes differ below 1e-308 too."""
    # The smaller margins span the distribution; exchanging rows and columns of a table does not change its likelihood.
    terms = np.minimum(counts.with_runs, counts.with_failures + counts.without_failures) + 1
    result = np.empty(len(terms))
    ends = np.cumsum(terms)
    begun = 0
    while begun < len(terms):
        most = (ends[begun - 1] if begun else 0) + _MOST_TERMS
        until = max(begun + 1, int(np.searchsorted(ends, most, side="right")))
        result[begun:until] = _log_fisher_at_once(counts.at(np.arange(begun, until)), terms[begun:until])
        begun = until
    return result


def _log_fisher_at_once(counts: Counts, terms: Integers) -> Floats:
    """All tables with the same margins, pair after pair: those no likelier than the seen one are summed."""
    starts = np.cumsum(terms) - terms
    pair = np.repeat(np.arange(len(terms)), terms)
    failures = counts.with_failures + counts.without_failures
    fewest = np.maximum(0, failures - counts.without_runs)
    possible = np.arange(len(pair)) - starts[pair] + fewest[pair]
    likelihood = _log_likelihood(possible, counts, failures, pair)
    seen = _log_likelihood(counts.with_failures, counts, failures, np.arange(len(terms)))
    is_counted = likelihood <= seen[pair] + AS_LIKELY
    relative = np.where(is_counted, np.exp(np.minimum(likelihood - seen[pair], AS_LIKELY)), 0.0)
    return np.minimum(seen + np.log(np.add.reduceat(relative, starts)), 0.0)


def _log_likelihood(with_failures: Integers, counts: Counts, failures: Integers, pair: Integers) -> Floats:
    """The hypergeometric distribution's logarithm for each table, minus infinity for impossible ones."""
    runs_with, runs_without, failed = counts.with_runs[pair], counts.without_runs[pair], failures[pair]
    without_failures = failed - with_failures
    is_possible = (with_failures <= np.minimum(runs_with, failed)) & (without_failures <= runs_without)
    likelihood = (
        log_choose(runs_with, with_failures)
        + log_choose(runs_without, without_failures)
        - log_choose(runs_with + runs_without, failed)
    )
    return np.where(is_possible, likelihood, -np.inf)


def log_choose(all_of_them: Integers | int, chosen: Integers | int) -> Floats:
    """The logarithm of the number of ways to choose some; of no use where there are not so many."""
    rest = np.maximum(all_of_them - chosen, 0)
    return np.asarray(gammaln(all_of_them + 1.0) - gammaln(chosen + 1.0) - gammaln(rest + 1.0))


def false_discovery_rates(p_values: Floats, compared: int | None = None) -> Floats:
    """Benjamini and Hochberg's q-values: calling all pairs up to this one causes is wrong for this share of them.

    Of so many pairs ``compared`` those without a p-value are taken to be no causes.
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * (count if compared is None else compared) / np.arange(1, count + 1)
    rates = np.empty(count)
    rates[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return rates


def simplest_first(failure: Integers, is_combined: Flags, log_p: Floats) -> Floats:
    """The p-values (logarithms) by which to rank, where some circumstances combine two others.

    Combinations are many, so that one of them often looks a little better than what is behind it: each pays for their
    number. What was in force in the same runs is equally likely, and stays so.
    """
    of_failure = np.unique(failure, return_inverse=True)[1].ravel()
    combinations = np.maximum(np.bincount(of_failure, is_combined), 1)[of_failure]
    paid = log_p + np.where(is_combined, np.log(combinations), 0.0)
    alike = np.unique(np.stack([of_failure, log_p]), axis=1, return_inverse=True)[1].ravel()
    least = np.full(len(log_p), np.inf)
    np.minimum.at(least, alike, paid)
    return np.asarray(least[alike])


def ranks(failure: Integers, rises: Flags, log_p: Floats) -> Integers:
    """The place of each pair among those of its failure, from 1: what most surely ``rises`` it comes first.

    What is equally sure shares a place, as circumstances do that were in force in exactly the same runs. Those that
    go with fewer failures, not more, come after all that go with more.
    """
    doubt = np.where(rises, log_p, -log_p)
    order = np.lexsort((doubt, ~rises, failure))
    is_new_failure = np.diff(failure[order], prepend=-1) != 0
    is_new_half = np.diff(rises[order].astype(np.int8), prepend=-1) != 0
    is_new_place = is_new_failure | is_new_half | (np.diff(doubt[order], prepend=np.nan) != 0)
    place = np.cumsum(is_new_place)
    first_place = np.maximum.accumulate(np.where(is_new_failure, place, 0))
    result = np.empty(len(order), dtype=np.int64)
    result[order] = place - first_place + 1
    return result
