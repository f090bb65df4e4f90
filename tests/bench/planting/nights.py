"""Synthetic nights: attempts of many tests with everything planted that an analysis must find; seeded.

A plan says what is planted, ``nights`` plays it, and the result holds both the attempts, in columns, and the truth.
``night_folders`` writes them as run folders.
"""

import datetime as dt
from dataclasses import dataclass, field

import numpy as np

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers

FIRST_NIGHT = dt.datetime(2026, 1, 1, 20, tzinfo=dt.UTC)
FAULTS = ("kill(active-controller)", "pause(broker)", "cut(controller-zookeeper)")
PHASES = ("COPYING", "HYBRID", "ALL_KRAFT")
OUTCOMES = ("CONFORMS", "VIOLATES", "INCONCLUSIVE")
VIOLATES, INCONCLUSIVE = 1, 2
"""Of ``OUTCOMES``; the other is 0."""
_S_PER_NIGHT = 86_400
_S_BETWEEN_RUNS = 1.5


@dataclass(frozen=True)
class Cause:
    """A fault that, in one phase, makes every test fail more often."""

    fault: int = 0
    phase: int = 1
    added_rate: float = 0.3

    def hits(self, fault: Integers, phase: Integers) -> Flags:
        """Which runs meet it."""
        return np.asarray((fault == self.fault) & (phase == self.phase))


@dataclass(frozen=True)
class Change:
    """A cell whose rate is another one from a night on."""

    cell: int
    night: int
    rate: float


@dataclass(frozen=True)
class Plan:
    """What is played. A cell is a test under one fault in one phase; each runs ``runs_per_night`` times a night."""

    tests: int = 20
    nights: int = 40
    runs_per_night: int = 1
    faults: int = len(FAULTS)
    phases: int = len(PHASES)
    kafkas: tuple[str, ...] = ("3.6.0", "3.7.2", "3.9.1")
    mean_log_odds: float = -3.5
    spread_of_tests: float = 1.5
    spread_of_cells: float = 0.7
    usual_inconclusive: float = 0.02
    outage_inconclusive: float = 0.9
    outages: tuple[int, ...] = ()
    changes: tuple[Change, ...] = ()
    cause: Cause | None = None
    slower_from_night: int | None = None
    slower_times: float = 1.5
    scatter: float = 0.2
    sound_histories_every: int = 0
    """Every so many-th run has client operations in which nothing is wrong; 0: none has."""
    broken_histories: tuple[int, ...] = ()
    """Runs, counted from the first, whose client operations show anomalies of every class that their shape allows."""
    operations_per_history: int = 9_000
    rates: tuple[float, ...] = field(default=(), repr=False)
    """The rate of every cell, instead of drawn ones."""

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return self.tests * self.faults * self.phases


@dataclass(frozen=True)
class Nights:
    """Columns with a row per run, in the order of runs, and the truth: the ``rate`` of each cell before any change."""

    plan: Plan
    rate: Floats
    night: Integers
    cell: Integers
    rate_then: Floats
    """Of every run, the cause and the change that it met included."""
    at_s: Floats
    outcome: Integers
    duration_ms: Floats
    seed: Integers

    @property
    def test(self) -> Integers:
        """The test of every run."""
        return self.cell // (self.plan.faults * self.plan.phases)

    @property
    def fault(self) -> Integers:
        """The fault of every run."""
        return self.cell // self.plan.phases % self.plan.faults

    @property
    def phase(self) -> Integers:
        """The phase of every run."""
        return self.cell % self.plan.phases

    @property
    def kafka(self) -> Integers:
        """The version of every run: each has its nights, one after another."""
        return self.night * len(self.plan.kafkas) // self.plan.nights

    @property
    def is_caused(self) -> Flags:
        """Which runs met the cause."""
        cause = self.plan.cause
        return np.zeros(len(self.cell), np.bool_) if cause is None else cause.hits(self.fault, self.phase)

    @property
    def is_changed(self) -> Flags:
        """Which runs are of a cell after its change."""
        is_changed = [(self.cell == each.cell) & (self.night >= each.night) for each in self.plan.changes]
        return np.any([np.zeros(len(self.cell), np.bool_), *is_changed], axis=0)

    @property
    def violated(self) -> Flags:
        """Which runs violated."""
        return self.outcome == VIOLATES

    @property
    def answered(self) -> Flags:
        """Which runs gave an answer."""
        return self.outcome != INCONCLUSIVE

    def answers_of(self, cell: int) -> Flags:
        """The answers of one cell, in order: was it a violation?"""
        return self.violated[(self.cell == cell) & self.answered]


def nights(seed: int, plan: Plan) -> Nights:
    """Play ``plan``; the same seed plays it the same."""
    chance = np.random.default_rng(seed)
    per_night = plan.cells * plan.runs_per_night
    night = np.repeat(np.arange(plan.nights), per_night)
    place = np.tile(np.arange(per_night), plan.nights)
    cell = place % plan.cells
    rate = np.array(plan.rates) if plan.rates else _rates(chance, plan)
    rate_then = _rate_of_runs(plan, rate, cell, night)
    violates = chance.random(len(cell)) < rate_then
    silent = np.where(np.isin(night, plan.outages), plan.outage_inconclusive, plan.usual_inconclusive)
    is_silent = chance.random(len(cell)) < silent
    at_s = night * float(_S_PER_NIGHT) + place * min(_S_BETWEEN_RUNS, _S_PER_NIGHT / 2 / per_night)
    return Nights(
        plan=plan,
        rate=rate,
        night=night,
        cell=cell,
        rate_then=rate_then,
        at_s=at_s,
        outcome=np.where(is_silent, INCONCLUSIVE, violates.astype(np.int64)),
        duration_ms=_durations(chance, plan, cell, night),
        seed=np.arange(len(cell)) + seed,
    )


def _rates(chance: np.random.Generator, plan: Plan) -> Floats:
    """Tests differ, and the cells of a test differ less; in log odds, which is not the law that is fitted to them."""
    of_tests = chance.normal(plan.mean_log_odds, plan.spread_of_tests, plan.tests)
    of_cells = chance.normal(0, plan.spread_of_cells, plan.cells)
    return np.asarray(1 / (1 + np.exp(-(np.repeat(of_tests, plan.cells // plan.tests) + of_cells))))


def _rate_of_runs(plan: Plan, rate: Floats, cell: Integers, night: Integers) -> Floats:
    rates = rate[cell]
    if plan.cause is not None:
        is_hit = plan.cause.hits(cell // plan.phases % plan.faults, cell % plan.phases)
        rates = np.where(is_hit, 1 - (1 - rates) * (1 - plan.cause.added_rate), rates)
    for change in plan.changes:
        rates = np.where((cell == change.cell) & (night >= change.night), change.rate, rates)
    return rates


def _durations(chance: np.random.Generator, plan: Plan, cell: Integers, night: Integers) -> Floats:
    of_tests = chance.uniform(20_000, 90_000, plan.tests)
    usual = of_tests[cell // (plan.faults * plan.phases)] * chance.lognormal(0, plan.scatter, len(cell))
    is_slower = night >= (plan.nights if plan.slower_from_night is None else plan.slower_from_night)
    return np.asarray(np.where(is_slower, usual * plan.slower_times, usual))
