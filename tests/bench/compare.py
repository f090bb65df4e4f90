"""The process provider against the bare script it replaces, in turn within one run: ``python -m tests.bench.compare``.

Prints the ratios beside their targets and writes ``.bench/provider/results.json``. Missing a target is no failure: how
fast a machine is today is nothing a program can be blamed for, so the exit status is 0 whenever everything could be
measured.
"""

import argparse
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from pytest_kmigrate.providers.owned.software import Software, software_for
from pytest_kmigrate.providers.process.provider import ProcessProvider
from pytest_kmigrate.topology.loading import find, load
from tests.bench import ours
from tests.bench.provider import bare, footprint
from tests.bench.targets import Round, limits, limits_table, rows, rows_table

TOPOLOGY = "zk1-broker3-controller3"
FOLDER = Path(".bench") / "provider"
SCHEMA = 1
_WIDTH = 110


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    chosen = _arguments(arguments)
    console = Console()
    console.width = max(console.width, _WIDTH)  # a table broken into three lines a row is none
    topology = load(find(TOPOLOGY))
    software = software_for(topology, console.print)
    shutil.rmtree(FOLDER, ignore_errors=True)
    runs = (FOLDER / "runs").absolute()
    results: dict[str, Any] = {
        "schema": SCHEMA,
        "topology": topology.name,
        "kafka": topology.kafka,
        "bare_starts": chosen.bare_start,
        "cores": os.cpu_count(),
        "rounds": [],
    }
    _read_once(software)
    rounds: list[Round] = []
    for number in range(1, chosen.rounds + 1):
        load_before = os.getloadavg()[0]
        console.print(f"round {number} of {chosen.rounds}: bare (load {load_before:.1f})")
        by_script = bare.measure(topology, software, chosen.bare_start, FOLDER / "bare" / str(number))
        load_between = os.getloadavg()[0]
        console.print(f"round {number} of {chosen.rounds}: ours (load {load_between:.1f})")
        by_us = ours.measure(ProcessProvider(print), topology, runs)
        rounds.append((by_script, by_us))
        results["rounds"].append(
            {
                "bare": {"load_before": load_before, **asdict(by_script)},
                "ours": {"load_before": load_between, **asdict(by_us)},
            }
        )
        results["stretches"] = [asdict(row) for row in rows(rounds)]
        _write(results)
    if rounds:
        console.print(rows_table(rows(rounds), len(rounds)))
    if chosen.window:
        console.print(f"the harness itself, at {chosen.per_s:g} sends and as many reads per second")
        watched = footprint.measure(
            (FOLDER / "footprint").absolute(), runs, software.toxiproxy, chosen.per_s, chosen.window
        )
        results["footprint"] = {**watched, "limits": [asdict(limit) for limit in limits(watched)]}
        _write(results)
        console.print(limits_table(limits(watched), watched, chosen.per_s))
    console.print(f"{FOLDER / 'results.json'}")


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.compare", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=3, help="of bare and ours in turn; 0: the harness's footprint only"
    )
    parser.add_argument("--bare-start", choices=bare.STARTS, default=bare.STARTS[0], help="see tests/bench/bare.py")
    parser.add_argument("--window", type=float, default=20, help="seconds the footprint is watched; 0: not at all")
    parser.add_argument("--per-s", type=float, default=500, help="sends per second meanwhile, read as often")
    return parser.parse_args(arguments)


def _read_once(software: Software) -> None:
    """Read every jar and archive, so that the first to run does not pay for a cold disk."""
    for distribution in software.distributions.values():
        archive = [distribution.cds_archive] if distribution.cds_archive else []
        for file in (*distribution.jars, *distribution.appended, *archive):
            file.read_bytes()


def _write(results: Mapping[str, Any]) -> None:
    """After every round, so that an interrupted comparison keeps what it has."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "results.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
