"""A container engine of the tests' own: in a network namespace without a way out, with all its files in one folder.

What must reach its containers runs in that namespace, too: ``PrivateEngine.command`` leads there. The network of this
machine is not touched, whatever the engine does to routes and packet filters. Its mounts are in a namespace of their
own: also those of an engine that was killed go with its last process.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.waiting import NotYet, until

_STARTED_WITHIN_S = 60
_ENDED_WITHIN_S = 30
_PYTEST_WITHIN_S = 540
_PROGRAMS = ("dockerd", "iptables", "ip", "unshare", "nsenter")
_LAST_WORDS = 600
_UNSHARED = ("unshare", "--net", "--mount", "--propagation", "private")


@dataclass(frozen=True)
class PrivateEngine:
    """Where it is; ``process`` is that of the engine."""

    socket: Path
    process: subprocess.Popen[bytes]

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program needs to find it."""
        return {**os.environ, "DOCKER_HOST": f"unix://{self.socket}"}

    def command(self, argv: Sequence[str]) -> list[str]:
        """The command, run where containers can be reached."""
        return ["nsenter", "--target", str(self.process.pid), "--net", *argv]

    def pytest(self, state: Path, *words: str) -> None:
        """Call pytest there, which must end with 0 and leave nothing out; ``state`` is its state folder."""
        # The docker package leaves a socket open on which the engine does not answer.
        quiet = ["-W", "ignore::ResourceWarning", "-p", "no:cacheprovider", "-n", "0", "-q", "--no-header"]
        run = subprocess.run(
            self.command([sys.executable, "-m", "pytest", *quiet, *words]),
            env={**self.environment, "KMIGRATE_STATE": str(state), "KMIGRATE_TESTS_ENGINE": str(self.process.pid)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_PYTEST_WITHIN_S,
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
    _skip_without_rights()
    with TemporaryDirectory(prefix="engine-", ignore_cleanup_errors=True) as folder:
        yield from _started(Path(folder))


def _started(folder: Path) -> Iterator[PrivateEngine]:
    socket = folder / "engine.sock"
    roots = ["--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")]
    files = ["--pidfile", str(folder / "engine.pid"), "--host", f"unix://{socket}", "--group", str(os.getgid())]
    program = 'ip link set lo up; exec dockerd "$@"'
    command = [*_UNSHARED, "bash", "-c", program, "engine", *roots, *files, "--bridge", "none"]
    log = folder / "engine.log"
    with log.open("wb") as said, subprocess.Popen(bound_to_us(command), stdout=said, stderr=said) as process:
        try:
            until(
                lambda: _answers(socket, process) or NotYet("no socket yet"),
                awaited="a container engine",
                within_s=_STARTED_WITHIN_S,
                abort=lambda: _skip_when_ended(process, log),
            )
            yield PrivateEngine(socket, process)
        finally:
            _end(process, folder)


def _skip_without_rights() -> None:
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"no container engine on this machine: {', '.join(missing)} not found; make engine installs them")
    allowed = subprocess.run([*_UNSHARED, "true"], capture_output=True, text=True, check=False)
    if allowed.returncode != 0:
        pytest.skip(f"this machine allows no namespace of our own: {allowed.stderr.strip()}")


def _answers(socket: Path, process: subprocess.Popen[bytes]) -> bool:
    asked = ["curl", "--silent", "--fail", "--unix-socket", str(socket), "http://engine/_ping"]
    return process.poll() is None and socket.exists() and subprocess.run(asked, check=False, stdout=-3).returncode == 0


def _skip_when_ended(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        pytest.skip(f"the container engine does not start on this machine: {log.read_text()[-_LAST_WORDS:]}")


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """By SIGTERM, so that it ends its containers. What an engine that was killed left is killed."""
    process.terminate()
    try:
        process.wait(_ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
    left = [each for each in psutil.process_iter(["cmdline"]) if _is_of(folder, each.info["cmdline"] or [])]
    for each in left:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    psutil.wait_procs(left, _ENDED_WITHIN_S)


def _is_of(folder: Path, words: Sequence[str]) -> bool:
    """Whether a process is a containerd, or one of its shims, with its files there."""
    return bool(words) and Path(words[0]).name.startswith("containerd") and any(str(folder) in word for word in words)
