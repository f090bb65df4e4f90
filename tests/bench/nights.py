"""Synthetic nights: attempts of many tests with everything planted that an analysis must find; seeded.

A plan says what is planted, ``nights`` plays it, and the result holds both the attempts (as columns, or as a table of
the analysis) and the truth.
"""

import datetime as dt
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pytest_kmigrate.analysis.statistics.arrays import Flags, Floats, Integers

FIRST_NIGHT = dt.datetime(2026, 1, 1, 20, tzinfo=dt.UTC)
FAULTS = ("kill(active-controller)", "pause(broker)", "cut(controller-zookeeper)", "none")
PHASES = ("COPYING", "HYBRID", "ALL_KRAFT")
OUTCOMES = ("CONFORMS", "VIOLATES", "INCONCLUSIVE")
_VIOLATES, _INCONCLUSIVE = 1, 2
_S_PER_NIGHT = 86_400
_S_BETWEEN_RUNS = 1.5
_MESSAGES = (
    "broker {node} did not leave recovery within {seconds} s (port {port})",
    "{count} of {many} acknowledged records were never read: orders-{node} at {many}",
    "no controller took over for {seconds}.{count} s after session 0x{hexadecimal:x} ended",
    "topic made at 2026-02-0{node}T03:{minute}:00 is missing in /brokers/topics/t-{many}",
)
_NUMBERS = {
    "node": (0, 9),
    "seconds": (30, 90),
    "port": (20_000, 60_000),
    "count": (1, 9),
    "many": (1_000, 99_999),
    "minute": (10, 60),
    "hexadecimal": (0, 2**60),
}
_INFRA_MESSAGE = "127.{node}.{minute}.1:{port}: no route to host, tried {count} times"


@dataclass(frozen=True)
class Cause:
    """A fault that, in one phase, makes every test fail more often."""

    fault: int = 0
    phase: int = 1
    added_rate: float = 0.3


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
    def violated(self) -> Flags:
        """Which runs violated."""
        return self.outcome == _VIOLATES

    @property
    def answered(self) -> Flags:
        """Which runs gave an answer."""
        return self.outcome != _INCONCLUSIVE

    def answers_of(self, cell: int) -> Flags:
        """The answers of one cell, in order: was it a violation?"""
        return self.violated[(self.cell == cell) & self.answered]

    def table(self) -> pa.Table:
        """The same as ``attempts`` of the analysis."""
        runs = len(self.cell)
        plan, chance = self.plan, np.random.default_rng(int(self.seed[0]))
        kafka = self.night * len(plan.kafkas) // plan.nights
        ids = pa.array(np.char.add("run-", np.arange(runs).astype(np.str_)))
        at = np.datetime64(FIRST_NIGHT.replace(tzinfo=None), "us") + (self.at_s * 1e6).astype("timedelta64[us]")
        columns = {
            "folder": ids,
            "run_id": ids,
            "test_id": _texts([f"test_{each}" for each in range(plan.tests)], self.test),
            "attempt": pa.array(self.night * plan.runs_per_night + 1, pa.int32()),
            **{name: _texts([name], np.zeros(runs, np.int64)) for name in ("profile", "provider", "topology")},
            "kafka": _texts(plan.kafkas, kafka),
            "fault": _texts(FAULTS, self.fault),
            "phase": _texts(PHASES, self.phase),
            "outcome": _texts(OUTCOMES, self.outcome),
            "kind": _texts([None, "LIVENESS", "INFRA"], self.outcome),
            "check": _texts([f"check_{each}" for each in range(len(_MESSAGES))], self.test % len(_MESSAGES)),
            "summary": pa.array(self._messages(chance), pa.string()),
            "duration_ms": pa.array(self.duration_ms),
            "started_at": pa.array(at, pa.timestamp("us")).cast(pa.timestamp("us", "UTC")),
            "seed": pa.array(self.seed).cast(pa.string()),
        }
        return pa.table(columns)

    def _messages(self, chance: np.random.Generator) -> npt.NDArray[np.object_]:
        """What the runs that did not conform say: a sentence per check, with other numbers each time."""
        said = np.full(len(self.cell), None, np.object_)
        rows = np.flatnonzero(self.outcome)
        drawn = {name: chance.integers(low, high, len(rows)).tolist() for name, (low, high) in _NUMBERS.items()}
        is_red = self.outcome[rows] == _VIOLATES
        sentence = np.where(is_red, self.test[rows] % len(_MESSAGES), len(_MESSAGES)).tolist()
        for place, row in enumerate(rows):
            numbers = {name: values[place] for name, values in drawn.items()}
            said[row] = (*_MESSAGES, _INFRA_MESSAGE)[sentence[place]].format(**numbers)
        return said


def nights(seed: int, plan: Plan) -> Nights:
    """Play ``plan``; the same seed plays it the same."""
    chance = np.random.default_rng(seed)
    per_night = plan.cells * plan.runs_per_night
    night = np.repeat(np.arange(plan.nights), per_night)
    place = np.tile(np.arange(per_night), plan.nights)
    cell = place % plan.cells
    rate = np.array(plan.rates) if plan.rates else _rates(chance, plan)
    violates = chance.random(len(cell)) < _rate_of_runs(plan, rate, cell, night)
    silent = np.where(np.isin(night, plan.outages), plan.outage_inconclusive, plan.usual_inconclusive)
    is_silent = chance.random(len(cell)) < silent
    at_s = night * float(_S_PER_NIGHT) + place * min(_S_BETWEEN_RUNS, _S_PER_NIGHT / 2 / per_night)
    return Nights(
        plan=plan,
        rate=rate,
        night=night,
        cell=cell,
        at_s=at_s,
        outcome=np.where(is_silent, _INCONCLUSIVE, violates.astype(np.int64)),
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
        fault, phase = cell // plan.phases % plan.faults, cell % plan.phases
        is_hit = (fault == plan.cause.fault) & (phase == plan.cause.phase)
        rates = np.where(is_hit, 1 - (1 - rates) * (1 - plan.cause.added_rate), rates)
    for change in plan.changes:
        rates = np.where((cell == change.cell) & (night >= change.night), change.rate, rates)
    return rates


def _durations(chance: np.random.Generator, plan: Plan, cell: Integers, night: Integers) -> Floats:
    of_tests = chance.uniform(20_000, 90_000, plan.tests)
    usual = of_tests[cell // (plan.faults * plan.phases)] * chance.lognormal(0, plan.scatter, len(cell))
    is_slower = night >= (plan.nights if plan.slower_from_night is None else plan.slower_from_night)
    return np.asarray(np.where(is_slower, usual * plan.slower_times, usual))


def _texts(words: tuple[str, ...] | list[str | None] | list[str], which: Integers) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(which, pa.int32()), pa.array(words, pa.string())).cast(pa.string())
