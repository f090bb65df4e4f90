"""Writes many run folders and analyzes them: how long each stage takes, and how much memory it needs.

By default each run has 200 verdicts and 5 000 log lines, so that 10 000 runs are 2 million verdicts and 50 million log
lines. Which runs violate what is told by the seed. ``python -m tests.bench.run_folders_at_scale --runs 1000 FOLDER``.
"""

import argparse
import hashlib
import json
import random
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

from pyspark import SparkContext

from pytest_kmigrate.reports.analyze import analyze
from tests.spark.run_folders import fault, migration, verdict, write_run

NODES = ("zookeeper-1", "broker-0", "broker-1", "broker-2", "controller-3000", "controller-3001", "controller-3002")
KAFKA = ("3.6.0", "3.8.1", "3.9.1")
TESTS = 40
RUNS_PER_NIGHT = 100

_SHARE_OF_WARNINGS = 0.02


def night_folders(runs: Path, count: int, verdicts: int, log_lines: int, seed: int) -> None:
    """Write ``count`` run folders, a hundred to a night."""
    rng = random.Random(seed)
    logs = [_log(rng, log_lines // len(NODES)) for _ in range(8)]
    for number in range(count):
        night = 1 + number // RUNS_PER_NIGHT
        is_red = rng.random() < 0.05
        folder = write_run(
            runs,
            f"night-{night:04}/run-{number:06}",
            _verdicts(verdicts, is_red=is_red),
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


def peak_mib() -> dict[str, int]:
    """The most memory this process and Spark's JVM had at once, each."""
    gateway = SparkContext._gateway
    status = Path(f"/proc/{gateway.proc.pid}/status").read_text() if gateway else ""
    jvm = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0")
    return {
        "python": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "jvm": int(jvm.split()[1]) // 1024,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Write what is not there yet, analyze it twice, and print one JSON line per analysis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--verdicts", type=int, default=200, help="per run")
    parser.add_argument("--log-lines", type=int, default=5_000, help="per run")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args(arguments)
    runs = chosen.folder / "runs"
    if not runs.exists():
        night_folders(runs, chosen.runs, chosen.verdicts, chosen.log_lines, chosen.seed)
    for what in ("first", "again"):
        result = analyze(str(runs), chosen.folder / "out")
        told = {"analysis": what, "runs": result.runs, "read": result.read, "seconds": result.seconds}
        sys.stdout.write(json.dumps({**told, "peak_mib": peak_mib()}) + "\n")


if __name__ == "__main__":
    main()
