"""A container engine of the tests' own: in a network namespace without a way out, with all its files in one folder.

What must reach its containers runs in that namespace, too: ``PrivateEngine.command`` leads there. The network of this
machine is not touched, whatever the engine does to routes and packet filters. Its mounts are in a namespace of their
own: also those of an engine that was killed go with its last process. A guard ends it with pytest, also by SIGKILL.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import psutil
import pytest

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.waiting import NotYet, until
from tests.real.providers import engine_guard

ROOT = Path(__file__).parents[3]
_STARTED_WITHIN_S = 60
_PYTEST_WITHIN_S = 540
_PROGRAMS = ("dockerd", "iptables", "ip", "unshare", "nsenter")
_LAST_WORDS = 600
_UNSHARED = ("unshare", "--net", "--mount", "--propagation", "private")


@dataclass(frozen=True)
class PrivateEngine:
    """Where it is; ``pid`` is that of the engine's process."""

    socket: Path
    pid: int

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program needs to find it."""
        return {**os.environ, "DOCKER_HOST": f"unix://{self.socket}"}

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command, run where containers can be reached."""
        return ["nsenter", "--target", str(self.pid), "--net", *argv]

    def pytest(self, state: Path, *words: str, within_s: float = _PYTEST_WITHIN_S) -> None:
        """Call pytest there, which must end with 0 and leave nothing out; ``state`` is its state folder."""
        # The docker package leaves a socket open on which the engine does not answer.
        quiet = ["-W", "ignore::ResourceWarning", "-p", "no:cacheprovider", "-n", "0", "-q", "--no-header"]
        run = subprocess.run(
            bound_to_us(self.command([sys.executable, "-m", "pytest", *quiet, *words])),
            env={**self.environment, "KMIGRATE_STATE": str(state), "KMIGRATE_TESTS_ENGINE": str(self.pid)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=within_s,
            check=False,
        )
        assert run.returncode == 0, run.stdout
        assert " passed" in run.stdout
        assert " skipped" not in run.stdout


@contextmanager
def private_engine() -> Iterator[PrivateEngine]:
    """The engine, answering; the test is skipped where this machine allows none.

    Its folder has a short name: containerd's sockets lie deep below it, and the path of a socket has 107 bytes at most.
    """
    skip_without_rights()
    folder = Path(tempfile.mkdtemp(prefix="engine-"))
    socket = folder / "engine.sock"
    roots = ["--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")]
    files = ["--pidfile", str(folder / "engine.pid"), "--host", f"unix://{socket}", "--group", str(os.getgid())]
    program = 'ip link set lo up; exec dockerd "$@"'
    command = [*_UNSHARED, "bash", "-c", program, "engine", *roots, *files, "--bridge", "none"]
    log = folder / "engine.log"
    guard = [sys.executable, "-m", engine_guard.__name__, str(folder), *command]
    # In a session of its own: a Ctrl-C is for pytest, whose end the guard sees. The folder is the guard's to remove.
    with (
        log.open("wb") as said,
        subprocess.Popen(guard, stdin=PIPE, stdout=PIPE, stderr=said, cwd=ROOT, start_new_session=True) as guarding,
    ):
        assert guarding.stdout is not None
        pid = int(guarding.stdout.readline())
        until(
            lambda: _answers(socket, pid) or NotYet("no socket yet"),
            awaited="a container engine",
            within_s=_STARTED_WITHIN_S,
            abort=lambda: _skip_when_ended(pid, log),
        )
        yield PrivateEngine(socket, pid)


def skip_without_rights() -> None:
    """Skip the test where this machine has no engine, or allows none."""
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"no container engine on this machine: {', '.join(missing)} not found; make engine installs them")
    allowed = subprocess.run([*_UNSHARED, "true"], capture_output=True, text=True, check=False)
    if allowed.returncode != 0:
        pytest.skip(f"this machine allows no namespace of our own: {allowed.stderr.strip()}")


def _answers(socket: Path, pid: int) -> bool:
    asked = ["curl", "--silent", "--fail", "--unix-socket", str(socket), "http://engine/_ping"]
    return psutil.pid_exists(pid) and socket.exists() and subprocess.run(asked, check=False, stdout=-3).returncode == 0


def _skip_when_ended(pid: int, log: Path) -> None:
    if not psutil.pid_exists(pid):
        pytest.skip(f"the container engine does not start on this machine: {log.read_text()[-_LAST_WORDS:]}")
