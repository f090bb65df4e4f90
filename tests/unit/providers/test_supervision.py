"""Facts about the supervisor, with tiny processes: whatever ends its owner, no child of it is left."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.model.errors import EnvironmentLackError, HarnessLostError
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.supervision import Supervision
from pytest_kmigrate.providers.owned.supervisor import Supervisor
from pytest_kmigrate.waiting import until

FOREVER = [sys.executable, "-c", "import signal; signal.pause()"]
DEAF_CODE = "import signal; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"
DEAF = [sys.executable, "-c", DEAF_CODE]
OWNER = """
import socket, sys
from pathlib import Path
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.supervision import Supervision
folder = Path(sys.argv[1])
lock = socket.socket()
supervision = Supervision(folder / "scratch", [lock.fileno()])
command = Command((sys.executable, "-c", "import signal; signal.pause()"))
pids = [supervision.spawn(command, cwd=folder, log=folder / "log", on_exit=print) for _ in range(2)]
print(supervision.pid, *pids, flush=True)
signal = sys.stdin.read()
"""


def gone(pid: int) -> bool:
    """Whether a process no longer exists, or only as a zombie that its parent has not looked at."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def await_gone(*pids: int) -> None:
    """Return when none of them exists."""
    until(lambda: all(gone(pid) for pid in pids), awaited=f"the end of {pids}", within_s=60)


@pytest.fixture
def lock() -> Iterator[socket.socket]:
    """Stands for the lease."""
    with socket.socket() as lock:
        yield lock


@pytest.fixture
def supervision(tmp_path: Path, lock: socket.socket) -> Iterator[Supervision]:
    """A live supervisor."""
    made = Supervision(tmp_path / "scratch", [lock.fileno()])
    yield made
    made.end()


@pytest.fixture
def spawn(supervision: Supervision, tmp_path: Path) -> Callable[..., tuple[int, list[int]]]:
    """Starts a process; gives its pid, and a list that gets its exit code."""

    def spawned(command: list[str]) -> tuple[int, list[int]]:
        codes: list[int] = []
        return supervision.spawn(
            Command(tuple(command)), cwd=tmp_path, log=tmp_path / "log", on_exit=codes.append
        ), codes

    return spawned


def exit_code(codes: list[int]) -> int:
    """The exit code, once it is announced."""
    until(lambda: codes, awaited="an exit code", within_s=60)
    return codes[0]


def test_every_exit_is_announced_with_its_code(spawn: Callable[..., tuple[int, list[int]]]) -> None:
    """An exit status as it is, a signal as its negative number; also of a process that ends at once."""
    _, ended = spawn([sys.executable, "-c", "raise SystemExit(7)"])
    pid, killed = spawn(FOREVER)
    os.kill(pid, signal.SIGTERM)
    assert (exit_code(ended), exit_code(killed)) == (7, -signal.SIGTERM)


def test_output_goes_to_the_log_and_is_appended(spawn: Callable[..., tuple[int, list[int]]], tmp_path: Path) -> None:
    """Both streams, and a second start keeps the lines of the first."""
    for word in ("one", "two"):
        _, codes = spawn([sys.executable, "-c", f"import sys; print('{word}'); print('{word}!', file=sys.stderr)"])
        assert exit_code(codes) == 0
    assert sorted((tmp_path / "log").read_text().split()) == ["one", "one!", "two", "two!"]


def test_signals_reach_only_what_is_owned_and_alive(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]]
) -> None:
    """Nothing is sent to an ended process, nor to one that is somebody else's."""
    pid, codes = spawn(FOREVER)
    supervision.signal(pid, signal.SIGKILL)
    assert exit_code(codes) == -signal.SIGKILL
    supervision.signal(pid, signal.SIGKILL)
    supervision.signal(os.getpid(), signal.SIGKILL)


def test_the_end_takes_every_child_and_the_folder(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]], tmp_path: Path
) -> None:
    """Also those that ignore SIGTERM or stand still; the log outside the folder stays. Ending twice is safe."""
    deaf, _ = spawn(DEAF)
    still, _ = spawn(FOREVER)
    supervision.signal(still, signal.SIGSTOP)
    until(lambda: "deaf" in (tmp_path / "log").read_text(), awaited="a process that ignores SIGTERM", within_s=60)
    supervision.end()
    assert (gone(deaf), gone(still)) == (True, True)
    assert not (tmp_path / "scratch").exists()
    assert (tmp_path / "log").exists()
    supervision.end()


def test_an_adopted_process_that_ended_is_forgotten() -> None:
    """Its number may be another process's by the end: that one is spared."""
    held = Supervisor("/nonexistent")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as ours:
        assert held.obey({"do": "adopt", "pid": ours.pid}) == {}
    with pytest.raises(ProcessLookupError):
        signal.pidfd_send_signal(held.adopted[0][1], signal.SIGKILL)
    assert held.obey({"do": "adopt", "pid": ours.pid}) == {}
    assert len(held.adopted) == 1
    held.end()


def test_an_adopted_process_takes_its_group_along(supervision: Supervision) -> None:
    """Such as a start script whose consumer is its child."""
    script = "import subprocess, sys; print(subprocess.Popen(['sleep', '300']).pid, flush=True); sys.stdin.read()"
    ours = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, process_group=0
    )
    assert ours.stdout is not None
    child = int(ours.stdout.readline())
    supervision.adopt(ours.pid)
    supervision.end()
    until(lambda: gone(child), awaited="the end of what it started", within_s=10)
    with ours:
        ours.kill()


