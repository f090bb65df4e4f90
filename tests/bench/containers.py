"""The docker provider beside the process provider, in turn on an engine of our own, and the contract on it.

Each round is a process of its own, in that engine's namespace: ``python -m tests.bench.containers PROVIDER RUNS OUT``.
"""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import pytest

from pytest_kmigrate.providers.choosing import provider_named
from pytest_kmigrate.providers.owned.software import software_for
from pytest_kmigrate.topology.loading import find, load
from tests.bench import ours
from tests.bench.chapter import Chapter
from tests.bench.compare import TOPOLOGY
from tests.bench.provider.limits import Limit
from tests.bench.targets import Round, Spread, spread
from tests.bench.timings import Timings
from tests.real.providers import contract_in_containers
from tests.real.providers.private_engine import PrivateEngine, private_engine

PROCESS, DOCKER = "process", "docker"
ROUNDS = 3
MOST_READY_RATIO, MOST_MIGRATION_RATIO, MOST_CONTRACT_S = 1.7, 1.3, 60
_TITLE = "containers"


def measure(folder: Path, *, is_large: bool) -> Chapter:
    """Rounds of both, one after the other; ``is_large`` changes nothing."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    software_for(load(find(TOPOLOGY)), print)  # in the engine's namespace there is no way out
    try:
        with private_engine() as engine:
            rounds = [
                (_round(engine, PROCESS, folder / f"{number}"), _round(engine, DOCKER, folder / f"{number}"))
                for number in range(1, ROUNDS + 1)
            ]
            contract_s = _contract(engine, folder)
    except pytest.skip.Exception as skipped:
        return Chapter(_TITLE, not_measured=[str(skipped)])
    return Chapter(_TITLE, limits_of(rounds, contract_s), {"seconds, least / median / most": rows_of(rounds)})


def limits_of(rounds: Sequence[Round], contract_s: float) -> list[Limit]:
    """The median of each round's ratio, containers beside processes, and the seconds of the contract."""
    ready = spread([docker.ready_s / process.ready_s for process, docker in rounds]).median
    migration = spread([docker.migration_s / process.migration_s for process, docker in rounds]).median
    return [
        Limit("cluster ready, beside processes", ready, "x", at_most=MOST_READY_RATIO),
        Limit("migration to dual write, beside processes", migration, "x", at_most=MOST_MIGRATION_RATIO),
        Limit("the whole contract of providers", contract_s, "s", at_most=MOST_CONTRACT_S),
    ]


def rows_of(rounds: Sequence[Round]) -> list[dict[str, str]]:
    """Each stretch by each provider."""
    sides = {PROCESS: [process for process, _ in rounds], DOCKER: [docker for _, docker in rounds]}
    return [{"": name, **{key: str(each) for key, each in _stretches(found).items()}} for name, found in sides.items()]


def _stretches(found: Sequence[Timings]) -> dict[str, Spread]:
    return {
        "cluster ready": spread([each.ready_s for each in found]),
        "migration to dual write": spread([each.migration_s for each in found]),
        "teardown": spread([each.teardown_s for each in found]),
    }


def _round(engine: PrivateEngine, provider: str, folder: Path) -> Timings:
    out = folder / f"{provider}.json"
    words = [sys.executable, "-m", __spec__.name, provider, str(folder / "runs"), str(out)]
    environment = {**engine.environment, "KMIGRATE_STATE": str(folder / "state")}
    subprocess.run(engine.command(words), env=environment, check=True)
    return Timings(**json.loads(out.read_text()))


def _contract(engine: PrivateEngine, folder: Path) -> float:
    """Seconds; but for the test that ends the engine, and those that need clusters of Kafka."""
    began = time.monotonic()
    engine.pytest(folder / "state", str(contract_in_containers.__file__), "-k", "TestDockerProvider")
    return time.monotonic() - began


def time_one(provider: str, runs: Path, out: Path) -> None:
    """One round of a provider."""
    timings = ours.measure(provider_named(provider, print), load(find(TOPOLOGY)), runs)
    out.write_text(json.dumps(asdict(timings)))


if __name__ == "__main__":
    time_one(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
