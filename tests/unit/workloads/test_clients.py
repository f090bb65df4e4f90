"""The clients' process and the parent's side of it, without a cluster."""

import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, NodeDiedError
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.recording.operation_parts import read_operations
from pytest_kmigrate.waiting import until
from pytest_kmigrate.workloads.clients.client_settings import ClientsSettings, ClientWorkload
from pytest_kmigrate.workloads.clients.client_workload import RunningClients

NOBODY = {"bootstrap.servers": "127.0.0.1:1", "log_level": "0"}


class Played:
    """A process that has said everything already; it ends when its story says so."""

    def __init__(self, story: bytes, code: int | None) -> None:
        self.stdin = io.BytesIO()
        self.stdout = io.BytesIO(story)
        self.code = code

    def poll(self) -> int | None:
        """The exit code."""
        return self.code


def _settings(folder: Path) -> ClientsSettings:
    workload = ClientWorkload(per_s=200, producers=1, consumers=1, request_timeout_s=1, message_timeout_s=1)
    return ClientsSettings(workload, NOBODY, str(folder / "operations"), time.monotonic_ns())


def _played(folder: Path, story: bytes, code: int | None = None) -> RunningClients:
    return RunningClients(_settings(folder), folder / "settings.json", lambda _argv: Played(story, code))


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[RunningClients]:
    """A real clients' process whose cluster does not exist."""
    spawned: list[subprocess.Popen[bytes]] = []

    def spawn(argv: Sequence[str]) -> subprocess.Popen[bytes]:
        spawned.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True))
        return spawned[0]

    running = RunningClients(_settings(tmp_path), tmp_path / "settings.json", spawn)
    yield running
    (process,) = spawned
    process.kill()
    process.wait()
    running._reading.join()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _sent(clients: RunningClients) -> list[int]:
    operations = read_operations(Path(clients.settings.operations_folder)).of(OperationKind.PRODUCE)
    assert set(operations.outcome.tolist()) <= {OperationOutcome.INDEFINITE}
    return sorted(operations.sequence.tolist())


def _are_sending(clients: RunningClients) -> Callable[[], bool]:
    return lambda: clients.progress().get("outstanding", 0) > 5


@pytest.mark.slow
def test_the_end_of_standard_input_ends_the_process_with_its_rows_written(clients: RunningClients) -> None:
    """When pytest is gone no client survives, and every send that was made has its row."""
    clients.await_ready()
    until(_are_sending(clients), awaited="sends", within_s=20)
    clients._process.stdin.close()
    until(lambda: clients._process.poll() == 0, awaited="the process gone", within_s=30)
    assert _sent(clients) == list(range(len(_sent(clients))))
    assert len(_sent(clients)) > 5


@pytest.mark.slow
def test_a_stop_is_answered_with_counts_that_match_the_rows(clients: RunningClients) -> None:
    """After a stop nothing is outstanding: each send is a row, and each row is counted."""
    clients.await_ready()
    until(_are_sending(clients), awaited="sends", within_s=20)
    counts = clients.stop(within_s=0.2)
    assert (counts["acked"], counts["outstanding"]) == (0, 0)
    assert counts["indefinite"] == len(_sent(clients)) > 0


@pytest.mark.slow
def test_a_final_read_that_cannot_reach_the_end_fails_and_leaves_no_row(clients: RunningClients) -> None:
    """No cluster, no final read: an error in time, and nothing that looks like records that are missing."""
    clients.await_ready()
    clients.stop_producing()
    with pytest.raises(ClusterError, match="expected to read every partition to its end"):
        clients.final_read(within_s=0.5)
    assert len(read_operations(Path(clients.settings.operations_folder)).of(OperationKind.FINAL_READ)) == 0


@pytest.mark.slow
def test_an_unknown_command_is_told(clients: RunningClients) -> None:
    """A misspelt command is not ignored."""
    clients.await_ready()
    clients._order({"do": "stopp"})
    until(clients.troubles, awaited="the trouble", within_s=30)
    assert "expected a command" in clients.troubles()[0]


