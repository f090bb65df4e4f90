"""``kmigrate analyze`` from three runs to ten thousand: how long it takes, cold, and how much memory it needs.

Three runs are analyzed in turn with a bare session of Spark, which counts a thousand numbers and ends.
Each run has 200 verdicts and 5,000 log lines, so that 10,000 runs are 2 million verdicts and 50 million log lines.
They are synthetic nights with a change, an outage and a cause. Of three runs the client operations are there too.
"""

import hashlib
import json
import random
import shutil
import statistics
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.chapter import Chapter
from tests.bench.measuring import Cost, cost
from tests.bench.planting.night_folders import CHECKS, write_nights
from tests.bench.planting.nights import Cause, Change, Plan, nights
from tests.bench.provider.limits import Limit

NODES = ("zookeeper-1", "broker-0", "broker-1", "broker-2", "controller-3000", "controller-3001", "controller-3002")
TESTS = 25
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


WANTED = {3: Wanted(seconds=10.0), SIZE: Wanted(seconds=18.0), LARGE_SIZE: Wanted(seconds=180.0, gib=8.0)}
NOTHING_NEW_S = 12.0
BESIDE_BARE = 1.8

_BARE = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[*]").getOrCreate()
spark.range(1000).count()
spark.stop()
"""


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Three runs, several times over; then many, and once more with nothing new."""
    three = _folders(folder / "runs-3", 3)
    # An analysis that makes the class-data archive is no example of those after it.
    _analyzed(three, folder / "out-3-0")
    bare, small = [], []
    for number in range(1, ROUNDS_OF_THREE + 1):
        bare.append(_bare(folder / f"bare-{number}.log"))
        small.append(_analyzed(three, folder / f"out-3-{number}"))
    rows = [{"runs": 3, "analysis": f"first, round {number}", **reported} for number, reported in enumerate(small, 1)]
    limits = limits_of(3, {name: statistics.median(reported[name] for reported in small) for name in small[0]})
    limits += beside_bare(small, bare)
    for count in (SIZE, *((LARGE_SIZE,) if is_large else ())):
        many, out = _folders(folder / f"runs-{count}", count), folder / f"out-{count}"
        first = _analyzed(many, out)
        rows += [{"runs": count, "analysis": "first", **first}]
        again = _analyzed(many, out, is_first=False)
        rows += [{"runs": count, "analysis": "again, nothing new", **again}]
        limits += limits_of(count, first)
        at_most = NOTHING_NEW_S if count == SIZE else None
        limits.append(Limit(f"{count:,} runs, nothing new, to a report", again["whole"], "s", at_most=at_most))
    return Chapter("runs to a report", limits, {"kmigrate analyze, cold, in seconds": rows})


def limits_of(count: int, reported: dict[str, float]) -> list[Limit]:
    """What an analysis of so many runs came to, beside what is wanted of it."""
    wanted, named = WANTED.get(count, Wanted()), f"{count:,} runs to a report"
    return [
        Limit(named, reported["whole"], "s", at_most=wanted.seconds),
        Limit(f"{named}: Spark's own start", 100 * reported["spark_start"] / reported["whole"], "% of it"),
        Limit(f"{named}: peak memory", reported["peak_gib"], "GiB", at_most=wanted.gib),
    ]


def beside_bare(analyses: Sequence[Mapping[str, float]], bare: Sequence[Cost]) -> list[Limit]:
    """How many times as long, and as dear, as a bare session analyses were: medians of the ratios round by round."""
    of_seconds = [ours["whole"] / theirs.seconds for ours, theirs in zip(analyses, bare, strict=True)]
    of_cpu = [ours["cpu"] / theirs.cpu_s for ours, theirs in zip(analyses, bare, strict=True)]
    named = "3 runs beside a bare Spark session"
    return [
        Limit(named, statistics.median(of_seconds), "x", at_most=BESIDE_BARE),
        Limit(f"{named}: processor", statistics.median(of_cpu), "x"),
        Limit("a bare Spark session", statistics.median(each.seconds for each in bare), "s"),
    ]


def _bare(log: Path) -> Cost:
    """The session that Spark makes by default, one count, and its end."""
    return cost([sys.executable, "-c", _BARE], log).must_end_with(0)


def _folders(runs: Path, count: int) -> Path:
    """So many run folders; made once, and again when making them was interrupted."""
    done = runs.with_suffix(".done")
    if not done.exists():
        shutil.rmtree(runs, ignore_errors=True)
        night_folders(runs, count)
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
    # The page cannot show how long it took itself; with Python's start, it is what is left.
    known = {name: stages[name] for name in ("spark_start", "facts", "marts")}
    return {
        "whole": spent.seconds,
        **known,
        "rest": spent.seconds - sum(known.values()),
        "cpu": spent.cpu_s,
        "peak_gib": spent.peak_gib,
    }


def night_folders(runs: Path, count: int) -> None:
    """Write ``count`` run folders, a hundred to a night."""
    rng = random.Random(SEED)
    logs = [_log(rng, LOG_LINES // len(NODES)) for _ in range(8)]
    write_nights(nights(SEED, _plan(count)), runs, greens=VERDICTS - len(CHECKS))
    for folder in sorted(runs.glob("*/*")):
        for node in NODES:
            log = folder / "logs" / node / "server.log"
            log.parent.mkdir(parents=True)
            log.write_text(rng.choice(logs))
        _observe(folder, rng)
        _close(folder)


def _plan(count: int) -> Plan:
    """A few runs are of a test each; of many each test meets two faults in two phases every night."""
    if count < RUNS_PER_NIGHT:
        of_each = {"sound_histories_every": 1, "operations_per_history": _OPERATIONS_OF_THREE}
        return Plan(tests=count, nights=1, faults=1, phases=1, **of_each)
    spent = count // RUNS_PER_NIGHT
    broken = Change(cell=RUNS_PER_NIGHT - 1, night=spent // 2, rate=0.9)
    return Plan(tests=TESTS, faults=2, phases=2, nights=spent, cause=Cause(), changes=(broken,), outages=(spent // 3,))


def _log(rng: random.Random, lines: int) -> str:
    """Lines as a broker writes them; a few are warnings of a few shapes."""
    reported = []
    for number in range(lines):
        at = f"2026-03-01 10:{number // 6_000 % 60:02}:{number // 100 % 60:02},{number % 1_000:03}"
        if rng.random() < _SHARE_OF_WARNINGS:
            words = rng.choice(("Connection to node %d could not be established", "Slow append of %d ms", "Retry %d"))
            reported.append(f"{at} WARN [Broker id={number % 3}] {words % rng.randrange(5_000)} (kafka.Something)\n")
        else:
            reported.append(
                f"{at} INFO [Partition orders-{number % 9} broker=1] ISR updated to {number} (kafka.Partition)\n"
            )
    return "".join(reported)


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
