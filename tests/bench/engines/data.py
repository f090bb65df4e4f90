"""Synthetic facts of as many rows as wanted, in Parquet; seeded, and written piece by piece in little memory."""

import shutil
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

TESTS, REQUIREMENTS_PER_RUN, REQUIREMENTS = 200, 10, 60
KAFKAS = ("3.6.0", "3.7.2", "3.9.1")
TOPOLOGIES = ("zk1-broker3-controller3", "zk3-broker5-controller3")
FAULTS = ("kill(active-controller)", "pause(broker)", "cut(controller-zookeeper)", "none")
ROLES = ("controller", "broker", "controller", "none")
"""What each fault hits."""
PHASES = ("COPYING", "HYBRID", "ALL_KRAFT")
OUTCOMES = ("CONFORMS", "VIOLATES", "INCONCLUSIVE", "NOT_APPLICABLE")
KINDS = (None, "SAFETY", "LIVENESS", "HARNESS")
TIMED = tuple(("phase", name) for name in PHASES) + tuple(("step", f"roll broker {each}") for each in range(7))
"""What is timed in each run: as many things as it has requirements, so that both tables have as many rows."""
TABLES = ("attempts", "requirement_attempts", "durations")

_RUNS_PER_FILE = 100_000
_DONE = "done"

Codes = npt.NDArray[np.int64]


def written(folder: Path, rows: int) -> Path:
    """The facts, of so many rows in ``requirement_attempts`` and in ``durations`` each; made once."""
    if (folder / _DONE).exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    runs = rows // REQUIREMENTS_PER_RUN
    for number, begin in enumerate(range(0, runs, _RUNS_PER_FILE)):
        for name, table in piece(number, begin, min(_RUNS_PER_FILE, runs - begin)).items():
            (folder / name).mkdir(parents=True, exist_ok=True)
            # Without Arrow's own schema, by which some readers would know of our dictionaries.
            pq.write_table(table, folder / name / f"part-{number:05}.parquet", store_schema=False)
    (folder / _DONE).touch()
    return folder


def piece(number: int, first_run: int, runs: int) -> dict[str, pa.Table]:
    """The facts of some runs; the same ``number`` gives the same ones."""
    chance = np.random.default_rng([7, number])
    test, kafka = chance.integers(0, TESTS, runs), chance.integers(0, len(KAFKAS), runs)
    attempts = {
        "folder": _texts([f"night-{each // 100:05}/run-{each:08}" for each in range(first_run, first_run + runs)]),
        "test_id": _texts([f"suites/kip_866/test_faults.py::test_takes_over_{each:03}" for each in range(TESTS)], test),
        "profile": _texts(["kip-866"], test * 0),
        "provider": _texts(["process"], test * 0),
        "kafka": _texts(KAFKAS, kafka),
        "topology": _texts(TOPOLOGIES, test % len(TOPOLOGIES)),
        "fault": _texts(FAULTS, test % len(FAULTS)),
        "phase": _texts(PHASES, test % len(PHASES)),
        "role": _texts(ROLES, test % len(ROLES)),
    }
    shared = pa.table({**attempts, "duration_ms": 20_000 + 300 * test + chance.gamma(4, 900, runs)})
    run = np.repeat(np.arange(runs), REQUIREMENTS_PER_RUN)
    place = np.tile(np.arange(REQUIREMENTS_PER_RUN), runs)
    outcome, kind = _ends(chance, test[run])
    judged = {
        "requirement": _texts(
            [f"K866-{each:02}" for each in range(REQUIREMENTS)], (test[run] * 3 + place) % REQUIREMENTS
        ),
        "outcome": _texts(OUTCOMES, outcome),
        "kind": _texts(KINDS, kind),
    }
    timed = {
        "folder": shared["folder"].take(run),
        "what": _texts([what for what, _ in TIMED], place),
        "name": _texts([name for _, name in TIMED], place),
        "took_ms": chance.gamma(3, 500, len(run)) * (1 + place),
    }
    requirement_attempts = shared.take(run)
    for name, column in judged.items():
        requirement_attempts = requirement_attempts.append_column(name, column)
    return {"attempts": shared, "requirement_attempts": requirement_attempts, "durations": pa.table(timed)}


def _ends(chance: np.random.Generator, test: Codes) -> tuple[Codes, Codes]:
    """Outcomes and their kinds: most tests are steady, one in ten is not, and one in fifty breaks a promise."""
    rate = np.where(test % 10 == 0, 0.08, 0.0)
    drawn, silent = chance.random(len(test)), chance.random(len(test))
    violates = drawn < rate
    outcome = np.where(silent < 0.02, 2, np.where(silent < 0.03, 3, violates))
    kind = np.select([outcome == 2, (outcome == 1) & (test % 50 == 0), outcome == 1], [3, 1, 2], 0)
    return outcome, kind


def _texts(words: list[str] | tuple[str | None, ...], which: Codes | None = None) -> pa.Array:
    array = pa.array(words, pa.string())
    return array if which is None else array.take(pa.array(which, pa.int32()))
