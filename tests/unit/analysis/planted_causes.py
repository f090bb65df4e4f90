"""Synthetic nights with one planted cause each, as membership tables: which runs had which circumstance."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pytest_kmigrate.analysis.statistics.association import Counts, log_fisher, ranks, simplest_first

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
    # A cause that hardly ever was in force, or of which nothing is told apart, is none to find.
    candidates = [column for column in columns if 8 <= had[:, column].sum() <= runs - 8]
    cause = int(chance.choice(candidates))
    rate = np.where(had[:, cause], min(1.0, base_rate * lift), base_rate)
    return Night(had, chance.random(runs) < rate, cause)


def counted(of: Night) -> Counts:
    """The four counts of every column against the night's one failure."""
    with_runs = of.had.sum(axis=0)
    with_failures = of.had[of.failed].sum(axis=0)
    return Counts(with_failures, with_runs, of.failed.sum() - with_failures, len(of.failed) - with_runs)


def place_of_the_cause(of: Night) -> int:
    """The rank the planted cause gets."""
    counts = counted(of)
    failure = np.zeros(len(counts.with_runs), dtype=np.int64)
    is_combined = np.arange(len(failure)) >= len(failure) - _PAIRS
    log_p = simplest_first(failure, is_combined, log_fisher(counts))
    return int(ranks(failure, counts, log_p)[of.cause])
