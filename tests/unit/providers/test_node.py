"""A node as seen without its JVM: what happens when it does not do what it is reported."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import psutil
import pytest

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import AwaitTimeoutError, NodeDiedError
from pytest_kmigrate.model.event import EventKind, RuleOutcome
from pytest_kmigrate.model.provider import Mutant
from pytest_kmigrate.providers.owned import node as room
from pytest_kmigrate.providers.owned.cluster import await_all_ready
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.node import OwnedNode
from pytest_kmigrate.providers.owned.protection.security import Protection
from pytest_kmigrate.providers.owned.supervision import Supervision
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from tests.unit.fakes import MemoryRecorder, topology


@pytest.fixture
def recorder() -> MemoryRecorder:
    """What the node reports."""
    return MemoryRecorder()


@pytest.fixture
def sleeper() -> Iterator[psutil.Popen]:
    """A process that does nothing."""
    with psutil.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def node_of(pid: int, signal_sent: Callable[[int, int], None], recorder: MemoryRecorder, tmp_path: Path) -> OwnedNode:
    """A node whose process is ``pid``, and whose signals go to ``signal_sent``."""
    shape = topology()
    supervision = cast("Supervision", SimpleNamespace(signal=signal_sent, is_lost=False))
    has = {"has_byteman": lambda _spec: False, "is_watched": lambda _spec: False, "mutant_of": lambda _spec, _of: None}
    jvm = cast("Jvm", SimpleNamespace(**has))
    around = Surroundings(
        Addresses(shape, 7),
        Protection(shape.security, tmp_path / "security"),
        supervision,
        jvm,
        recorder,
        tmp_path / "scratch",
        tmp_path / "logs",
        lambda kafka: Distribution(kafka, (), "digest"),
    )
    node = OwnedNode(shape.node("broker-0"), cast("Distribution", None), around)
    node.pid = pid
    node._ended.clear()
    return node


def test_a_process_that_outlives_its_sigkill_does_not_keep_us_for_ever(
    tmp_path: Path, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs in the kernel ends as an error that names it, and never as stopped."""
    monkeypatch.setattr(room, "_KILLED_WITHIN_S", 0)
    monkeypatch.setattr(room, "_DUMPED_WITHIN_S", 0)
    node = node_of(1 << 30, lambda _pid, _number: None, recorder, tmp_path)
    with pytest.raises(AwaitTimeoutError, match="the end of broker-0, which was killed: not within 0 s"):
        node.stop(within_s=0)
    assert recorder.events == []