def test_an_adopted_process_ends_with_the_rest(supervision: Supervision) -> None:
    """A child of ours, not of the supervisor's, is killed by it."""
    with subprocess.Popen(FOREVER) as ours:
        supervision.adopt(ours.pid)
        supervision.end()
        assert ours.wait(60) == -signal.SIGKILL


def test_a_program_that_is_not_there_says_so(spawn: Callable[..., tuple[int, list[int]]], tmp_path: Path) -> None:
    """The error names the program; the supervisor goes on."""
    with pytest.raises(EnvironmentLackError, match=r"cannot start .*/no-java: .*No such file"):
        spawn([str(tmp_path / "no-java")])
    _, codes = spawn([sys.executable, "-c", ""])
    assert exit_code(codes) == 0


def test_killing_the_supervisor_kills_its_children(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]]
) -> None:
    """The kernel ties them together."""
    pid, _ = spawn(FOREVER)
    os.kill(supervision.pid, signal.SIGKILL)
    await_gone(pid, supervision.pid)


def test_a_dead_supervisor_means_dead_children(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]]
) -> None:
    """Each child's exit is announced too, or its waiters wait for ever."""
    _, codes = spawn(FOREVER)
    os.kill(supervision.pid, signal.SIGKILL)
    until(lambda: not supervision._listening.is_alive(), awaited="the end of the announcements", within_s=60)
    assert until(lambda: codes, awaited="an exit code", within_s=0) == [-signal.SIGKILL]


def test_an_order_to_a_dead_supervisor_is_told_and_ending_it_is_safe(tmp_path: Path, lock: socket.socket) -> None:
    """The order says that the supervisor has ended; what it should have ended is ended without it."""
    lost: list[str] = []
    supervision = Supervision(tmp_path / "scratch", [lock.fileno()], lost.append)
    with subprocess.Popen(FOREVER) as before, subprocess.Popen(FOREVER) as later:
        supervision.adopt(before.pid)
        os.kill(supervision.pid, signal.SIGKILL)
        until(lambda: not supervision._listening.is_alive(), awaited="the end of the announcements", within_s=60)
        try:
            with pytest.raises(HarnessLostError, match="has ended"):
                supervision.adopt(later.pid)
        finally:
            supervision.end()
        assert (before.wait(60), later.wait(60)) == (-signal.SIGKILL, -signal.SIGKILL)
    supervision.end()
    assert (supervision.is_lost, lost) == (True, ["exit code -9"])
    assert not (tmp_path / "scratch").exists()


def test_a_supervisor_that_is_ended_is_not_lost(tmp_path: Path, lock: socket.socket) -> None:
    """Nor does anybody hear of it."""
    lost: list[str] = []
    supervision = Supervision(tmp_path / "scratch", [lock.fileno()], lost.append)
    supervision.end()
    assert (supervision.is_lost, lost) == (False, [])


def test_a_supervisor_that_fails_tells_why(supervision: Supervision, caplog: pytest.LogCaptureFixture) -> None:
    """Its traceback is logged, as it has no terminal of its own."""
    with pytest.raises(HarnessLostError):
        supervision._order({"do": "adopt", "pid": "none"})
    supervision._listening.join(60)
    assert "ValueError: invalid literal for int() with base 10: 'none'" in caplog.text


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_failing_callback_does_not_deafen_us(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]], tmp_path: Path
) -> None:
    """A full disk under one node's exit must not make every later order wait for ever."""
    raised = threading.Event()

    def fails(_: int) -> None:
        raised.set()
        raise OSError(28, "No space left on device")

    os.kill(
        supervision.spawn(Command(tuple(FOREVER)), cwd=tmp_path, log=tmp_path / "log", on_exit=fails), signal.SIGKILL
    )
    assert raised.wait(60)
    supervision._listening.join(0.5)
    assert supervision._listening.is_alive()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.slow
def test_whatever_ends_the_owner_leaves_no_child(tmp_path: Path, number: signal.Signals) -> None:
    """By kill -9 of the process that owns the supervisor: supervisor, children and folder go, the lock is free."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as owner:
        assert owner.stdout is not None
        pids = [int(pid) for pid in owner.stdout.readline().split()]
        assert len(pids) == 3
        assert not any(gone(pid) for pid in pids)
        owner.send_signal(number)
    await_gone(*pids)
    assert not (tmp_path / "scratch").exists()


@pytest.mark.slow
def test_a_kept_cluster_outlives_its_owner_until_the_supervisor_is_ended(tmp_path: Path) -> None:
    """``keep`` is the one way to leave something behind; it holds no stream of its owner. SIGTERM ends that too."""
    keeping = OWNER.replace("print(supervision", "supervision.keep(); print(supervision")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", keeping, str(tmp_path)], **pipes, text=True) as owner:
        assert owner.stdout is not None
        supervisor, *children = [int(pid) for pid in owner.stdout.readline().split()]
        owner.kill()
        assert owner.communicate(timeout=60) == ("", "")
    assert not any(gone(pid) for pid in (supervisor, *children))
    os.kill(supervisor, signal.SIGTERM)
    await_gone(supervisor, *children)
    assert not (tmp_path / "scratch").exists()


def test_what_ends_with_everything_did_not_die(
    supervision: Supervision, spawn: Callable[..., tuple[int, list[int]]]
) -> None:
    """A history read later must not report deaths that were only the end of the run."""
    _, reported = spawn(FOREVER)
    supervision.end()
    assert reported == []