@pytest.mark.slow
def test_a_thread_that_ends_by_an_error_is_told(clients: RunningClients) -> None:
    """Work that stops in the clients' process stops nowhere unseen."""
    clients.await_ready()
    clients._orders.write(b"[" * 100_000 + b"\n")  # nested deeper than can be parsed
    clients._orders.flush()
    until(clients.troubles, awaited="the trouble", within_s=30)
    assert clients.troubles()[0].startswith("thread orders ended by RecursionError")


def test_the_latest_progress_is_kept(tmp_path: Path) -> None:
    """``acked`` follows the process's own reports."""
    story = b'{"event": "ready"}\n{"event": "progress", "acked": 1}\n{"event": "progress", "acked": 7, "failed": 2}\n'
    clients = _played(tmp_path, story)
    clients.await_ready(within_s=60)
    assert clients.await_acked(7, within_s=60) == 7
    assert clients.progress()["failed"] == 2


@pytest.mark.parametrize(
    ("awaiting", "progress", "awaited"),
    [
        (RunningClients.await_more_consumed, b'"acked": 9, "consumed": 3', "4 records read by consumers"),
        (RunningClients.await_more_committed, b'"consumed": 9, "committed": 3', "4 offsets committed by consumers"),
    ],
    ids=["reads", "commits"],
)
def test_what_consumers_do_is_awaited_by_its_own_count(
    tmp_path: Path, awaiting: Callable[..., int], progress: bytes, awaited: str
) -> None:
    """More than now; sends are not counted as reads, nor reads as commits."""
    clients = _played(tmp_path, b'{"event": "progress", %b}\n' % progress)
    clients._reading.join()
    assert awaiting(clients, 0, within_s=60) == 3
    with pytest.raises(AwaitTimeoutError, match=f"{awaited}: not within"):
        awaiting(clients, 1, within_s=0.1)


def test_waiting_for_more_than_comes_tells_what_was_seen(tmp_path: Path) -> None:
    """The error holds the counts, so that one sees whether anything moved at all."""
    clients = _played(tmp_path, b'{"event": "progress", "acked": 3}\n')
    clients._reading.join()
    with pytest.raises(AwaitTimeoutError, match=r"5 acknowledged sends: not within 0.1 s; last seen: .*'acked': 3"):
        clients.await_acked(5, within_s=0.1)


def test_a_dead_process_is_not_waited_for(tmp_path: Path) -> None:
    """The end of the clients ends every wait for them at once, with their exit code."""
    clients = _played(tmp_path, b"Traceback\n", code=1)
    clients._reading.join()
    with pytest.raises(NodeDiedError, match="clients died with exit code 1"):
        clients.await_acked(1, within_s=60)


def test_the_pipes_of_a_process_that_died_are_closed(tmp_path: Path) -> None:
    """Left to Python they are warnings, which fail whatever test runs then."""
    spawned: list[subprocess.Popen[bytes]] = []

    def spawn(_argv: Sequence[str]) -> subprocess.Popen[bytes]:
        dying = [sys.executable, "-c", "raise SystemExit(1)"]
        spawned.append(subprocess.Popen(dying, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        spawned[0].wait()
        return spawned[0]

    with RunningClients(_settings(tmp_path), tmp_path / "settings.json", spawn) as clients:
        assert clients.has_ended
    for pipe in (spawned[0].stdin, spawned[0].stdout):
        assert pipe is not None
        assert pipe.closed


def test_the_process_is_our_own_python(tmp_path: Path) -> None:
    """The clients run under the interpreter of the tests, with a settings file."""
    argv: list[str] = []

    def spawn(words: Sequence[str]) -> Played:
        argv.extend(words)
        return Played(b"", 0)

    RunningClients(_settings(tmp_path), tmp_path / "settings.json", spawn)
    assert argv == [
        sys.executable,
        "-m",
        "pytest_kmigrate.workloads.clients.clients_process",
        str(tmp_path / "settings.json"),
    ]
    assert ClientsSettings.from_json((tmp_path / "settings.json").read_text()).workload.per_s == 200


def test_a_password_is_not_shown_with_the_settings(tmp_path: Path) -> None:
    """Settings stand in error messages and in what pytest shows of a failed assertion."""
    shown = repr(replace(_settings(tmp_path), connection={"sasl.password": "secret"}))
    assert "per_s=200" in shown
    assert "secret" not in shown
