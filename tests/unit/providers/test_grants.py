"""Facts about what the kernel grants to a process: real processes of this machine, and no JVM."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_kmigrate.model.protocols import Restricted
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.grants import Grants
from pytest_kmigrate.providers.owned.supervision import Supervision
from pytest_kmigrate.waiting import until

_ASKED = """
import os, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
for line in sys.stdin:
    try:
        number = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            os.write(number, b"x")
        finally:
            os.close(number)
        print("done", flush=True)
    except OSError as error:
        print(os.strerror(error.errno), flush=True)
"""


class Writer:
    """A process that opens a file and writes to it when it is asked."""

    def __init__(self, file: Path) -> None:
        command = [sys.executable, "-c", _ASKED, str(file)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def ask(self) -> str:
        """What came of it."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    """One that runs."""
    made = Writer(tmp_path / "file")
    assert made.ask() == "done"
    yield made
    made.process.communicate()


@pytest.mark.parametrize(
    ("what", "refused"), [(Restricted.FILE_SIZE, "File too large"), (Restricted.OPEN_FILES, "Too many open files")]
)
def test_a_grant_is_taken_from_a_running_process_and_given_back(writer: Writer, what: Restricted, refused: str) -> None:
    """The kernel refuses meanwhile, in words that a JVM passes on."""
    grants = Grants()
    grants.lower(writer.pid, what, 0)
    assert writer.ask() == refused
    grants.give_back(writer.pid, what)
    assert writer.ask() == "done"
    grants.give_back(writer.pid, what)
    assert writer.ask() == "done"


def test_so_many_files_are_spared_besides_those_that_are_open(writer: Writer) -> None:
    """One is enough for one that is closed again."""
    grants = Grants()
    grants.lower(writer.pid, Restricted.OPEN_FILES, 1)
    assert writer.ask() == "done"


def test_nothing_is_taken_from_a_process_that_has_ended(tmp_path: Path) -> None:
    """Its number may be another's soon."""
    ended = Writer(tmp_path / "file")
    ended.process.communicate()
    grants = Grants()
    grants.lower(ended.pid, Restricted.OPEN_FILES, 0)
    grants.give_back(ended.pid, Restricted.OPEN_FILES)


def test_a_starved_process_stands_still_and_goes_on(tmp_path: Path) -> None:
    """It is the supervisor that stops it, so it goes on, or ends, whatever becomes of pytest."""
    supervision = Supervision(tmp_path / "scratch")
    (tmp_path / "cwd").mkdir()
    try:
        command = Command(("sleep", "1000"))
        pid = supervision.spawn(command, cwd=tmp_path / "cwd", log=tmp_path / "log", on_exit=lambda _: None)
        with supervision.starved(pid, 20) as stood:
            so_far = until(lambda: stood() if stood().ms > 300 else None, awaited="300 ms still", within_s=60)
            assert so_far.times >= 2
        assert "T (stopped)" not in Path(f"/proc/{pid}/status").read_text()
    finally:
        supervision.end()
