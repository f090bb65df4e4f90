"""How fast Spark judges client operations, whether it finds what was planted, and whether it invents anything.

Each size is judged by a process of its own, started cold: ``python -m tests.bench.consistency RUNS OUT``.
"""

import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.bench.chapter import Chapter
from tests.bench.measuring import cost
from tests.bench.operations import Shape, synthetic_run, write_parts
from tests.bench.provider.limits import Limit

SIZES = (10**6, 10**7)
LARGE_SIZES = (10**8,)
MOST_SECONDS = {10**7: 40.0, 10**8: 300.0}
"""Spark's start included."""
MOST_GIB = 6.0
MOST_GROWTH = 1.3
"""Of the cost per operation, from the smallest size to each other."""

_RUN_OPERATIONS = 500_000
_HUGE_PART = 0.3
"""Which part of all operations is in one run, half of that in one partition."""
_PLANTED = "planted.json"


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Generate, judge and report, size by size."""
    found = {
        size: _measured(_generated(folder, size), folder / f"out-{size}")
        for size in (*SIZES, *(LARGE_SIZES if is_large else ()))
    }
    first_us = found[SIZES[0]]["us_per_operation"]
    limits = [
        each
        for size, reported in found.items()
        for each in limits_of(
            size, reported, growth=reported["us_per_operation"] / first_us if size > SIZES[0] else None
        )
    ]
    return Chapter("consistency", limits, {"operations judged by Spark": list(found.values())})


def limits_of(size: int, reported: dict[str, Any], growth: float | None) -> list[Limit]:
    """What one size came to, beside what is wanted of it."""
    named = f"{size:,} operations: "
    limits = [
        Limit(f"{named}planted anomalies not found", reported["missed"], f"of {reported['planted']:,}", at_most=0),
        Limit(f"{named}anomalies invented", reported["invented"], "", at_most=0),
        Limit(f"{named}not judged", reported["operations"] - reported["counted"] + reported["aside"], "", at_most=0),
        Limit(f"{named}Spark's start included", reported["whole_s"], "s", at_most=MOST_SECONDS.get(size)),
        Limit(f"{named}peak memory", reported["peak_gib"], "GiB", at_most=MOST_GIB),
    ]
    if growth is not None:
        limits.append(Limit(f"{named}cost of each, beside that of {SIZES[0]:,}", growth, "x", at_most=MOST_GROWTH))
    return limits


def compared(planted: list[list[Any]], found: list[list[Any]]) -> dict[str, int]:
    """How many anomalies were planted, not found, and found without having been planted; place by place."""
    wanted, got = (Counter({tuple(key): count for *key, count in rows}) for rows in (planted, found))
    return {"planted": wanted.total(), "missed": (wanted - got).total(), "invented": (got - wanted).total()}


def _generated(folder: Path, operations: int) -> Path:
    """Run folders with about so many operations in all, and what is wrong with them; made once."""
    runs = folder / f"runs-{operations}"
    if (runs / _PLANTED).exists():
        return runs
    sizes = [int(operations * _HUGE_PART)]
    count = max(2, round((operations - sizes[0]) / _RUN_OPERATIONS))
    sizes += [(operations - sizes[0]) // count] * count
    reported, total = [], 0
    for number, size in enumerate(sizes):
        shape = Shape(skew=0.5, producers=12) if number == 0 else Shape(is_transactional=number % 4 == 0)
        run = synthetic_run(number, size, shape)
        write_parts(run, runs / f"run-{number:05d}" / "operations")
        reported += [(f"run-{number:05d}", key[0].value, *key[1:], count) for key, count in run.planted.items()]
        total += run.operations
    (runs / _PLANTED).write_text(json.dumps({"operations": total, "planted": reported}))
    return runs


def _measured(runs: Path, out: Path) -> dict[str, Any]:
    """Judge in a process of its own: seconds, memory, and what was missed or invented."""
    spent = cost([sys.executable, "-m", "tests.bench.consistency", str(runs), str(out)], out / "judge.log")
    spent.must_end_with(0)
    reported = json.loads((runs / _PLANTED).read_text())
    found = json.loads((out / "found.json").read_text())
    operations = reported["operations"]
    return {
        "operations": operations,
        "counted": found["counted"],
        "aside": found["aside"],
        **compared(reported["planted"], found["found"]),
        "whole_s": spent.seconds,
        "cpu_s": spent.cpu_s,
        "spark_start_s": found["spark_start_s"],
        "us_per_operation": found["judging_s"] / operations * 1e6,
        "peak_gib": spent.peak_gib,
    }


def judge(runs: Path, out: Path) -> None:
    """Start Spark, judge, and write what was found; what a user waits for."""
    from pytest_kmigrate.analysis import consistency  # noqa: PLC0415  # part of what is measured
    from pytest_kmigrate.reports.ingestion.operations import operation_parts  # noqa: PLC0415
    from pytest_kmigrate.reports.ingestion.session import spark_session  # noqa: PLC0415

    began = time.monotonic()
    folders = {each.name: True for each in sorted(runs.iterdir()) if each.is_dir()}
    with spark_session(None, is_small=False, log=out / "spark.log") as spark:
        started = time.monotonic()
        parts = operation_parts(spark, f"file://{runs.resolve()}", folders, {})
        judged = consistency.judged(parts).cache()
        found = [tuple(row) for row in consistency.anomalies(judged).collect()]
        counted = sum(row["operations"] for row in consistency.operation_counts(judged).collect())
        aside = consistency.set_aside(judged).count()
    seconds = {"spark_start_s": started - began, "judging_s": time.monotonic() - started}
    rows = [(row[0], row[1], row[3], row[4], row[5]) for row in found if row[2]]
    (out / "found.json").write_text(json.dumps({"found": rows, "counted": counted, "aside": aside, **seconds}))


if __name__ == "__main__":
    judge(Path(sys.argv[1]), Path(sys.argv[2]))
