"""How fast Spark judges client operations, and whether it finds what was planted.

``python -m tests.bench.consistency FOLDER 1e6 1e7``: runs of these sizes are made in the folder and judged.
Each size is judged by a process of its own, started cold. Its memory is that of the whole tree (Spark's JVM and its
Python workers), shared pages counted once.
"""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import psutil

from pytest_kmigrate.waiting import until
from tests.bench.operations import Shape, synthetic_run, write_parts

RUN_OPERATIONS = 500_000
HUGE_PART = 0.3
"""Which part of all operations is in one run, half of that in one partition."""
_PLANTED = "planted.json"
_WITHIN_S = 3_600


def generated(folder: Path, operations: int) -> Path:
    """Run folders with about so many operations in all, and what is wrong with them; made once."""
    runs = folder / f"runs-{operations}"
    if (runs / _PLANTED).exists():
        return runs
    sizes = [int(operations * HUGE_PART)]
    count = max(2, round((operations - sizes[0]) / RUN_OPERATIONS))
    sizes += [(operations - sizes[0]) // count] * count
    told, total = [], 0
    for number, size in enumerate(sizes):
        shape = Shape(skew=0.5, producers=12) if number == 0 else Shape(is_transactional=number % 4 == 0)
        run = synthetic_run(number, size, shape)
        write_parts(run, runs / f"run-{number:05d}" / "operations")
        told += [(f"run-{number:05d}", key[0].value, *key[1:], count) for key, count in run.planted.items()]
        total += run.operations
    (runs / _PLANTED).write_text(json.dumps({"operations": total, "planted": told}))
    return runs


def judge(runs: Path, out: Path) -> None:
    """Start Spark, judge, and write what was found; what a user waits for."""
    from pytest_kmigrate.analysis import consistency  # noqa: PLC0415  # part of what is measured
    from pytest_kmigrate.reports.operations import operation_parts  # noqa: PLC0415
    from pytest_kmigrate.reports.session import spark_session  # noqa: PLC0415

    began = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    folders = {each.name: True for each in sorted(runs.iterdir()) if each.is_dir()}
    with spark_session(None, is_small=False, log=out / "spark.log") as spark:
        started = time.monotonic()
        parts = operation_parts(spark, f"file://{runs.resolve()}", folders)
        judged = consistency.judged(parts).cache()
        found = [tuple(row) for row in consistency.anomalies(judged).collect()]
        counted = sum(row["operations"] for row in consistency.operation_counts(judged).collect())
        aside = consistency.set_aside(judged).count()
    seconds = {"spark_start": started - began, "judging": time.monotonic() - started}
    rows = [(row[0], row[1], row[3], row[4], row[5]) for row in found if row[2]]
    (out / "found.json").write_text(json.dumps({"found": rows, "counted": counted, "aside": aside, **seconds}))


def measured(runs: Path, out: Path) -> dict[str, object]:
    """Judge in a process of its own: seconds, memory, and what was missed or invented."""
    began, peak = time.monotonic(), 0.0
    # Whatever "python3" is on the path: Spark's workers are this Python.
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-m", "tests.bench.consistency", "judge", str(runs), str(out)]
    child = subprocess.Popen(command, env=environment)
    tree = psutil.Process(child.pid)

    def ended() -> bool:
        nonlocal peak
        peak = max(peak, _gib(tree))
        return child.poll() is not None

    until(ended, awaited="the judge", within_s=_WITHIN_S, every_s=0.5)
    whole_s = time.monotonic() - began
    told = json.loads((runs / _PLANTED).read_text())
    found = json.loads((out / "found.json").read_text())
    planted, got = (Counter({tuple(key): count for *key, count in rows}) for rows in (told["planted"], found["found"]))
    operations = told["operations"]
    return {
        "operations": operations,
        "all_counted": found["counted"] == operations,
        "set_aside": found["aside"],
        "planted": planted.total(),
        "missed": (planted - got).total(),
        "invented": (got - planted).total(),
        "whole_s": round(whole_s, 1),
        "spark_start_s": round(found["spark_start"], 1),
        "judging_s": round(found["judging"], 1),
        "judging_us_per_operation": round(found["judging"] / operations * 1e6, 3),
        "peak_gib": round(peak, 2),
    }


def _gib(tree: psutil.Process) -> float:
    total = 0
    try:
        processes = [tree, *tree.children(recursive=True)]
    except psutil.Error:
        return 0.0
    for process in processes:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total / 2**30


def main(folder: Path, sizes: list[int]) -> None:
    """Generate, judge and tell, size by size."""
    for operations in sizes:
        runs = generated(folder, operations)
        print(json.dumps(measured(runs, folder / f"out-{operations}")), flush=True)  # noqa: T201  # its purpose


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        judge(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        main(Path(sys.argv[1]), [int(float(each)) for each in sys.argv[2:]])
