"""Infra nights: nights in which so much went wrong everywhere that the tests had little to do with it."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, gammaln

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers

NIGHT_BEGINS_AT_H = 12
"""A night lasts from noon to noon, in UTC, and is named after the day it began on; at midnight it is at its height."""

FALSE_ALARM_RATE = 0.01
"""So often, over all nights of an analysis together, may a usual night be set aside."""

LEAST_SHARE = 0.25
"""A night in which three runs of four went as usual still says something; it is not set aside."""

LEAST_TIMES_USUAL = 3.0
"""Significant is not enough: with a thousand runs a night, 6 % instead of 4 % is."""

LEAST_TESTS = 0.5
"""Everywhere means at least half of the tests. If fewer violate, it is about them."""

_LEAST_CORRELATION, _MOST_CORRELATION = 0.02, 0.3
"""Runs of one night share a machine, so they never are quite independent; above 0.3 nothing could be found."""
_BORROWED_RUNS = 4.0
"""A stratum with few runs in other nights is taken to be like all others, with the weight of so many runs."""
_MEDIAN_CHI_SQUARE = 0.455


@dataclass(frozen=True)
class Nightly:
    """One row per night and stratum (a test on one kind of cluster), with its counts; ``night`` counts days."""

    night: Integers
    stratum: Integers
    test: Integers
    runs: Integers
    inconclusive: Integers
    violating: Integers


@dataclass(frozen=True)
class InfraNight:
    """One night to be set aside.

    ``wrong`` says of what there was far too much, inconclusive or violating runs: ``wrong_runs`` of ``judged_runs``.
    """

    night: int
    runs: int
    inconclusive: int
    violating: int
    wrong: str
    wrong_runs: int
    judged_runs: int
    tests_touched: int
    usual_rate: float
    p_value: float
    reason: str


@dataclass(frozen=True)
class _Signal:
    """Per night: how many runs count, how many went wrong, which share does so usually, and how unlikely that is."""

    nights: Integers
    runs: Integers
    bad: Integers
    usual: Floats
    p_value: Floats

    def is_far_more(self) -> Flags:
        share = self.bad / np.maximum(self.runs, 1)
        return np.asarray(
            (self.p_value <= FALSE_ALARM_RATE) & (share >= LEAST_SHARE) & (share >= LEAST_TIMES_USUAL * self.usual)
        )


def infra_nights(table: Nightly, of_new_commits: Collection[int] = ()) -> list[InfraNight]:
    """The nights with far more inconclusive runs than usual, and those in which tests violated everywhere.

    The latter only if the next night was as usual again: until then it may be the first night of a regression, which
    must not be set aside. Nor may a night that tried a commit which no other night did (``of_new_commits``): a commit
    that breaks everything and is taken back the next day looks the same.
    """
    silent = _signal(table, table.inconclusive, table.runs)
    answers = table.runs - table.inconclusive
    red = _signal(table, table.violating, answers * _is_known_elsewhere(table, answers))
    is_silent = silent.is_far_more()
    is_red = red.is_far_more() & (_share_of_tests(table, table.violating) >= LEAST_TESTS)
    usual_again = np.append((red.p_value > FALSE_ALARM_RATE)[1:] & (red.runs > 0)[1:], False)
    found = []
    for row, night in enumerate(silent.nights):
        if is_silent[row]:
            found.append(_told(table, int(night), silent, row, "inconclusive", ""))
        elif is_red[row] and usual_again[row] and night not in of_new_commits:
            found.append(_told(table, int(night), red, row, "violating", ", and the night after was as usual"))
    return found


def _told(table: Nightly, night: int, signal: _Signal, row: int, what: str, more: str) -> InfraNight:
    of_night = table.night == night
    bad, runs, usual = int(signal.bad[row]), int(signal.runs[row]), float(signal.usual[row])
    counts = table.inconclusive if what == "inconclusive" else table.violating
    return InfraNight(
        night=night,
        runs=int(table.runs[of_night].sum()),
        inconclusive=int(table.inconclusive[of_night].sum()),
        violating=int(table.violating[of_night].sum()),
        wrong=what,
        wrong_runs=bad,
        judged_runs=runs,
        tests_touched=len(np.unique(table.test[of_night & (counts > 0)])),
        usual_rate=usual,
        p_value=float(signal.p_value[row]),
        reason=f"{bad} of {runs} runs {what}, usual are {usual:.1%}{more}",
    )


def _signal(table: Nightly, bad: Integers, runs: Integers) -> _Signal:
    nights, night = np.unique(table.night, return_inverse=True)
    bad = np.where(runs > 0, bad, 0)
    total, wrong = (np.bincount(night, each, len(nights)).astype(np.float64) for each in (runs, bad))
    is_suspect = _suspects(total, wrong)
    expected = np.bincount(night, runs * _usual(table.stratum, bad, runs, ~is_suspect[night]), len(nights))
    usual = np.clip(expected / np.maximum(total, 1), 1e-6, 1 - 1e-6)
    known = (total * ~is_suspect).sum() - total * ~is_suspect
    correlation = _correlation(*(each[~is_suspect] for each in (total, wrong, usual))) + 1 / (known + 2)
    chances = [_at_least(int(k), int(n), m, c) for k, n, m, c in zip(wrong, total, usual, correlation, strict=True)]
    looked_at = int(np.count_nonzero(total)) * 2  # two signals
    p_value = np.minimum(np.array(chances) * looked_at, 1.0)
    return _Signal(nights, total.astype(np.int64), wrong.astype(np.int64), usual, p_value)


def _suspects(runs: Floats, bad: Floats) -> Flags:
    """Nights too bad to show what is usual: with them, two outages would excuse each other."""
    share = bad / np.maximum(runs, 1)
    suspects: Flags = (share >= LEAST_SHARE) & (share >= LEAST_TIMES_USUAL * np.median(share))
    return suspects


def _usual(stratum: Integers, bad: Integers, runs: Integers, is_counted: Flags) -> Floats:
    """Per row: the share that goes wrong in the other nights of its stratum, drawn to that of all other rows."""
    _, which = np.unique(stratum, return_inverse=True)
    counted, wrong = runs * is_counted, bad * is_counted
    others = np.bincount(which, counted)[which] - counted
    bad_there = np.bincount(which, wrong)[which] - wrong
    overall = (wrong.sum() - wrong + 0.5) / (counted.sum() - counted + 1.0)
    return np.asarray((bad_there + _BORROWED_RUNS * overall) / (others + _BORROWED_RUNS))


def _is_known_elsewhere(table: Nightly, answers: Integers) -> Flags:
    """Rows whose stratum answered in another night too. A release seen for the first time cannot be compared."""
    _, which = np.unique(table.stratum, return_inverse=True)
    known: Flags = np.bincount(which, answers)[which] > answers
    return known


def _share_of_tests(table: Nightly, counts: Integers) -> Floats:
    nights = np.unique(table.night)
    shares = []
    for night in nights:
        of_night = table.night == night
        touched = len(np.unique(table.test[of_night & (counts > 0)]))
        shares.append(touched / len(np.unique(table.test[of_night])))
    return np.array(shares)


def _correlation(runs: Floats, bad: Floats, usual: Floats) -> float:
    """How alike the runs of one night are, from how much nights differ; by the median, which outages do not move."""
    many = runs > 1
    if not many.any():
        return _LEAST_CORRELATION
    excess = (bad - runs * usual)[many] ** 2 / (runs * usual * (1 - usual))[many]
    scale = float(np.median(excess)) / _MEDIAN_CHI_SQUARE
    correlation = (scale - 1) / float(np.median(runs[many]) - 1)
    return float(np.clip(correlation, _LEAST_CORRELATION, _MOST_CORRELATION))


def _at_least(bad: int, runs: int, usual: float, correlation: float) -> float:
    """The chance of ``bad`` or more of ``runs``, whose shared luck makes their number Beta-binomial."""
    if not bad:
        return 1.0
    size = 1 / correlation - 1
    a, b = usual * size, (1 - usual) * size
    k = np.arange(bad, runs + 1)
    choose = gammaln(runs + 1) - gammaln(k + 1) - gammaln(runs - k + 1)
    return float(min(1.0, np.exp(choose + betaln(k + a, runs - k + b) - betaln(a, b)).sum()))
