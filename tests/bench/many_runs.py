"""``kmigrate analyze`` from three runs to ten thousand: how long it takes, cold, and how much memory it needs.

Each run has 200 verdicts and 5,000 log lines, so that 10,000 runs are 2 million verdicts and 50 million log lines.
Which runs violate what is told by the seed. Of three runs the client operations are there too.
"""

import hashlib
import json
import random
import shutil
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.chapter import Chapter
from tests.bench.limits import Limit
from tests.bench.measuring import cost
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.run_folders import fault, migration, verdict, write_run

NODES = ("zookeeper-1", "broker-0", "broker-1", "broker-2", "controller-3000", "controller-3001", "controller-3002")
KAFKA = ("3.6.0", "3.8.1", "3.9.1")
TESTS = 40
RUNS_PER_NIGHT = 100
VERDICTS, LOG_LINES = 200, 5_000
"""Per run."""
SEED = 1

ROUNDS_OF_THREE = 3
SIZE, LARGE_SIZE = 300, 10_000
_OPERATIONS_OF_THREE = 20_000

_SHARE_OF_WARNINGS = 0.02


@dataclass(frozen=True)
class Wanted:
    """What is wanted of an analysis of so many runs."""

    seconds: float | None = None
    gib: float | None = None


WANTED = {3: Wanted(seconds=25.0), LARGE_SIZE: Wanted(seconds=300.0, gib=8.0)}


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Three runs, several times over; then many, and once more with nothing new."""
    three = _folders(folder / "runs-3", 3, _OPERATIONS_OF_THREE)
    small = [_analyzed(three, folder / f"out-3-{number}") for number in range(ROUNDS_OF_THREE)]
    rows = [{"runs": 3, "analysis": f"first, round {number}", **told} for number, told in enumerate(small, 1)]
    limits = limits_of(3, {name: statistics.median(told[name] for told in small) for name in small[0]})
    for count in (SIZE, *((LARGE_SIZE,) if is_large else ())):
        many, out = _folders(folder / f"runs-{count}", count, 0), folder / f"out-{count}"
        first = _analyzed(many, out)
        rows += [{"runs": count, "analysis": "first", **first}]
        rows += [{"runs": count, "analysis": "again, nothing new", **_analyzed(many, out, is_first=False)}]
        limits += limits_of(count, first)
    return Chapter("runs to a report", limits, {"kmigrate analyze, cold, in seconds": rows})


def limits_of(count: int, told: dict[str, float]) -> list[Limit]:
    """What an analysis of so many runs came to, beside what is wanted of it."""
    wanted, named = WANTED.get(count, Wanted()), f"{count:,} runs to a report"
    return [
        Limit(named, told["whole"], "s", at_most=wanted.seconds),
        Limit(f"{named}: Spark's own start", 100 * told["spark_start"] / told["whole"], "% of it"),
        Limit(f"{named}: peak memory", told["peak_gib"], "GiB", at_most=wanted.gib),
    ]


def _folders(runs: Path, count: int, operations: int) -> Path:
    """So many run folders; made once, and again when making them was interrupted."""
    done = runs.with_suffix(".done")
    if not done.exists():
        shutil.rmtree(runs, ignore_errors=True)
        night_folders(runs, count, operations)
        done.touch()
    return runs


def _analyzed(runs: Path, out: Path, *, is_first: bool = True) -> dict[str, float]:
    """Analyze as a user would, in a process of its own: the whole, its stages, and the memory."""
    if is_first:
        shutil.rmtree(out, ignore_errors=True)
    log = out.with_suffix(".log")
    spent = cost([sys.executable, "-m", "pytest_kmigrate.cli", "analyze", str(runs), "--out", str(out)], log)
    spent.must_end_with(0, 1)  # some runs violate
    stages: dict[str, Any] = json.loads((out / "report.json").read_text())["about"]["seconds"]
    # The page cannot tell how long it took itself; with Python's start, it is what is left.
    known = {name: stages[name] for name in ("spark_start", "facts", "marts")}
    return {
        "whole": spent.seconds,
        **known,
        "rest": spent.seconds - sum(known.values()),
        "cpu": spent.cpu_s,
        "peak_gib": spent.peak_gib,
    }


def night_folders(runs: Path, count: int, operations: int) -> None:
    """Write ``count`` run folders, a hundred to a night, each with about so many client operations."""
    rng = random.Random(SEED)
    logs = [_log(rng, LOG_LINES // len(NODES)) for _ in range(8)]
    for number in range(count):
        night = 1 + number // RUNS_PER_NIGHT
        is_red = rng.random() < 0.05
        folder = write_run(
            runs,
            f"night-{night:04}/run-{number:06}",
            _verdicts(VERDICTS, is_red=is_red),
            migration(fault(11_000 + rng.randrange(5_000))),
            test_id=f"suites/test_scale.py::test_{number % TESTS:02}",
            kafka=KAFKA[number % len(KAFKA)],
            seed=number,
            started_at=f"2026-{1 + night // 28 % 12:02}-{1 + night % 28:02}T01:00:00+00:00",
        )
        for node in NODES:
            log = folder / "logs" / node / "server.log"
            log.parent.mkdir(parents=True)
            log.write_text(rng.choice(logs))
        if operations:
            write_parts(synthetic_run(number, operations, is_faulty=False), folder / "operations")
        _observe(folder, rng)
        _close(folder)


def _verdicts(count: int, *, is_red: bool) -> list[dict[str, object]]:
    greens = [verdict(f"check_{number:03}", facts={"judged": number}) for number in range(count - 1)]
    return [*greens, verdict("no_acked_record_lost", *(("VIOLATES", "LIVENESS") if is_red else ("CONFORMS",)))]


def _log(rng: random.Random, lines: int) -> str:
    """Lines as a broker writes them; a few are warnings of a few shapes."""
    told = []
    for number in range(lines):
        at = f"2026-03-01 10:{number // 6_000 % 60:02}:{number // 100 % 60:02},{number % 1_000:03}"
        if rng.random() < _SHARE_OF_WARNINGS:
            words = rng.choice(("Connection to node %d could not be established", "Slow append of %d ms", "Retry %d"))
            told.append(f"{at} WARN [Broker id={number % 3}] {words % rng.randrange(5_000)} (kafka.Something)\n")
        else:
            told.append(
                f"{at} INFO [Partition orders-{number % 9} broker=1] ISR updated to {number} (kafka.Partition)\n"
            )
    return "".join(told)


def _observe(folder: Path, rng: random.Random) -> None:
    samples = [
        {
            "at_ns": at * 10**9,
            "node": node,
            "values": {"ZkWriteBehindLag": rng.randrange(50), "ActiveControllerCount": 1},
        }
        for at in range(20)
        for node in NODES[4:]
    ]
    changes = [{"at_ns": at, "path": "/controller", "data": str(at), "version": at, "mzxid": at} for at in range(5)]
    for name, rows in (("metrics", samples), ("znodes", changes)):
        (folder / name).mkdir()
        (folder / name / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _close(folder: Path) -> None:
    """Write the manifest as the recorder does."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "manifest.json"]
    digests = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    (folder / "manifest.json").write_text(json.dumps({"schema": 1, "sha256": digests}))
