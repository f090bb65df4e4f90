"""The harness under chaos: killed, stopped or without room, it blames Kafka for nothing and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.run.pressure import strains
from pytest_kmigrate.judging.rejudge import judge_again
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.verdict import Kind, Outcome
from pytest_kmigrate.providers.owned.software import software_for
from pytest_kmigrate.topology.loading import find, load
from pytest_kmigrate.waiting import until
from tests.real.chaos import GOES_ON, WAITS, session
from tests.real.providers import chaos_in_containers
from tests.real.providers.private_engine import private_engine

SHAPE = "kraft-combined1"
ONE = ("--kmigrate-topology", SHAPE)
_STOPPED_S = 25
_ROOM = "24m"


def test_a_harness_that_is_killed_or_stopped_says_nothing_of_kafka(tmp_path: Path) -> None:
    """Two sessions at once: Toxiproxy of the one is killed, pytest of the other is stopped for 25 s and continued."""
    with session(tmp_path / "killed", WAITS, *ONE) as killed, session(tmp_path / "stopped", GOES_ON, *ONE) as stopped:
        os.kill(stopped.pytest.pid, signal.SIGSTOP)
        stopped_at = time.monotonic()
        killed.kill("toxiproxy-server")
        killed.has_ended()
        assert killed.losses == ["links"]
        killed.is_spared()
        assert "the links' proxies are gone (exit code -9)" in killed.output
        until(lambda: time.monotonic() - stopped_at > _STOPPED_S, awaited="the time it is stopped", within_s=60)
        os.kill(stopped.pytest.pid, signal.SIGCONT)
        stopped.go_on()
        stopped.has_ended()
    stopped.is_spared()
    late = [each.data["late_ms"] for each in stopped.events if each.kind is EventKind.MACHINE_PRESSURE]
    assert max(map(int, map(str, late))) > (_STOPPED_S - 5) * 1000
    assert {each.kind for each in stopped.verdicts if each.outcome is Outcome.INCONCLUSIVE} == {Kind.HARNESS}
    assert judge_again(killed.run.path).differences == ()


def test_a_killed_supervisor_takes_the_nodes_along_and_blames_nobody(tmp_path: Path) -> None:
    """The nodes are gone, and did not die; what the supervisor would have ended is ended without it."""
    with session(tmp_path / "one", WAITS, *ONE) as one:
        one.kill("supervisor.py")
        one.has_ended()
        one.is_spared()
        assert one.losses[0] == "supervisor"
        assert [each.data["how"] for each in one.events if each.kind is EventKind.NODE_STOPPED] == ["gone"]
        assert "memory" not in one.output


@pytest.mark.nightly
def test_a_ctrl_c_ends_a_wait_soon(tmp_path: Path) -> None:
    """Nothing is read back, no thread is looked at, and what there is of the run is judged."""
    with session(tmp_path / "one", WAITS, *ONE) as one:
        one.pytest.send_signal(signal.SIGINT)
        one.has_ended(pytest.ExitCode.INTERRUPTED)
        one.is_spared()
        assert "kmigrate runs interrupted" in one.output


def test_a_run_folder_without_room_is_one_clear_error(tmp_path: Path, small_disk: Path) -> None:
    """The recorder says so, the session ends as any other, and what could not be written is no verdict."""
    with session(tmp_path / "one", WAITS, *ONE, runs=small_disk / "runs") as one:
        _fill(small_disk)
        one.has_ended()
        assert "make room" in one.output
        assert not [each for each in one.verdicts if each.outcome in (Outcome.CONFORMS, Outcome.VIOLATES)]


@pytest.mark.nightly
def test_a_machine_with_a_load_of_others_is_recognized(tmp_path: Path) -> None:
    """As many busy programs as 22 for each processor, and one: what then came late was not Kafka's doing."""
    loops = [sys.executable, "-c", "while True: pass"]
    with session(tmp_path / "one", GOES_ON, *ONE) as one, ExitStack() as busy:
        for _ in range(22 * (os.cpu_count() or 1) + 1):
            busy.callback(busy.enter_context(subprocess.Popen(loops)).kill)
        until(lambda: len(strains(one.history)) > 1, awaited="two spans under pressure", within_s=120, every_s=1)
        busy.close()
        one.go_on()
        one.has_ended(0, 1)
    assert {each.kind for each in strains(one.history)} == {Kind.INFRA}
    assert not [each for each in one.verdicts if each.outcome is Outcome.VIOLATES]


def test_an_engine_that_is_lost_blames_nobody(tmp_path: Path) -> None:
    """In the namespace of an engine of the tests' own, which is killed."""
    software_for(load(find(SHAPE)), print)
    with private_engine() as engine:
        engine.pytest(tmp_path / "state", str(chaos_in_containers.__file__))


def _fill(folder: Path) -> None:
    with suppress(OSError), (folder / "filling").open("wb", buffering=0) as filling:
        while True:
            filling.write(b"x" * 4096)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk in memory."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "kmigrate-chaos", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine allows no mount: the tests do not run as root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
