"""Members of a group under test: commands that play their part, and what becomes of the lines that they print."""

import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import psutil
import pytest

from pytest_kmigrate.model.errors import ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.recording.operation_parts import PartWriter, read_operations
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.record_value import decode, encode_as_text
from pytest_kmigrate.workloads.members import member as member_module
from pytest_kmigrate.workloads.members.contract import line_of
from pytest_kmigrate.workloads.members.member import MemberPlace, MemberSettings, RunningMember
from tests.unit.fakes import MemoryRecorder

AT_WORK = [
    {"name": "startup_complete", "consumer_id": "g_1"},
    {
        "name": "partitions_assigned",
        "partitions": [{"topic": "t", "partition": 0, "position": 5}],
        "source": "zookeeper",
    },
    {"name": "records_consumed", "count": 2, "records": [["t", 0, 5, "kmt1:1:7:"], ["t", 0, 6, "by others"]]},
    {"name": "offsets_committed", "offsets": [{"topic": "t", "partition": 0, "offset": 7}], "store": "kafka"},
    {"name": "offsets_committed", "offsets": [{"topic": "t", "partition": 0, "offset": 7}], "store": "zookeeper"},
    {"name": "kafka_assigned", "partitions": [{"topic": "t", "partition": 1}]},
    {"name": "coordination_mode", "mode": "kafka", "why": "the mode node"},
    {"name": "metrics", "gauges": {"a": 1}},
    {"name": "metrics", "gauges": {"a": 1}},
    {"name": "warning", "code": "lease-lost", "text": "late"},
    {"name": "partitions_revoked", "partitions": [{"topic": "t", "partition": 0}], "why": "toggled"},
]
PLAYED = """
import sys
for line in {lines!r}:
    print(line, flush=True)
{then}
"""
UNTIL_STOPPED = 'while "stop" not in sys.stdin.readline(): pass'

Play = Callable[..., RunningMember]


@pytest.fixture
def recorder() -> MemoryRecorder:
    """Where events go."""
    return MemoryRecorder()


@pytest.fixture
def play(tmp_path: Path, recorder: MemoryRecorder) -> Iterator[Play]:
    """``play(lines, then)``: a member that prints these lines and then does what a piece of Python says."""
    spawned: list[Popen[bytes]] = []

    def spawn(argv: object, errors: Path) -> Popen[bytes]:
        errors.parent.mkdir(exist_ok=True)
        with errors.open("ab") as said:
            spawned.append(Popen(argv, stdin=PIPE, stdout=PIPE, stderr=said, process_group=0))  # type: ignore[call-overload]
        return spawned[-1]

    numbers = itertools.count(1)
    place = MemberPlace(
        *(spawn, tmp_path, tmp_path / "logs", recorder, time.monotonic_ns()),
        number=lambda: next(numbers),
        names=lambda: {"broker-0": "127.0.0.1"},
        rows=lambda name, client: PartWriter(tmp_path / "operations", f"{name}-{client}"),
    )

    def played(lines: list[dict[str, object]] | None = None, then: str = UNTIL_STOPPED) -> RunningMember:
        script = tmp_path / "member.py"
        printed = [json.dumps(each) for each in (AT_WORK if lines is None else lines)]
        script.write_text(PLAYED.format(lines=printed, then=then))
        settings = MemberSettings("MEZKCC-1", "MEZKCC", "g", {"t": 1}, {"group.id": "g"})
        return RunningMember([sys.executable, str(script)], settings, place)

    yield played
    for process in spawned:
        process.kill()
        process.wait()


def test_lines_become_events_and_rows(play: Play, recorder: MemoryRecorder, tmp_path: Path) -> None:
    """What there are many of are rows of operations; commits to ZooKeeper are in its own log."""
    member = play()
    member.start()
    member.await_started(20)
    member.stop()
    (owns,), (released,) = recorder.of(EventKind.MEMBER_OWNS), recorder.of(EventKind.MEMBER_RELEASED)
    assert owns.data["partitions"] == [["t", 0, 5]]
    assert (released.data["partitions"], released.data["why"]) == ([["t", 0]], "toggled")
    assert [event.data["mode"] for event in recorder.of(EventKind.MEMBER_MODE)] == ["kafka"]
    assert len(recorder.of(EventKind.MEMBER_GAUGES)) == 1
    assert [event.data["what"] for event in recorder.of(EventKind.MEMBER_REPORTED)] == ["warning"]
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["stopped"]
    rows = read_operations(tmp_path / "operations")
    assert rows.kind.tolist() == [OperationKind.CONSUME, OperationKind.CONSUME, OperationKind.COMMIT]
    assert list(zip(rows.producer.tolist(), rows.sequence.tolist(), strict=True)) == [(1, 7), (-1, -1), (-1, -1)]
    assert set(rows.client.tolist()) == {1}


def test_a_member_that_refuses_its_settings_is_no_death(play: Play, recorder: MemoryRecorder) -> None:
    """Status 2 before it is constructed; its last words are kept."""
    member = play([], 'sys.stderr.write("group.id: expected a value\\n"); sys.exit(2)')
    member.start()
    assert member.await_ended(20) == 2
    (end,) = recorder.of(EventKind.MEMBER_ENDED)
    assert (end.data["how"], end.data["said"]) == ("refused", "group.id: expected a value")
    with pytest.raises(NodeDiedError, match="MEZKCC-1"):
        member.await_started(5)


@pytest.mark.parametrize("then", ["sys.exit(1)", "sys.exit(0)"])
def test_a_member_that_ends_of_itself_died(play: Play, recorder: MemoryRecorder, then: str) -> None:
    """Whatever its status is."""
    member = play(then=then)
    member.start()
    member.await_ended(20)
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["died"]


