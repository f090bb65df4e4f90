"""Facts about parts of the harness that stand still: recorded once each time, and no liveness is Kafka's then."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.run.doubts import machine_troubles
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History, RunHeader
from pytest_kmigrate.model.verdict import Kind
from pytest_kmigrate.probes.standstill import StandstillProbe
from pytest_kmigrate.providers.bench import MemoryRecorder
from pytest_kmigrate.waiting import until


@pytest.fixture
def part() -> Iterator[int]:
    """A process that stands for a part of the harness."""
    with subprocess.Popen(["sleep", "1000"]) as process:
        yield process.pid
        process.kill()


def state_of(pid: int) -> str:
    """As the kernel has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def send(pid: int, number: signal.Signals, state: str) -> None:
    """Signal it, and wait until it is so."""
    os.kill(pid, number)
    until(lambda: state_of(pid) == state, awaited=f"state {state}", within_s=30)


def test_each_standstill_is_recorded_once(part: int) -> None:
    """However often it is looked at; a second one is another."""
    recorder = MemoryRecorder()
    probe = StandstillProbe(recorder, lambda: {"the clients": part})
    probe.look()
    for _ in range(2):
        send(part, signal.SIGSTOP, "T")
        probe.look()
        probe.look()
        send(part, signal.SIGCONT, "S")
        probe.look()
    events = recorder.of(EventKind.HARNESS_TROUBLE)
    assert [each.data["what"] for each in events] == ["the clients of a cluster stand still"] * 2
    doubts = machine_troubles(History(RunHeader("r", "t", 1, "3.9.1", "small"), events))
    assert {each.kind for each in doubts} == {Kind.INFRA}


def test_a_part_that_has_ended_does_not_stand_still() -> None:
    """Its end is recorded elsewhere."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    recorder = MemoryRecorder()
    StandstillProbe(recorder, lambda: {"the clients": ended.pid}).look()
    assert recorder.events == []
