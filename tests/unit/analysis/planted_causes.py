"""Synthetic nights with one planted cause each, as membership tables: which runs had which circumstance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_kmigrate.analysis.statistics.association import Counts, false_discovery_rates, ranks, simplest_first
from pytest_kmigrate.analysis.statistics.stratified import Judged, judge

_ROLE_OF_FAULT = np.array([0, 0, 1, 1, 2, 2, 3])
_LEVELS = {"fault": 7, "phase": 5, "kafka": 4, "topology": 3}

_PAIRS = _LEVELS["fault"] * _LEVELS["phase"]


@dataclass(frozen=True)
class Night:
    """Runs of one night: a row per run, a column per level of any factor."""

    had: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    cause: int
    """The column that raises the failure rate."""
    test: NDArray[np.int64]
    """The number of each run's test."""
    combined: int = 0
    """So many of the last columns combine two others."""
    alone: int = -1
    """The column that only a bad test has."""


def night(seed: int, *, runs: int, base_rate: float, lift: float, is_pair: bool = False) -> Night:
    """Runs with a fault (which decides the role), a phase, a version and a topology, one level of which is the cause.

    With ``is_pair`` it is a fault in one phase; what that fault does in others is harmless then. Versions differ in how
    often they are run, as in life; the role of a target follows from the fault.
    """
    chance = np.random.default_rng(seed)
    drawn = {
        name: chance.choice(levels, runs, p=chance.dirichlet(np.full(levels, 8.0))) for name, levels in _LEVELS.items()
    }
    drawn["role"] = _ROLE_OF_FAULT[drawn["fault"]]
    drawn["fault in phase"] = drawn["fault"] * _LEVELS["phase"] + drawn["phase"]
    sizes = {**_LEVELS, "role": max(_ROLE_OF_FAULT) + 1, "fault in phase": _PAIRS}
    had = np.concatenate([np.eye(sizes[name], dtype=bool)[of] for name, of in drawn.items()], axis=1)
    levels = sum(_LEVELS.values())
    columns = range(had.shape[1])[-_PAIRS:] if is_pair else range(levels)
    # A cause that hardly ever was in force, or of which nothing can be distinguished, is none to find.
    candidates = [column for column in columns if 8 <= had[:, column].sum() <= runs - 8]
    cause = int(chance.choice(candidates))
    rate = np.where(had[:, cause], min(1.0, base_rate * lift), base_rate)
    return Night(had, chance.random(runs) < rate, cause, np.zeros(runs, np.int64), _PAIRS)


def suite(seed: int, *, tests: int, runs_each: int, base_rate: float, lift: float) -> Night:
    """Runs of tests each of which has a fault, a phase and a role of its own; versions and topologies are drawn.

    A version is the cause. The first test fails in seven of ten runs, whatever the version, and alone has its fault.
    """
    chance = np.random.default_rng(seed)
    test = np.repeat(np.arange(tests), runs_each)
    drawn = {name: chance.integers(0, _LEVELS[name], len(test)) for name in ("kafka", "topology")}
    of_tests = [(test, tests), (test % _LEVELS["phase"], _LEVELS["phase"]), (test % 4, 4)]
    factors = [*of_tests, *[(of, _LEVELS[name]) for name, of in drawn.items()]]
    had = np.concatenate([np.eye(levels, dtype=bool)[of] for of, levels in factors], axis=1)
    cause = had.shape[1] - _LEVELS["topology"] - 1
    rate = np.where(test == 0, 0.7, np.where(had[:, cause], base_rate * lift, base_rate))
    return Night(had, chance.random(len(test)) < rate, cause, test, alone=0)


def counted(of: Night) -> Counts:
    """The four counts of every column against the night's one failure."""
    with_runs = of.had.sum(axis=0)
    with_failures = of.had[of.failed].sum(axis=0)
    return Counts(with_failures, with_runs, of.failed.sum() - with_failures, len(of.failed) - with_runs)


def judged(of: Night) -> Judged:
    """Every column, test by test."""
    tests = np.eye(of.test.max() + 1, dtype=np.int64)[of.test].T
    ran, failures, had, both = (
        tests.sum(axis=1),
        tests @ of.failed,
        tests @ of.had,
        tests @ (of.had & of.failed[:, None]),
    )
    test, pair = np.nonzero((had > 0) & (had < ran[:, None]) & (failures > 0)[:, None])
    strata = Counts(both[test, pair], had[test, pair], failures[test] - both[test, pair], ran[test] - had[test, pair])
    always, never, is_bad = had == ran[:, None], had == 0, (failures > 0)[:, None]
    numbers = (always & is_bad, always, never & is_bad, never)
    return judge(strata, pair, counted(of), Counts(*[each.sum(axis=0) for each in numbers]))


def q_values(of: Night) -> NDArray[np.float64]:
    """How surely each column is a cause, of those that some runs had and some had not."""
    log_p, with_runs = judged(of).log_p, of.had.sum(axis=0)
    is_compared = (with_runs > 0) & (with_runs < len(of.failed))
    found = np.ones(len(log_p))
    found[is_compared] = false_discovery_rates(np.exp(log_p[is_compared]))
    return found


def place_of_the_cause(of: Night) -> int:
    """The rank the planted cause gets."""
    found = judged(of)
    failure = np.zeros(len(found.log_p), dtype=np.int64)
    is_combined = np.arange(len(failure)) >= len(failure) - of.combined
    log_p = simplest_first(failure, is_combined, found.log_p)
    return int(ranks(failure, found.lift > 1, log_p)[of.cause])