def test_a_pause_returns_when_the_process_stands_still(
    tmp_path: Path, recorder: MemoryRecorder, sleeper: psutil.Popen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel stops the threads one by one after the signal: what takes longer is waited for."""
    looks: list[str] = []
    look = psutil.Process.status

    def stopped_at_the_third_look(process: psutil.Process) -> str:
        looks.append(look(process))
        if len(looks) == 2:
            sleeper.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
        return looks[-1]

    node = node_of(sleeper.pid, lambda _pid, _number: None, recorder, tmp_path)
    monkeypatch.setattr(psutil.Process, "status", stopped_at_the_third_look)
    node.pause()
    assert looks[-1] == psutil.STATUS_STOPPED
    assert len(looks) == 3
    assert [event.kind for event in recorder.events] == [EventKind.NODE_PAUSED]


def test_a_process_that_never_stands_still_is_told(
    tmp_path: Path, recorder: MemoryRecorder, sleeper: psutil.Popen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is an error that names it and its state, and never a pause."""
    monkeypatch.setattr(room, "_STILL_WITHIN_S", 0)
    node = node_of(sleeper.pid, lambda _pid, _number: None, recorder, tmp_path)
    with pytest.raises(AwaitTimeoutError, match=f"broker-0 standing still: not within 0 s.*process {sleeper.pid} "):
        node.pause()
    assert recorder.events == []


@pytest.mark.parametrize(
    ("exits", "expected"),
    [
        ({signal.SIGTERM: 143}, {"how": "controlled", "exit_code": 143, "said": ""}),
        ({signal.SIGTERM: 1}, {"how": "controlled", "exit_code": 1, "said": "ERROR out of memory"}),
        ({signal.SIGKILL: -9}, {"how": "hung", "exit_code": -9, "said": "ERROR out of memory"}),
    ],
    ids=["as told", "by an error", "not at all"],
)
def test_how_a_controlled_stop_ended_is_told(
    tmp_path: Path,
    recorder: MemoryRecorder,
    monkeypatch: pytest.MonkeyPatch,
    exits: dict[int, int],
    expected: dict[str, object],
) -> None:
    """Its last words only where it did not end as it should; one that goes on is killed."""

    def signalled(_pid: int, number: int) -> None:
        if number in exits:
            node._on_exit(exits[number])

    node = node_of(1 << 30, signalled, recorder, tmp_path)
    node.log.write_text("ERROR out of memory\n")
    monkeypatch.setattr(room, "_DUMPED_WITHIN_S", 0.1)
    node.stop(within_s=0)
    (stopped,) = recorder.of(EventKind.NODE_STOPPED)
    assert {key: stopped.data[key] for key in expected} == expected


def test_a_process_that_ended_stands_still(tmp_path: Path, recorder: MemoryRecorder) -> None:
    """As far as a pause waits for it: its end may not have been announced yet. It says itself that it does not."""
    node = node_of(1 << 30, lambda _pid, _number: None, recorder, tmp_path)
    node.pause()
    assert not node.stands_still


def test_a_death_ends_the_wait_for_every_node(
    tmp_path: Path, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without their majority the others never get ready: the user gets the last words of the dead one, and at once."""
    monkeypatch.setattr(room, "ready", lambda _role, _address: False)
    waiting, dead = (node_of(1 << 30, lambda _pid, _number: None, recorder, tmp_path / name) for name in "ab")
    dead.log.write_text("no such cluster id")
    dead._on_exit(1)
    with pytest.raises(NodeDiedError, match="no such cluster id"):
        await_all_ready([waiting, dead])


def test_a_node_that_a_fault_killed_ends_the_wait_for_no_other(
    tmp_path: Path, recorder: MemoryRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault starts it again; how it ended is raised when the others are ready."""
    waiting, killed = (
        node_of(1 << 30, lambda _pid, _number: killed._on_exit(-9), recorder, tmp_path / name) for name in "ab"
    )
    asked: list[str] = []

    def late(*_: object) -> bool:
        asked.append("once more")
        return len(asked) > 10

    killed.kill()
    monkeypatch.setattr(room, "ready", late)
    for looked_at in ("must_be_its_jvm", "record_requests"):
        monkeypatch.setattr(room, looked_at, lambda *_: None)
    waiting.distribution = Distribution("3.9.1", (), "digest")
    with pytest.raises(NodeDiedError, match="exit code -9"):
        await_all_ready([waiting, killed])
    assert [event.data["how"] for event in recorder.of(EventKind.NODE_STOPPED)] == ["killed"]
    assert len(recorder.of(EventKind.NODE_READY)) == 1


def test_a_thread_that_died_is_told_once(recorder: MemoryRecorder, tmp_path: Path) -> None:
    """When a step has failed, and again when the run is judged: only what came since."""
    node = node_of(1, lambda _pid, _number: None, recorder, tmp_path)
    node.log.write_text("1 ERROR [a]: Error due to (x)\nfirst\n")
    node.tell_dead_threads()
    node.log.write_text(node.log.read_text() + "2 ERROR [b]: Error due to (x)\nsecond\n")
    node.tell_dead_threads()
    assert [event.data for event in recorder.of(EventKind.THREAD_DIED)] == [
        {"thread": "a", "said": "first"},
        {"thread": "b", "said": "second"},
    ]


@pytest.mark.parametrize(
    ("log", "outcome"),
    [
        ("INFO starting\nkmigrate.planted: org.acme.A$B\n1 ERROR fatal fault\n", RuleOutcome.CARRIED_OUT),
        ("kmigrate.planted: org.acme.A$BC\n", RuleOutcome.NOWHERE),
        ("1 ERROR fatal fault\n", RuleOutcome.NOWHERE),
    ],
    ids=["loaded", "another class", "none"],
)
def test_a_node_that_dies_at_once_has_reported_its_mutant(
    tmp_path: Path, recorder: MemoryRecorder, log: str, outcome: RuleOutcome
) -> None:
    """By its log: nothing could ask a process that has ended, and one that is asked to stop loads classes for that."""
    node = node_of(1 << 30, lambda _pid, _number: None, recorder, tmp_path)
    mutant = Mutant("m", "org.acme.A$B", tmp_path / "mutant.class")
    cast("SimpleNamespace", node._around.jvm).mutant_of = lambda _spec, _of: mutant
    node.log.write_text(log)
    node._on_exit(1)
    assert [event.kind for event in recorder.events] == [EventKind.RULES_TOLD, EventKind.NODE_DIED]
    assert recorder.events[0].data == {"rules": {"m": outcome}}


def test_a_node_finds_itself_alone_and_the_others_again(tmp_path: Path, recorder: MemoryRecorder) -> None:
    """Its hosts file is what its JVM reads for each look-up."""
    node = node_of(1 << 30, lambda _pid, _number: None, recorder, tmp_path)
    whole = node.hosts.read_text()
    node.find_others(by_name=False)
    assert [line.split()[1] for line in node.hosts.read_text().splitlines()] == ["localhost", "broker-0"]
    node.find_others(by_name=True)
    assert node.hosts.read_text() == whole
    assert [each.name for each in node.hosts.parent.glob("hosts*")] == ["hosts"]
