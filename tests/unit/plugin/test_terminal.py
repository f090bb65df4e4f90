"""What stands on a terminal at the end, and on the way: by a pytest that has a real one, rendered as a user sees it."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyte
import pytest

pytestmark = pytest.mark.slow

_CONFTEST = """
import pytest
from pytest_kmigrate.model.event import PHASE
from pytest_kmigrate.model.events.steps import StateChanged, StepBegan
from pytest_kmigrate.plugin import living, progress
from pytest_kmigrate.providers.fake import FakeProvider
from pytest_kmigrate.waiting import NotYet, until

living._judge_unjudged = lambda *_: None
living.plan_here = lambda _topology: None
living.write_run_reports = lambda _folder: None
living.provider_of = lambda *_: FakeProvider()
progress._PAINTED_EVERY_S = progress._WRITTEN_EVERY_S = 0.02


@pytest.fixture
def under_way(kmigrate_run):
    "Lets progress be shown: of a step, of a phase, and of what is under way."
    recorder = kmigrate_run.recorder
    recorder.record(StateChanged(PHASE, "PREPARING", None))
    recorder.record(StepBegan("roll-brokers-into-migration", 0, 3, 3))
    began = recorder.now_ns()
    until(lambda: recorder.now_ns() - began > 300_000_000, awaited="a third of a second", within_s=9)
    return kmigrate_run
"""

_TESTS = """
def test_passing(under_way):
    pass

def test_failing(under_way):
    under_way.inject("kill")

def test_stopping(under_way):
    breakpoint()
    assert True
