"""Association over strata: each is compared with itself alone, and what all of them say is added up."""

from dataclasses import dataclass

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers
from pytest_kmigrate.analysis.statistics.association import AS_LIKELY, Counts, lift, log_choose, log_fisher


@dataclass(frozen=True)
class Judged:
    """What is known of each pair: the runs that were compared, of how many strata, the lift, and how surely it is none.

    Without a stratum all runs are compared, but it is strata that are counted for how sure that is.
    """

    runs: Counts
    strata: Integers
    lift: Floats
    low: Floats
    high: Floats
    log_p: Floats


def judge(strata: Counts, pair: Integers, runs: Counts, of_strata: Counts) -> Judged:
    """Judge each pair within strata, which are given with the number of their pair, or else between strata.

    ``strata`` are those that failed so and were run both ways. ``runs`` are all of a pair. ``of_strata`` counts strata
    instead of runs: those always run with the circumstance and never, and how many of either failed at all. One bad
    stratum has failed once, then, however many runs it has; all of them have its circumstances.
    """
    reported = np.bincount(pair, minlength=len(runs.with_runs))
    untold = np.flatnonzero(reported == 0)
    compared, of_pair = strata.beside(runs.at(untold)), np.concatenate([pair, untold])
    ratio, low, high = lift(compared, of_pair)
    between = of_strata.at(untold)
    is_one_way = between.rises() == (ratio[untold] > 1)
    log_p = np.empty(len(reported))
    log_p[reported > 0] = log_fisher_over(strata, np.unique(pair, return_inverse=True)[1])
    log_p[untold] = np.where(is_one_way, log_fisher(between), 0.0)
    return Judged(compared.summed(of_pair), reported, ratio, low, high, log_p)


def log_fisher_over(strata: Counts, pair: Integers) -> Floats:
    """The logarithm of the exact two-sided p-value of each pair; a row is a stratum of the pair with that number.

    Given what failed in a stratum, how much of that fell to one side is hypergeometric, and so the sum over all strata
    is known too. Pairs are numbered from 0, and each has a stratum.
    """
    order = np.argsort(pair, kind="stable")
    ends = np.cumsum(np.bincount(pair))
    begins = np.concatenate([[0], ends[:-1]])
    is_lone = ends - begins == 1
    result = np.empty(len(ends))
    result[is_lone] = log_fisher(strata.at(order[begins[is_lone]]))
    for each in np.flatnonzero(~is_lone):
        result[each] = _log_p(strata.at(order[begins[each] : ends[each]]))
    return result


def _log_p(strata: Counts) -> float:
    """Of the strata of one pair."""
    # Tables are weighed by about the odds that were seen. So those like the seen one are the likeliest, and are kept
    # apart, however unlikely they are by chance; all other numbers may get too small to differ from none.
    odds = _log_odds(strata)
    failures = strata.with_failures + strata.without_failures
    fewest = np.maximum(0, failures - strata.without_runs)
    terms = np.minimum(strata.with_runs, failures) - fewest + 1
    stratum = np.repeat(np.arange(len(terms)), terms)
    starts = np.cumsum(terms) - terms
    possible = np.arange(len(stratum)) - starts[stratum] + fewest[stratum]
    log_weight = (
        log_choose(strata.with_runs[stratum], possible)
        + log_choose(strata.without_runs[stratum], failures[stratum] - possible)
        + odds * possible
    )
    largest = np.maximum.reduceat(log_weight, starts)
    weight, scale = np.ones(1), 0.0
    for each in np.split(np.exp(log_weight - largest[stratum]), starts[1:]):
        weight = np.convolve(weight, each)
        scale += np.log(weight.max())
        weight /= weight.max()
    ways = log_choose(strata.with_runs + strata.without_runs, failures)
    with np.errstate(divide="ignore"):
        likelihood = np.log(weight) + scale + float((largest - ways).sum())
    likelihood -= odds * (np.arange(len(weight)) + fewest.sum())
    seen = likelihood[int(strata.with_failures.sum() - fewest.sum())]
    counted = likelihood[likelihood <= seen + AS_LIKELY]
    return min(float(seen + np.log(np.exp(counted - seen).sum())), 0.0)


def _log_odds(strata: Counts) -> float:
    """Mantel and Haenszel's odds ratio, half a run added everywhere, as a logarithm."""
    runs = strata.with_runs + strata.without_runs + 2.0
    passed_with, passed_without = strata.with_runs - strata.with_failures, strata.without_runs - strata.without_failures
    raised = (strata.with_failures + 0.5) * (passed_without + 0.5) / runs
    lowered = (strata.without_failures + 0.5) * (passed_with + 0.5) / runs
    return float(np.log(raised.sum() / lowered.sum()))