def test_a_member_that_hangs_at_its_stop_is_killed(play: Play, recorder: MemoryRecorder) -> None:
    """That counts as its death."""
    member = play(then="while True: sys.stdin.readline() or __import__('signal').pause()")
    member.start()
    member.await_started(20)
    member.stop(within_s=0.2)
    assert not member.alive
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["died"]


def test_a_member_is_paused_killed_and_started_again(play: Play, recorder: MemoryRecorder) -> None:
    """Its next life is another client."""
    member = play()
    member.start()
    member.await_started(20)
    with pytest.raises(WrongUseError, match="MEZKCC-1: expected a member that is not alive"):
        member.start()
    member.pause()
    assert member.stands_still
    member.resume()
    until(lambda: not member.stands_still, awaited="the member going on", within_s=5)
    member.kill()
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["killed"]
    member.start()
    member.await_started(20)
    assert [event.data["client"] for event in recorder.of(EventKind.MEMBER_STARTED)] == [1, 2]
    member.stop()


BEHIND_A_SCRIPT = """
import os, subprocess
def wrapped():
    child = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'])
    print('{"name": "child", "pid": %d}' % child.pid, flush=True)
    return child
"""


def pid_of_child(recorder: MemoryRecorder) -> int:
    """What the script started, as it printed it."""
    (event,) = until(lambda: recorder.of(EventKind.MEMBER_REPORTED), awaited="the script's child", within_s=20)
    return int(event.data["content"]["pid"])  # type: ignore[index, call-overload]


def test_a_start_script_is_stopped_and_killed_with_its_consumer(play: Play, recorder: MemoryRecorder) -> None:
    """A script without ``exec`` leaves the JVM as its child, which a signal to the script alone would not reach."""
    member = play(AT_WORK[:1], f"{BEHIND_A_SCRIPT}\nsys.exit(wrapped().wait())")
    member.start()
    child = psutil.Process(pid_of_child(recorder))
    member.pause()
    assert child.status() == psutil.STATUS_STOPPED
    member.resume()
    until(lambda: child.status() != psutil.STATUS_STOPPED, awaited="the consumer going on", within_s=5)
    member.kill()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE, awaited="its end", within_s=5)
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["killed"]


@pytest.mark.parametrize("session", ["", "start_new_session=True, "])
def test_a_script_that_ends_before_its_consumer_is_a_death(
    play: Play, recorder: MemoryRecorder, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The consumer goes on, and prints into a pipe that nothing ends: it is killed, or named if it cannot be found."""
    monkeypatch.setattr(member_module, "_READ_WITHIN_S", 0.5)
    script = BEHIND_A_SCRIPT.replace("import sys; sys.stdin.read()", "import signal; signal.alarm(30); signal.pause()")
    script = script.replace("'])", f"'], {session.rstrip(', ')})")
    member = play(AT_WORK[:1], f"{script}\nwrapped()\n{UNTIL_STOPPED}\nos._exit(0)")
    member.start()
    child = psutil.Process(pid_of_child(recorder))
    if session:
        with pytest.raises(ClusterError, match="MEZKCC-1: expected its output to end with its process"):
            member.stop()
        child.kill()
    else:
        member.stop()
    until(lambda: recorder.of(EventKind.MEMBER_ENDED), awaited="its end", within_s=5)
    assert [event.data["how"] for event in recorder.of(EventKind.MEMBER_ENDED)] == ["died"]


def test_a_command_that_is_not_there_is_named(play: Play) -> None:
    """With the kind that it was to run, not by a number of an error alone."""
    member = play()
    member._command = ["/no/such/program"]
    with pytest.raises(WrongUseError, match=r"the command of MEZKCC: .*got '/no/such/program': No such file"):
        member.start()


def test_a_line_without_a_monotonic_time_has_its_timestamp() -> None:
    """As Kafka's VerifiableConsumer prints it: a line may be read long after it was printed."""
    second = 1_000_000_000
    line = line_of('{"name": "n", "timestamp": 50000}')
    assert line.printed_ns(100 * second, 52 * second) == 98 * second
    assert line.printed_ns(100 * second, 49 * second) == 100 * second  # by a clock that goes wrong
    assert line_of('{"name": "n", "timestamp": 1, "ns": 7}').printed_ns(100 * second, 52 * second) == 7
    assert line_of('{"name": "n", "timestamp": "soon"}').printed_ns(100, 52 * second) == 100


def test_what_is_no_line_is_trouble_of_the_harness(play: Play, recorder: MemoryRecorder) -> None:
    """Nothing conforms in such a run; the line is shown."""
    member = play([], 'print("Hello"); print(\'{"name": "partitions_assigned", "partitions": [{}]}\')')
    member.start()
    member.await_ended(20)
    first, second = recorder.of(EventKind.HARNESS_TROUBLE)
    assert "expected a line of JSON with a name" in str(first.data["error"])
    assert "'Hello" in str(first.data["error"])
    assert "topic" in str(second.data["error"])


def test_records_may_be_reported_as_ranges() -> None:
    """As Kafka's VerifiableConsumer does: offsets are then known, values are not."""
    ranges = [{"topic": "t", "partition": 1, "count": 3, "minOffset": 4, "maxOffset": 6}]
    line = line_of(json.dumps({"name": "records_consumed", "partitions": ranges}))
    assert line.records == [("t", 1, 4, ""), ("t", 1, 5, ""), ("t", 1, 6, "")]
    with pytest.raises(ClusterError, match="expected a line of JSON"):
        line_of("[1]")


def test_values_may_be_text() -> None:
    """Of the wanted length, and read back as who wrote them."""
    value = encode_as_text(3, 12, 40)
    assert (len(value), decode(value), value.isascii()) == (40, (3, 12), True)