"""
_NAMES = ("test_passing", "test_failing")
_VERBOSE = (r"test_passing$", r"test_passing PASSED +\[ 50%\]$", r"test_failing FAILED +\[100%\]$")
_TIME = re.compile(r"^ *([0-9.]+) s  ", re.MULTILINE)


class Session:
    """A pytest with a terminal of its own, which a test reads and types into."""

    def __init__(self, arguments: Sequence[str], folder: Path, columns: int) -> None:
        self.screen = pyte.HistoryScreen(columns, 200)
        self._stream = pyte.ByteStream(self.screen)
        self._own, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 200, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm", "PYTHON_COLORS": "0"}
        environment.pop("COLUMNS", None)
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:randomly", *arguments]
        self.process = subprocess.Popen(
            command, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
        )
        os.close(theirs)
        self.seen = ""

    def read_until(self, wanted: str | None, within_s: float = 60) -> None:
        """Render what comes until a pattern is on the screen; until the end where there is none."""
        while wanted is None or not re.search(wanted, self.shown()):
            ready, _, _ = select.select([self._own], [], [], within_s)
            assert ready, f"expected {wanted} within {within_s} s, got:\n{self.shown()}"
            try:
                content = os.read(self._own, 65536)
            except OSError:  # the other end is closed
                content = b""
            if not content:
                assert wanted is None, f"expected {wanted}, got:\n{self.shown()}"
                return
            self._render(content)

    def is_still(self) -> bool:
        """Whether nothing comes for as long as it takes to paint several times, besides the end of the prompt."""
        came = b""
        while select.select([self._own], [], [], 0.3)[0]:
            came += os.read(self._own, 65536)
            self._render(came)
            if came.strip():
                return False
        return True

    def _render(self, content: bytes) -> None:
        self.seen += content.decode()
        self._stream.feed(content)

    def type(self, text: str) -> None:
        """As a user at the keyboard."""
        os.write(self._own, text.encode())

    def shown(self) -> str:
        """What stands on the screen."""
        return "\n".join(line.rstrip() for line in self.screen.display).rstrip()

    def close(self) -> None:
        """Take the terminal away."""
        self.process.kill()
        self.process.wait()
        os.close(self._own)


def prepare(folder: Path) -> None:
    """Write the tests, and what they run on."""
    (folder / "conftest.py").write_text(_CONFTEST)
    (folder / "test_it.py").write_text(_TESTS)


@contextmanager
def session(folder: Path, *arguments: str, columns: int = 100) -> Iterator[Session]:
    """A pytest of tests above: those that need no hand, unless others are named."""
    prepare(folder)
    chosen = () if any("::" in each for each in arguments) else ("-k", " or ".join(_NAMES))
    begun = Session([*arguments, *chosen], folder, columns)
    try:
        yield begun
    finally:
        begun.close()


def at_the_end(folder: Path, *arguments: str, columns: int = 100) -> tuple[list[str], str]:
    """The lines that stand there at the end, and all that was ever written."""
    with session(folder, *arguments, columns=columns) as begun:
        begun.read_until(None)
        return begun.shown().splitlines(), begun.seen


@pytest.mark.parametrize("columns", [100, 44])
def test_names_and_results_stay_beside_progress(tmp_path: Path, columns: int) -> None:
    """Each on its line, above and below the lines of progress; a narrow window breaks none of those in two."""
    lines, seen = at_the_end(tmp_path, "-v", columns=columns)
    first, passed, failed = (_only(lines, rf"^test_it.py::{each}") for each in _VERBOSE)
    steps = [number for number, line in enumerate(lines) if re.match(r" +[0-9.]+ s  step roll-brokers-into", line)]
    assert len(steps) == 2
    assert first < steps[0] < passed < steps[1] < failed
    assert re.search(r"PREPARING, 4/4 nodes up", seen), "what is under way was never shown"
    assert not [line for line in lines if "nodes up" in line], "what was under way still stands there"
    assert max(map(len, lines)) <= columns


def test_without_v_files_and_dots_stay(tmp_path: Path) -> None:
    """The dot of a test stands behind the name of its file, as always."""
    lines, _ = at_the_end(tmp_path)
    dot, letter = _only(lines, r"^test_it.py \.$"), _only(lines, r"^test_it.py F( +\[100%\])?$")
    assert dot < letter
    assert re.match(r" +[0-9.]+ s  ", lines[dot - 1])


def test_with_q_nothing_is_shown(tmp_path: Path) -> None:
    """Only what pytest itself writes."""
    lines, seen = at_the_end(tmp_path, "-q")
    _only(lines, r"^\.F +\[100%\]$")
    assert "nodes up" not in seen


@pytest.mark.parametrize("verbosity", [["-v"], []])
def test_workers_show_what_they_do(tmp_path: Path, verbosity: list[str]) -> None:
    """Which test each runs, how long, at which step; by the process that has the terminal."""
    lines, seen = at_the_end(tmp_path, "-n", "2", *verbosity)
    for name in _NAMES:
        assert re.search(rf"\[gw[01]\] {name}  [0-9.]+ s  PREPARING, 4/4 nodes up, 3 not started yet, step roll-", seen)
        _only(lines, rf"^\[gw[01]\] {name}  [0-9.]+ s  step roll-brokers-into-migration$")
    assert not [line for line in lines if "nodes up" in line]
    if verbosity:
        _only(lines, r"^\[gw[01]\] \[ *[0-9]+%\] PASSED test_it.py::test_passing$")
        _only(lines, r"^\[gw[01]\] \[ *[0-9]+%\] FAILED test_it.py::test_failing$")
    else:
        assert [line for line in lines if re.match(r"(\.|F|\.F|F\.)( +\[100%\])?$", line)]


def test_a_debugger_stands_in_the_test_and_its_prompt_is_left_alone(tmp_path: Path) -> None:
    """Of an error that was raised in our code, in the line of the test that called it."""
    with session(tmp_path, "--pdb", "-v", "test_it.py::test_failing", columns=250) as begun:
        begun.read_until(r"\(Pdb\) ?$")
        assert re.search(r"> .*test_it\.py\(6\)test_failing\(\)\n-> under_way\.inject\(\"kill\"\)\n", begun.shown())
        assert begun.is_still()
        begun.type("q\n")
        begun.read_until(None)
        assert re.search(r"test_it.py::test_failing FAILED", begun.shown())


def test_a_breakpoint_is_left_alone_and_progress_goes_on_after_it(tmp_path: Path) -> None:
    """Whatever the run does meanwhile."""
    with session(tmp_path, "-v", "test_it.py::test_stopping") as begun:
        begun.read_until(r"\(Pdb\) ?$")
        assert begun.is_still()
        begun.type("c\n")
        begun.read_until(None)
        _only(begun.shown().splitlines(), r"^test_it.py::test_stopping PASSED")


def test_without_a_terminal_lines_are_written_and_have_one_clock(tmp_path: Path) -> None:
    """No control characters; the times of events and of states never run backwards in a test."""
    prepare(tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v", "test_it.py::test_passing"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    times = [float(each) for each in _TIME.findall(said)]
    assert "\x1b" not in said
    assert len(times) > 5
    assert times == sorted(times)
    assert re.search(r"^test_it.py::test_passing PASSED", said, re.MULTILINE)


def _only(lines: list[str], pattern: str) -> int:
    """The number of the only line like this."""
    found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
    assert len(found) == 1, f"expected one line {pattern}, got {len(found)} in:\n" + "\n".join(lines)
    return found[0]
