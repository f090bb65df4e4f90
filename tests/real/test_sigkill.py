"""SIGKILL of pytest in the middle of a live migration leaves no process, port, folder or lease behind."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.waiting import NotYet, until

SIGKILLS = int(os.environ.get("KMIGRATE_SIGKILLS", "3"))
"""How often pytest is killed; a nightly run raises it."""
REACHED_WITHIN_S = 300
GONE_WITHIN_S = 60
MOST_EVENTS_LATER = 15
MOMENTS = (
    (EventKind.FAULT_APPLIED, 1),  # a link is cut
    (EventKind.NODE_STOPPED, 2),  # the broker is down, on its way to KRaft mode; once before it was to join
    (EventKind.ACTIVE_CONTROLLER, 2),  # the controller has taken over from the broker
    (EventKind.NODE_STARTED, 1),
    (EventKind.NODE_STOPPED, 1),
    (EventKind.FAULT_HEALED, 1),
    (EventKind.STEP_ENDED, 1),  # the quorum is provisioned
    (EventKind.NODE_STOPPED, 3),  # the controller, to be finalized
)
"""When pytest is killed: as soon as that many events of this kind are there; past the list, some events later."""
TOPOLOGY = """
# The fewest nodes that clients can write to, and that migrate.
name = "zk1-broker1-controller1"
kafka = "3.9.1"
[zookeeper]
count = 1
[broker]
count = 1
[controller]
count = 1
first_id = 3000
start = "later"
"""
TEST = """
from pytest_kmigrate import Cut, Phase, Role, targets

def test_until_killed(workload, cluster_metadata, migration, inject):
    cluster_metadata.change(per_s=5)  # so that there is always another event
    migration.advance_to(Phase.HYBRID)
    with inject(Cut(targets.node("broker-0"), targets.every(Role.CONTROLLER))) as cut:
        cut.await_bitten()
        workload.await_acked(1000)
    migration.advance_to(Phase.FINALIZED)
    while True:
        workload.await_acked(50)
"""


def belonging_to(state: Path) -> dict[str, str]:
    """The command line's end and the name of every process that was started with this state folder; one may end now."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("KMIGRATE_STATE") == str(state) and process.status() != psutil.STATUS_ZOMBIE:
                found[f"process {process.pid} {' '.join(process.cmdline()[-2:])}"] = process.name()
    return found


def left_behind(state: Path) -> list[str]:
    """Processes, and with them ports and leases, which live only as long as somebody holds them; folders."""
    return [*belonging_to(state), *(str(path) for path in state.iterdir() if path.is_dir())]


def kinds_in(runs: Path) -> list[str]:
    """The kinds of all events of the one run, in order; a last line without its newline is still being written."""
    whole = [line for file in runs.glob("*/history.jsonl") for line in file.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line)["kind"] for line in whole]


@pytest.mark.parametrize("number", range(SIGKILLS))
def test_nothing_is_left(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever pytest was doing when it was killed: starting nodes, rolling them, or with a fault in force."""
    state, reported = tmp_path / "state", tmp_path / "told.txt"
    state.mkdir()
    monkeypatch.setenv("KMIGRATE_STATE", str(state))
    (tmp_path / "shape.toml").write_text(TOPOLOGY)
    (tmp_path / "conftest.py").write_text("from pytest_kmigrate.suites.kip_866.fixtures import *")
    (tmp_path / "test_inner.py").write_text(TEST)
    kind, count = MOMENTS[number % len(MOMENTS)]
    chance = random.Random(f"sigkill-{number}")
    later = chance.randrange(MOST_EVENTS_LATER) if number >= len(MOMENTS) else 0
    options = ["--kmigrate-topology", "shape.toml", "--kmigrate-runs", "runs"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_inner.py"]
    with reported.open("wb") as output, subprocess.Popen(command, cwd=tmp_path, stdout=output) as inner:

        def reached() -> bool | NotYet:
            kinds = kinds_in(tmp_path / "runs")
            places = [place for place, each in enumerate(kinds) if each == kind]
            return (len(places) >= count and len(kinds) > places[count - 1] + later) or NotYet(kinds[-3:])

        def alive() -> None:
            assert inner.poll() is None, reported.read_text()

        try:
            until(reached, awaited=f"{kind} {count}, and {later} events", within_s=REACHED_WITHIN_S, abort=alive)
            met = set(belonging_to(state).values())
        finally:
            inner.send_signal(signal.SIGKILL)
    assert inner.returncode == -signal.SIGKILL
    assert {"java", "toxiproxy-server"} <= met

    def nothing() -> bool | NotYet:
        left = left_behind(state)
        return not left or NotYet(left)

    assert until(nothing, awaited="nothing left of a killed run", within_s=GONE_WITHIN_S)
