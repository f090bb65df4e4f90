"""Two processes that want one checkpoint, as two workers of pytest-xdist do."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.running.checkpoints.bench import KEY, Bench

PROCESS = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from pytest_kmigrate.running.checkpoints.store import Store
from tests.unit.running.checkpoints.bench import KEY, Bench

folder = Path(sys.argv[1])
bench = Bench(folder)
def make(disks):
    with (folder.parent / "made").open("a") as made:
        made.write("x")
    print("making", flush=True)
    input()
    return bench.make(disks)
bench.store = Store(folder, lambda text: print(text, flush=True), lambda: bench.now)
with bench.store.held(KEY, make) as checkpoint:
    print("holds", checkpoint.key.name, flush=True)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    """A process that wants the checkpoint, and makes it for as long as its standard input is silent."""
    command = [sys.executable, "-c", PROCESS, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def said(process: subprocess.Popen[str]) -> str:
    """Its next line."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.slow
def test_of_two_processes_one_makes_it_and_both_use_it(bench: Bench) -> None:
    """The other says that it waits."""
    with started(bench.folder) as first:
        assert said(first) == "making"
        with started(bench.folder) as second:
            assert said(second) == f"checkpoint {KEY.name}: another process is making it"
            first.communicate("\n")
            assert said(second) == f"holds {KEY.name}"
    assert (bench.folder.parent / "made").read_text() == "x"


@pytest.mark.slow
def test_a_maker_that_is_killed_keeps_nobody(bench: Bench) -> None:
    """Who waits for it makes it then."""
    with started(bench.folder) as first:
        assert said(first) == "making"
        with started(bench.folder) as second:
            assert said(second).endswith("another process is making it")
            first.kill()
            assert said(second) == "making"
            second.communicate("\n")
            assert second.returncode == 0
    assert bench.there == [KEY.name]
