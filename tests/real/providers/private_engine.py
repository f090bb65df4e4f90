"""A container engine of the tests' own: in a network namespace without a way out, with all its files in one folder.

What must reach its containers runs in that namespace, too: ``PrivateEngine.command`` leads there. No host of this
machine's network is touched, whatever the engine does to routes and packet filters.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from pytest_kmigrate.distributions.java import bound_to_us
from pytest_kmigrate.waiting import NotYet, until

_STARTED_WITHIN_S = 60
_ENDED_WITHIN_S = 30
_PROGRAMS = ("dockerd", "iptables", "ip", "unshare", "nsenter")
_LAST_WORDS = 600


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


@contextmanager
def private_engine(folder: Path) -> Iterator[PrivateEngine]:
    """The engine, answering; the test is skipped where this machine allows none."""
    _skip_without_rights()
    socket = folder / "engine.sock"
    roots = ["--data-root", str(folder / "data"), "--exec-root", str(folder / "exec")]
    files = ["--pidfile", str(folder / "engine.pid"), "--host", f"unix://{socket}", "--group", str(os.getgid())]
    program = 'ip link set lo up; exec dockerd "$@"'
    command = ["unshare", "--net", "bash", "-c", program, "engine", *roots, *files, "--bridge", "none"]
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
            _end(process)
            shutil.rmtree(folder / "data", ignore_errors=True)


def _skip_without_rights() -> None:
    missing = [program for program in _PROGRAMS if shutil.which(program) is None]
    if missing:
        pytest.skip(f"no container engine on this machine: {', '.join(missing)} not found; make engine installs them")
    allowed = subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True, text=True, check=False)
    if allowed.returncode != 0:
        pytest.skip(f"this machine allows no namespace of our own: {allowed.stderr.strip()}")


def _answers(socket: Path, process: subprocess.Popen[bytes]) -> bool:
    asked = ["curl", "--silent", "--fail", "--unix-socket", str(socket), "http://engine/_ping"]
    return process.poll() is None and socket.exists() and subprocess.run(asked, check=False, stdout=-3).returncode == 0


def _skip_when_ended(process: subprocess.Popen[bytes], log: Path) -> None:
    if process.poll() is not None:
        pytest.skip(f"the container engine does not start on this machine: {log.read_text()[-_LAST_WORDS:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """By SIGTERM, so that it gives its mounts back; it stops its own containerd."""
    if process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        process.terminate()
        try:
            process.wait(_ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            process.kill()
        for child in children:
            if child.is_running():
                child.kill()
