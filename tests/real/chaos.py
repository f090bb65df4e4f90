"""A session of pytest with one small cluster, whose harness is broken from outside in the middle of its test."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.verdict import Outcome, Verdict
from pytest_kmigrate.recording.reading import read_events, read_header
from pytest_kmigrate.recording.run_folder import RunFolder
from pytest_kmigrate.recording.verdicts import stored_verdicts
from pytest_kmigrate.waiting import until
from tests.real.providers.killing import started_with

_READY_WITHIN_S = 300
_ENDED_WITHIN_S = 100
"""Less than any wait of the test or the final read, and more than a busy machine needs to end a cluster."""
_CONFTEST = """
from pytest_kmigrate.suites.kip_500.fixtures import *
"""
_TEST = """
from pathlib import Path

from pytest_kmigrate import checks
from pytest_kmigrate.waiting import until

def test_that_waits(workload):
    workload.await_acked(20)
    Path("ready").touch()
    workload.await_acked(1_000_000)

def test_that_goes_on(workload, verify):
    workload.await_acked(20)
    Path("ready").touch()
    until(Path("go-on").exists, awaited="the word to go on", within_s=180)
    verify(checks.no_acked_record_lost(), checks.longest_time_without_acked_write(at_most_s=9))
"""
WAITS, GOES_ON = "test_that_waits", "test_that_goes_on"


@dataclass(frozen=True)
class Session:
    """One that runs in ``folder``; its clients are served."""

    folder: Path
    runs: Path
    state: Path
    pytest: subprocess.Popen[bytes]

    @property
    def run(self) -> RunFolder:
        """The folder of its only run."""
        (path,) = (each.parent for each in self.runs.glob("*/run.json"))
        return RunFolder(path)

    @property
    def events(self) -> Sequence[Event]:
        """Those of its run so far."""
        return read_events(self.run)

    @property
    def lines(self) -> int:
        """How many lines of events and samples its run has written so far."""
        return sum(each.read_bytes().count(b"\n") for each in self.run.path.rglob("*.jsonl"))

    @property
    def history(self) -> History:
        """The same, as checkers see it."""
        return History(read_header(self.run), self.events)

    @property
    def verdicts(self) -> Sequence[Verdict]:
        """Those of its run that count; none if it was not judged."""
        return [each for each in stored_verdicts(self.run) if each.counts] if self.run.verdicts.is_file() else []

    @property
    def output(self) -> str:
        """What pytest has written."""
        return (self.folder / "output.txt").read_text(errors="replace")

    @property
    def losses(self) -> list[object]:
        """The parts of the harness that were lost."""
        return [each.data["lost"] for each in self.events if "lost" in each.data]

    def process(self, name: str) -> psutil.Process:
        """The process of its session with this name, or these words in its command line."""
        for each in self._children():
            if name in " ".join([each.name(), *each.cmdline()]):
                return each
        raise LookupError(f"{name} is none of {[each.name() for each in self._children()]}")

    def kill(self, name: str) -> None:
        """SIGKILL that process."""
        self.process(name).kill()

    def go_on(self) -> None:
        """Let the test end by itself."""
        (self.folder / "go-on").touch()

    def has_ended(self, *status: int) -> None:
        """Wait for the end of pytest, which comes soon; nothing of the session is left then.

        ``status``: the exit statuses that may be; by default that of a test that failed.
        """
        assert self.pytest.wait(_ENDED_WITHIN_S) in (status or (1,)), self.output
        assert "INTERNALERROR" not in self.output
        until(lambda: not self.left(), awaited="nothing left of a session", within_s=_ENDED_WITHIN_S)

    def left(self) -> list[str]:
        """Processes and folders of it."""
        return [*started_with(self.state), *(str(path) for path in self.state.iterdir() if path.is_dir())]

    def is_spared(self) -> None:
        """Kafka is not blamed, and nothing conforms."""
        outcomes = {each.outcome for each in self.verdicts}
        assert Outcome.INCONCLUSIVE in outcomes, self.output
        assert outcomes <= {Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE}, [
            f"{each.check}: {each.summary}" for each in self.verdicts
        ]
        assert not [each for each in self.events if each.kind is EventKind.NODE_DIED]

    def _children(self) -> list[psutil.Process]:
        return psutil.Process(self.pytest.pid).children(recursive=True)


@contextmanager
def session(folder: Path, test: str, *options: str, runs: Path | None = None) -> Iterator[Session]:
    """The session, when its test has come to the moment in which it is broken; killed if it is there at the end."""
    state, runs = folder / "state", runs or folder / "runs"
    state.mkdir(parents=True)
    (folder / "conftest.py").write_text(_CONFTEST)
    (folder / "test_inner.py").write_text(_TEST)
    words = ["-p", "no:cacheprovider", "--kmigrate-runs", str(runs), "--kmigrate-profile", "kip-500", *options]
    command = [sys.executable, "-m", "pytest", "-q", f"test_inner.py::{test}", *words]
    environment = {**os.environ, "KMIGRATE_STATE": str(state)}
    with (
        (folder / "output.txt").open("wb") as output,
        subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, env=environment) as inner,
    ):
        one = Session(folder, runs, state, inner)

        def alive() -> None:
            assert inner.poll() is None, one.output

        try:
            until((folder / "ready").exists, awaited="clients are served", within_s=_READY_WITHIN_S, abort=alive)
            yield one
        finally:
            if inner.poll() is None:
                inner.send_signal(signal.SIGKILL)
