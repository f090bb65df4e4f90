"""Facts about what a process is granted: what shows that a fault took it, and that leaving gives it back."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.resources import Clock, FewFiles, FillDisk, SlowFsync, Starve, TornTail
from pytest_kmigrate.faults.targets import node
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.protocols import Restricted, Stood
from tests.unit.fakes import Stage

ONE = node("broker-1")
OFFLINE = ("broker-1", "OfflineLogDirectoryCount")


def witnessed(stage: Stage) -> list[str]:
    """The sentences of all witnesses."""
    return [str(event.data["witness"]) for event in stage.of(EventKind.FAULT_WITNESSED)]


def test_a_broker_with_a_full_disk_may_end_and_is_started_when_there_is_room(stage: Stage) -> None:
    """The event says that it may."""
    broker = stage.cluster.node("broker-1")
    with inject(stage.scene, FillDisk(ONE)):
        assert broker.restricted == {Restricted.FILE_SIZE: 0}
        broker.kill()
    assert (broker.restricted, broker.alive, broker.incarnation) == ({}, True, 2)
    assert witnessed(stage) == ["broker-1 ended with a full disk"]
    (applied,) = stage.of(EventKind.FAULT_APPLIED)
    assert (applied.data["takes"], applied.data["may_end"]) == ("disk", True)


@pytest.mark.parametrize(("count", "words"), [(1.0, ["broker-1 reports 1 offline log directories"]), (None, [])])
def test_a_directory_that_kafka_took_offline_is_a_witness(stage: Stage, count: float | None, words: list[str]) -> None:
    """Without it nothing shows that the broker wrote anything meanwhile."""
    with inject(stage.scene, FillDisk(ONE)):
        if count is not None:
            stage.view.metrics[OFFLINE] = count
    assert witnessed(stage) == words
    assert stage.cluster.node("broker-1").incarnation == 2


@pytest.fixture
def listening(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    """Where broker-1 takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        monkeypatch.setattr(type(stage.cluster), "peer", lambda *_: Peer(address, {}))
        yield server


@pytest.mark.parametrize("says", [True, False])
def test_a_broker_without_files_is_dialled_until_it_says_so(
    stage: Stage, listening: socket.socket, *, says: bool
) -> None:
    """What it said before the fault is no witness; one that stays up, and lost no directory, is not restarted."""
    broker = stage.cluster.node("broker-1")
    broker.log.parent.mkdir(parents=True, exist_ok=True)
    broker.log.write_text("java.io.IOException: Too many open files\n")
    with inject(stage.scene, FewFiles(ONE, 2)):
        assert broker.restricted == {Restricted.OPEN_FILES: 2}
        for _ in range(3):
            listening.accept()[0].close()
        if says:
            with broker.log.open("a") as log:
                log.write("Error while accepting connection (java.io.IOException: Too many open files)\n")
    assert (broker.restricted, broker.incarnation) == ({}, 1)
    assert witnessed(stage) == (["broker-1 says 'Too many open files'"] if says else [])


def test_a_broker_that_lost_a_directory_by_it_is_started_again(stage: Stage, listening: socket.socket) -> None:
    """As is one that ended."""
    with inject(stage.scene, FewFiles(ONE)):
        stage.view.metrics[OFFLINE] = 1
    assert listening
    assert stage.cluster.node("broker-1").incarnation == 2


def test_a_broker_that_ended_and_is_not_known_to_have_yet_is_started_again(
    stage: Stage, listening: socket.socket
) -> None:
    """It listens no more; its end is known when its output has been read, later than the fault is healed."""
    broker = stage.cluster.node("broker-1")
    known = threading.Timer(0.2, broker.kill)
    with inject(stage.scene, FewFiles(ONE)):
        listening.close()
        known.start()
    assert (broker.alive, broker.incarnation) == (True, 2)


@pytest.mark.parametrize(
    ("stood", "words"), [(Stood(9, 700), ["broker-1 stood still 9 times, 700 ms"]), (Stood(1, 80), [])]
)
def test_a_starved_node_has_stood_still_for_a_while(stage: Stage, stood: Stood, words: list[str]) -> None:
    """A single time proves no lack of time."""
    broker = stage.cluster.node("broker-1")
    broker.stood = stood
    with inject(stage.scene, Starve(ONE, 30)):
        assert broker.starved_to == 30
    assert broker.starved_to is None
    assert witnessed(stage) == words


@pytest.mark.parametrize("synced", [True, False])
def test_a_slow_fsync_is_seen_when_one_is_made(stage: Stage, *, synced: bool) -> None:
    """The nodes that made one are named."""
    stage.cluster.synced = {"broker-1"} if synced else set()
    with inject(stage.scene, SlowFsync(ONE, 250)):
        assert stage.cluster.armed == {"fsync 250"}
    assert not stage.cluster.armed
    assert witnessed(stage) == (["an fsync of broker-1 was delayed"] if synced else [])


@pytest.mark.parametrize(("forward", "offset_s"), [(False, -600), (True, 600)])
def test_a_clock_is_off_by_what_the_node_itself_reports_and_right_again(
    stage: Stage, *, forward: bool, offset_s: int
) -> None:
    """In its name, too."""
    broker, fault = stage.cluster.node("broker-1"), Clock(ONE, forward=forward)
    with inject(stage.scene, fault):
        assert broker.clock_offset_s == offset_s
    assert broker.clock_offset_s == 0
    assert str(fault) == f"clock(broker-1, {offset_s:+d} s)"
    assert witnessed(stage) == [f"broker-1 reports a time {offset_s:+d} s from this machine's"]


@pytest.mark.parametrize("ahead_s", [None, -300.0])
def test_a_clock_that_is_not_off_as_far_is_no_witness(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, ahead_s: float | None
) -> None:
    """Nor is a node that does not answer."""
    monkeypatch.setattr(type(stage.cluster), "clock_of", lambda *_: ahead_s and time.time() + ahead_s)
    with inject(stage.scene, Clock(ONE)):
        pass
    assert witnessed(stage) == []


@pytest.mark.parametrize(
    ("tails", "words"),
    [({"orders-0/0.log": 70, "orders-1/0.log": 900}, ["broker-1: 2 files lost 170 bytes"]), ({}, [])],
)
def test_a_broker_that_was_killed_has_lost_the_end_of_its_files(
    stage: Stage, tails: dict[str, int], words: list[str]
) -> None:
    """Without a file that has any bytes nothing was torn; it is started again either way."""
    broker = stage.cluster.node("broker-1")
    broker.tails = tails
    with inject(stage.scene, TornTail(ONE)):
        assert not broker.alive
    assert (broker.alive, broker.incarnation) == (True, 2)
    assert witnessed(stage) == words
