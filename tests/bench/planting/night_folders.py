"""Synthetic nights as run folders, as ``kmigrate analyze`` reads them, and the truth: what its report must find."""

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.bench.operations import Shape, synthetic_run, write_parts
from tests.bench.planting.nights import FAULTS, FIRST_NIGHT, INCONCLUSIVE, OUTCOMES, PHASES, VIOLATES, Nights
from tests.spark.run_folders import Line, event, fault, verdict, write_run

Cell = tuple[str, str, str]
"""Test, fault and phase."""

_TARGETS = ("controller-3000", "broker-1", "controller-3001")
"""Of ``FAULTS``: a node that each hits."""
_OF_TESTS = (
    "broker {node} did not leave recovery within {seconds} s (port {port})",
    "{count} of {many} acknowledged records were never read: orders-{node} at {many}",
    "no controller took over for {seconds}.{count} s after session 0x{hexadecimal:x} ended",
    "topic made at 2026-02-0{node}T03:{minute}:00 is missing in /brokers/topics/t-{many}",
)
_SENTENCES = {
    **{f"check_{number}": sentence for number, sentence in enumerate(_OF_TESTS)},
    "check_of_cause": "replica {node} of payments-{count} fell out of sync {seconds} s before its leader was fenced",
    "check_of_change": "feature level {count} was refused: expected metadata.version {node}, got {many}",
    "cluster_ready": "127.{node}.{minute}.1:{port}: no route to host, tried {count} times",
}
"""What a run says that did not conform, by the check that says it, with other numbers each time."""
CHECKS = tuple(_SENTENCES)
"""Those that every run has."""
_NUMBERS = {
    "node": (0, 9),
    "seconds": (30, 90),
    "port": (20_000, 60_000),
    "count": (1, 9),
    "many": (1_000, 99_999),
    "minute": (10, 60),
    "hexadecimal": (0, 2**60),
}


@dataclass(frozen=True)
class Truth:
    """What is planted, and nothing else is there to find."""

    flaky: frozenset[Cell]
    """Cells in which chance decides."""
    changes: dict[Cell, tuple[str, str]]
    """The version and the commit each began with."""
    outages: frozenset[dt.date]
    causes: dict[str, set[str]]
    """Of each check that one raises, the circumstances of which any may be called the first."""
    failures: dict[str, set[str]]
    """The folders in which each check said what was broken."""
    broken_histories: frozenset[str]
    anomalies: Counter[str] = field(default_factory=Counter)
    """In all of these, by class."""


def write_nights(played: Nights, runs: Path, greens: int = 0) -> Truth:
    """Write every run, with so many checks more that conform; gives what was planted in them."""
    truth = _truth(played)
    plan = played.plan
    for number, failing, says in zip(range(len(played.cell)), _failing(played), _says(played), strict=True):
        folder = _write(played, number, runs, _verdicts(failing, says, int(played.outcome[number]), greens))
        is_broken = number in plan.broken_histories
        if is_broken or (plan.sound_histories_every and number % plan.sound_histories_every == 0):
            # Of the broken ones every other one is transactional, which allows more classes.
            shape = Shape(is_transactional=is_broken and plan.broken_histories.index(number) % 2 == 1)
            run = synthetic_run(int(played.seed[number]), plan.operations_per_history, shape, is_faulty=is_broken)
            write_parts(run, folder / "operations")
            for (name, *_), count in run.planted.items():
                truth.anomalies[name.value] += count
    return truth


def folder_of(played: Nights, number: int) -> str:
    """Where a run lies."""
    return f"night-{played.night[number]:04}/run-{number:06}"


def _truth(played: Nights) -> Truth:
    plan = played.plan
    failing = np.array(_failing(played), np.object_)
    is_chance = (played.rate_then > 0) & (played.rate_then < 1)
    causes = {}
    if plan.cause is not None:
        causes["check_of_cause"] = {f"{FAULTS[plan.cause.fault]} in {PHASES[plan.cause.phase]}"}
    changes = {}
    for change in plan.changes:
        (first,) = np.flatnonzero((played.cell == change.cell) & (played.night == change.night))[:1].tolist()
        cell = _cell(played, first)
        changes[cell] = (plan.kafkas[played.kafka[first]], _commit(played, first))
        causes.setdefault("check_of_change", set()).update((changes[cell][0], f"{cell[1]} in {cell[2]}"))
    return Truth(
        flaky=frozenset(_cell(played, number) for number in np.flatnonzero(is_chance & ~played.is_changed).tolist()),
        changes=changes,
        outages=frozenset((FIRST_NIGHT + dt.timedelta(days=night)).date() for night in plan.outages),
        causes=causes,
        failures={
            check: {folder_of(played, number) for number in np.flatnonzero(failing == check).tolist()}
            for check in set(failing) - {None}
        },
        broken_histories=frozenset(folder_of(played, number) for number in plan.broken_histories),
    )


def _failing(played: Nights) -> list[str | None]:
    """The check by which each run did not conform: that of the change or the cause it met, else that of its test."""
    check = played.test % len(_OF_TESTS)
    check[played.is_caused] = CHECKS.index("check_of_cause")
    check[played.is_changed] = CHECKS.index("check_of_change")
    check[~played.answered] = CHECKS.index("cluster_ready")
    return [CHECKS[each] if ends else None for each, ends in zip(check.tolist(), played.outcome.tolist(), strict=True)]


def _says(played: Nights) -> Iterator[str]:
    """What the runs that did not conform say, with other numbers each time."""
    chance = np.random.default_rng(int(played.seed[0]))
    failing = _failing(played)
    drawn = [chance.integers(low, high, len(failing)).tolist() for low, high in _NUMBERS.values()]
    for check, *numbers in zip(failing, *drawn, strict=True):
        yield _SENTENCES[check].format(**dict(zip(_NUMBERS, numbers, strict=True))) if check else ""


def _verdicts(failing: str | None, says: str, outcome: int, greens: int) -> list[Line]:
    """Every check of one run; without a cluster nothing could be judged."""
    if outcome == INCONCLUSIVE:
        return [verdict(str(failing), OUTCOMES[outcome], "INFRA", summary=says)]
    red = [verdict(failing, OUTCOMES[outcome], "LIVENESS", summary=says)] if outcome == VIOLATES and failing else []
    others = [verdict(check) for check in CHECKS if check != failing]
    return [*red, *others, *[verdict(f"green_{number:03}", facts={"judged": number}) for number in range(greens)]]


def _write(played: Nights, number: int, runs: Path, verdicts: list[Line]) -> Path:
    test, name, phase = _cell(played, number)
    injected = fault(11_000, name, target=_TARGETS[int(played.fault[number])])
    events = [
        event(0, "run-began"),
        event(1_000, "state", of="phase", state=phase, previous=None),
        *injected,
        event(float(played.duration_ms[number]), "run-ended"),
    ]
    at = FIRST_NIGHT + dt.timedelta(seconds=float(played.at_s[number]))
    return write_run(
        runs,
        folder_of(played, number),
        verdicts,
        events,
        test_id=test,
        seed=int(played.seed[number]),
        kafka=played.plan.kafkas[int(played.kafka[number])],
        started_at=at.isoformat(),
        extra={"commit": _commit(played, number)},
    )


def _cell(played: Nights, number: int) -> Cell:
    names = FAULTS[int(played.fault[number])], PHASES[int(played.phase[number])]
    return (f"suites/nights.py::test_{int(played.test[number]):02}", *names)


def _commit(played: Nights, number: int) -> str:
    """Every night another one."""
    return f"{int(played.night[number]):07x}"
