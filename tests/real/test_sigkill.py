"""SIGKILL of pytest at random moments of a live run leaves no process, port, folder or lease behind."""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.waiting import NotYet, until

pytestmark = pytest.mark.real
SIGKILLS = int(os.environ.get("KMIGRATE_SIGKILLS", "3"))
"""How often pytest is killed; a nightly run raises it."""
LONGEST_S = 20.0
GONE_WITHIN_S = 60
TOPOLOGY = """
# The fewest nodes that clients can write to.
name = "zk1-broker1"
kafka = "3.9.1"
[zookeeper]
count = 1
[broker]
count = 1
"""
TEST = """
def test_until_killed(workload):
    while True:
        workload.await_acked(50)
"""


def belonging_to(state: Path) -> Iterator[psutil.Process]:
    """Every process that was started with this state folder in its environment."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("KMIGRATE_STATE") == str(state) and process.status() != psutil.STATUS_ZOMBIE:
                yield process


def left_behind(state: Path) -> list[str]:
    """Processes, and with them ports and leases, which live only as long as somebody holds them; folders."""
    left = [f"process {process.pid} {' '.join(process.cmdline()[-2:])}" for process in belonging_to(state)]
    return [*left, *(str(path) for path in state.iterdir() if path.is_dir())]


@pytest.mark.parametrize("number", range(SIGKILLS))
def test_nothing_is_left(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever pytest was doing when it was killed: preparing, starting nodes, or in full traffic."""
    state = tmp_path / "state"
    state.mkdir()
    monkeypatch.setenv("KMIGRATE_STATE", str(state))
    (tmp_path / "shape.toml").write_text(TOPOLOGY)
    (tmp_path / "test_inner.py").write_text(TEST)
    chance = random.Random(f"sigkill-{number}")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--kmigrate-topology", "shape.toml"]
    with subprocess.Popen([*command, "test_inner.py"], cwd=tmp_path, stdout=subprocess.DEVNULL) as inner:
        until(lambda: list(state.iterdir()), awaited="the first trace of a cluster", within_s=GONE_WITHIN_S)
        with suppress(subprocess.TimeoutExpired):
            inner.wait(chance.uniform(0, LONGEST_S))
        inner.send_signal(signal.SIGKILL)
    assert inner.returncode == -signal.SIGKILL

    def nothing() -> bool | NotYet:
        left = left_behind(state)
        return not left or NotYet(left)

    assert until(nothing, awaited="nothing left of a killed run", within_s=GONE_WITHIN_S)
