"""The Beta-binomial law: violations of cells whose rates differ, but come from one distribution."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, betaincinv, betaln, expit, logit, xlog1py, xlogy

from pytest_kmigrate.analysis.statistics.arrays import Floats, Integers

_MEANS = expit(np.linspace(logit(2e-4), logit(0.97), 26))
_CONCENTRATIONS = np.array([0.5, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 2000.0])
_LEAST_SHAPE = 0.25
"""A Beta prior with a smaller shape puts its mass on rates too small to ever be seen. Few violations are always
explained well by it, and it would turn thirty clean runs into the certainty that there will never be a violation."""


def _priors() -> tuple[Floats, Floats]:
    mean, concentration = np.repeat(_MEANS, len(_CONCENTRATIONS)), np.tile(_CONCENTRATIONS, len(_MEANS))
    is_sane = np.minimum(mean, 1 - mean) * concentration >= _LEAST_SHAPE
    return mean[is_sane], concentration[is_sane]


PRIORS_MEAN, PRIORS_CONCENTRATION = _priors()
"""The Beta priors that are considered: means, each with the concentrations (how alike the cells of a test are) from
"all or nothing" to "the same for anybody who has fewer than some thousand runs"."""

_STEPS = 30
"""Newton's method needs about five where a bracket guards it; the others are for rows with odd mixtures."""
_CLOSE_ENOUGH = 1e-6
"""An end of an interval is right when it cuts off 2.5 % to so much; more digits are never printed."""


@dataclass(frozen=True)
class Mixture:
    """Per row a mixture of Beta distributions: rows x components."""

    weight: Floats
    a: Floats
    b: Floats

    def mean(self) -> Floats:
        """The expected rate of every row."""
        expected: Floats = (self.weight * self.a / (self.a + self.b)).sum(axis=1)
        return expected

    def below(self, rate: Floats) -> Floats:
        """The probability that the rate of a row is at most ``rate``."""
        share: Floats = (self.weight * betainc(self.a, self.b, rate[:, None])).sum(axis=1)
        return share

    def density(self, rate: Floats) -> Floats:
        """The probability density of every row at ``rate``."""
        x = rate[:, None]
        parts = np.exp(xlogy(self.a - 1, x) + xlog1py(self.b - 1, -x) - betaln(self.a, self.b))
        dense: Floats = (self.weight * parts).sum(axis=1)
        return dense

    def quantile(self, share: Floats) -> Floats:
        """Per row the rate which a ``share`` of its distribution is below: Newton's method within a bracket."""
        low, high = np.zeros(len(share)), np.ones(len(share))
        rate = self._quantile_of_a_like_beta(share)
        rows = np.arange(len(share))
        for _ in range(_STEPS):
            excess = self.rows(rows).below(rate[rows]) - share[rows]
            is_off = np.abs(excess) > _CLOSE_ENOUGH
            rows, excess = rows[is_off], excess[is_off]
            if not len(rows):
                break
            at = rate[rows]
            low[rows], high[rows] = np.where(excess < 0, at, low[rows]), np.where(excess < 0, high[rows], at)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                better = at - excess / self.rows(rows).density(at)
            is_inside = (better > low[rows]) & (better < high[rows])
            rate[rows] = np.where(is_inside, better, (low[rows] + high[rows]) / 2)
        return rate

    def rows(self, chosen: Integers) -> "Mixture":
        """Some of the rows."""
        return Mixture(self.weight[chosen], self.a[chosen], self.b[chosen])

    def _quantile_of_a_like_beta(self, share: Floats) -> Floats:
        """That of the one Beta distribution with the same mean and variance, which is near."""
        part_mean, size = self.a / (self.a + self.b), self.a + self.b
        mean = self.mean()
        within = (self.weight * part_mean * (1 - part_mean) / (size + 1)).sum(axis=1)
        variance = within + (self.weight * (part_mean - mean[:, None]) ** 2).sum(axis=1)
        alike = mean * (1 - mean) / variance - 1
        return np.asarray(np.clip(betaincinv(mean * alike, (1 - mean) * alike, share), 1e-9, 1 - 1e-9))


def log_likelihoods(violations: Floats, runs: Floats) -> Floats:
    """How well each prior explains each cell: cells x priors (up to a constant of the cell)."""
    a, b = PRIORS_MEAN * PRIORS_CONCENTRATION, (1 - PRIORS_MEAN) * PRIORS_CONCENTRATION
    seen = betaln(violations[:, None] + a, (runs - violations)[:, None] + b)
    explained: Floats = seen - betaln(a, b)
    return explained
