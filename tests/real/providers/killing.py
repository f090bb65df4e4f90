"""Kills pytest by SIGKILL in the middle of a live migration, on whatever provider, and waits until nothing is left."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import psutil

from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.waiting import NotYet, until

SIGKILLS = int(os.environ.get("KMIGRATE_SIGKILLS", "3"))
"""How often pytest is killed; a nightly run raises it."""
REACHED_WITHIN_S = 300
GONE_WITHIN_S = 60
MOST_EVENTS_LATER = 15
PROGRAMS = frozenset({"java", "toxiproxy-server"})
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


class Looking(Protocol):
    """Looks at what a run has on this machine."""

    def met(self) -> set[str]:
        """The names of the programs that run now."""
        ...

    def left(self) -> list[str]:
        """Everything of it that is there still."""
        ...


def started_with(state: Path) -> dict[str, str]:
    """The command line's end and the name of every process that was started with this state folder; one may end now."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("KMIGRATE_STATE") == str(state) and process.status() != psutil.STATUS_ZOMBIE:
                found[f"process {process.pid} {' '.join(process.cmdline()[-2:])}"] = process.name()
    return found


def kinds_in(runs: Path) -> list[str]:
    """The kinds of all events of the one run, in order; a last line without its newline is still being written."""
    whole = [line for file in runs.glob("*/history.jsonl") for line in file.read_bytes().split(b"\n")[:-1]]
    return [json.loads(line)["kind"] for line in whole]


def kill_in_the_middle(number: int, folder: Path, state: Path, provider: str, looking: Looking) -> None:
    """Whatever pytest was doing when it was killed: starting nodes, rolling them, or with a fault in force."""
    reported = folder / "told.txt"
    (folder / "shape.toml").write_text(TOPOLOGY)
    (folder / "conftest.py").write_text("from pytest_kmigrate.suites.kip_866.fixtures import *")
    (folder / "test_inner.py").write_text(TEST)
    kind, count = MOMENTS[number % len(MOMENTS)]
    chance = random.Random(f"sigkill-{number}")
    later = chance.randrange(MOST_EVENTS_LATER) if number >= len(MOMENTS) else 0
    options = ["--kmigrate-provider", provider, "--kmigrate-topology", "shape.toml", "--kmigrate-runs", "runs"]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, "test_inner.py"]
    environment = {**os.environ, "KMIGRATE_STATE": str(state)}
    with reported.open("wb") as output, subprocess.Popen(command, cwd=folder, stdout=output, env=environment) as inner:

        def reached() -> bool | NotYet:
            kinds = kinds_in(folder / "runs")
            places = [place for place, each in enumerate(kinds) if each == kind]
            return (len(places) >= count and len(kinds) > places[count - 1] + later) or NotYet(kinds[-3:])

        def alive() -> None:
            assert inner.poll() is None, reported.read_text()

        try:
            until(reached, awaited=f"{kind} {count}, and {later} events", within_s=REACHED_WITHIN_S, abort=alive)
            until(lambda: looking.met() >= PROGRAMS, awaited=f"{PROGRAMS} of the run", within_s=GONE_WITHIN_S)
        finally:
            inner.send_signal(signal.SIGKILL)
    assert inner.returncode == -signal.SIGKILL

    def nothing() -> bool | NotYet:
        left = looking.left()
        return not left or NotYet(left)

    assert until(nothing, awaited="nothing left of a killed run", within_s=GONE_WITHIN_S)
