"""One member of a group under test: its process, and what becomes of the lines that it prints."""

import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from pytest_kmigrate.model.errors import ClusterError, NodeDiedError, WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.evidence import HarnessTrouble
from pytest_kmigrate.model.events.members import HowEnded, MemberEnded, MemberPaused, MemberResumed, MemberStarted
from pytest_kmigrate.waiting import PATIENCE_S, until
from pytest_kmigrate.workloads.members.contract import MOST_SHOWN, Line, line_of
from pytest_kmigrate.workloads.members.processes import processes_of, signal_all, stand_still
from pytest_kmigrate.workloads.members.reporting import Reports, Rows

ENDED_WITHIN_S = 10.0
"""What the contract allows for an orderly end."""

_READ_WITHIN_S = 5.0
"""How long what a member printed last may take to be read when its process has ended."""

_ENDED_BY_SIGTERM = 128 + signal.SIGTERM
"""The exit status of a JVM that SIGTERM ended in order."""

REFUSED = 2
"""The exit status of a member that refuses its settings."""

Spawn = Callable[[Sequence[str], Path], Popen[bytes]]
"""Starts a process, in a group of its own, that ends with the cluster; its stderr is appended to the file."""


@dataclass(frozen=True)
class MemberSettings:
    """What a member is started with."""

    name: str
    kind: str
    group: str
    topics: Mapping[str, int]
    """Number of streams by topic."""
    properties: Mapping[str, str]
    """The content of its properties file."""
    has_listener: bool = False
    """Whether its user has a listener of rebalances."""


@dataclass(frozen=True)
class MemberPlace:
    """Where members run, and where what they report goes."""

    spawn: Spawn
    scratch: Path
    logs: Path
    recorder: Recorder
    start_ns: int
    """The monotonic clock when the run began."""
    number: Callable[[], int]
    """Gives a client number that no other client of the run has."""
    rows: Callable[[str, int], Rows]
    """Where the operations of a client go."""
    names: Callable[[], Mapping[str, str]]
    """By the name of each broker, its address: brokers advertise names."""


class RunningMember:
    """A member, alive or not; ``start`` starts it again. Its lines are read by a thread."""

    def __init__(self, command: Sequence[str], settings: MemberSettings, place: MemberPlace) -> None:
        self.settings = settings
        self.client = 0
        self.consumer_id = ""
        self.seen = Counter[str]()
        """By name, how many of its lines were taken."""
        self.effective: Mapping[str, object] = {}
        """The settings in force, as far as it reported them."""
        self._command = command
        self._place = place
        self._errors = place.logs / f"{settings.name}.log"
        self._process: Popen[bytes] | None = None
        self._is_up = False
        self._how: HowEnded = "died"
        self._reading: threading.Thread | None = None

    @property
    def name(self) -> str:
        """Its name in the run."""
        return self.settings.name

    @property
    def kind(self) -> str:
        """Its kind, as the document calls it."""
        return self.settings.kind

    @property
    def alive(self) -> bool:
        """Whether its process runs, or is paused."""
        return self._process is not None and self._process.poll() is None

    @property
    def stands_still(self) -> bool:
        """Whether it is paused."""
        return self.alive and stand_still(self._pid)

    def memory_mb(self) -> float:
        """The memory of its processes that is resident."""
        return sum(float(each.memory_info().rss) for each in processes_of(self._pid)) / 1e6

    def connections_to(self, port: int) -> int:
        """How many TCP connections its processes have to this port, wherever."""
        known = [one for each in processes_of(self._pid) for one in each.net_connections(kind="tcp")]
        return sum(bool(each.raddr) and each.raddr.port == port for each in known)

    def start(self) -> None:
        """Start its process, without waiting for it."""
        if self.alive:
            raise WrongUseError(f"{self.name}: expected a member that is not alive to be started; it is")
        settings = self.settings
        file = self._written("properties", (f"{key}={value}" for key, value in settings.properties.items()))
        hosts = self._written("hosts", (f"{address} {name}" for name, address in self._place.names().items()))
        topics = ",".join(f"{topic}={streams}" for topic, streams in settings.topics.items())
        words = ["--kind", self.kind, "--settings", str(file), "--topics", topics, "--hosts", str(hosts)]
        words += ["--listener"] if settings.has_listener else []
        self.client, self._is_up, self._how = self._place.number(), False, "died"
        try:
            self._process = self._place.spawn([*self._command, *words], self._errors)
        except OSError as error:
            raise WrongUseError(
                f"the command of {self.kind}: expected a program that this machine can start; got "
                f"{self._command[0]!r}: {error.strerror}"
            ) from error
        self._reading = threading.Thread(target=self._read, args=(self._process,), name=self.name, daemon=True)
        self._reading.start()

    def _written(self, what: str, lines: Iterable[str]) -> Path:
        file = self._place.scratch / f"{self.name}.{what}"
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return file

    def await_started(self, within_s: float = PATIENCE_S) -> None:
        """Return when it is constructed; NodeDiedError when it ended before."""

        def must_live() -> None:
            if not self.alive and not self._is_up:
                raise NodeDiedError(self.name, self._status, self._last_words())

        until(lambda: self._is_up, awaited=f"{self.name} constructed", within_s=within_s, abort=must_live)

    def await_ended(self, within_s: float = ENDED_WITHIN_S) -> int:
        """Return its exit status when it has ended and its end is recorded.

        What it left behind and still prints is killed, which is recorded as its death. ClusterError where even that
        does not end its output.
        """
        until(lambda: not self.alive, awaited=f"{self.name} ended", within_s=within_s)
        if self._reading is not None:
            self._reading.join(_READ_WITHIN_S)
            if self._reading.is_alive():
                self._how = "died" if self._how == "stopped" else self._how
                signal_all(self._pid, signal.SIGKILL)
                self._reading.join(_READ_WITHIN_S)
            if self._reading.is_alive():
                raise ClusterError(
                    f"{self.name}: expected its output to end with its process; a process that it started, and that "
                    "left its group, keeps it open: start the consumer in the foreground"
                )
        return self._status

    def order(self, what: str) -> None:
        """Give it an order: ``pause-reading``, ``resume-reading`` or ``stop``."""
        assert self._process is not None, "a member is started before it is ordered"
        assert self._process.stdin is not None, "a member is spawned with a pipe at its stdin"
        with suppress(OSError, ValueError):  # it has ended: its exit status says more
            self._process.stdin.write(json.dumps({"do": what}).encode() + b"\n")
            self._process.stdin.flush()

    def ask_to_stop(self) -> None:
        """Order an orderly end, without waiting for it."""
        if self.alive:
            self._how = "stopped"
            self.resume()
            self.order("stop")

    def stop(self, within_s: float = ENDED_WITHIN_S) -> None:
        """End it in order; killed after ``within_s``, which is recorded as its death."""
        self.ask_to_stop()
        self.await_stopped(within_s)

    def await_stopped(self, within_s: float) -> None:
        """Return when it has ended; kill it if it has not in time."""
        if self._process is None:
            return
        try:
            self._process.wait(within_s)
        except TimeoutExpired:
            self._how = "died"
            self._signal(signal.SIGKILL)
        self.await_ended()

    def kill(self) -> None:
        """SIGKILL, to its command and all that this started; returns when it is gone."""
        if self.alive:
            self._how = "killed"
            self._signal(signal.SIGKILL)
        self.await_ended()

    def pause(self) -> None:
        """SIGSTOP, to its command and all that this started."""
        self._signal(signal.SIGSTOP)
        until(lambda: self.stands_still, awaited=f"{self.name} paused", within_s=PATIENCE_S)
        self._place.recorder.record(MemberPaused(self.name))

    def resume(self) -> None:
        """SIGCONT; nothing when it is not paused."""
        if self.stands_still:
            self._place.recorder.record(MemberResumed(self.name))
            self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self.alive:
            signal_all(self._pid, number)

    @property
    def _pid(self) -> int:
        assert self._process is not None, "a member that is alive has a process"
        return self._process.pid

    @property
    def _status(self) -> int:
        status = self._process.poll() if self._process else None
        return 0 if status is None else status

    def _read(self, process: Popen[bytes]) -> None:
        """Take every line of one life, and record its end."""
        assert process.stdout is not None, "a member is spawned with a pipe at its stdout"
        rows = self._place.rows(self.name, self.client)
        reports = Reports(self.name, self.client, self.settings.group, self._place.recorder, rows)
        for text in process.stdout:
            now_ns, clock_ns = time.monotonic_ns(), time.time_ns()
            try:
                line = line_of(text.decode("utf-8", "replace"))
                self._take(line, reports, line.printed_ns(now_ns, clock_ns) - self._place.start_ns)
            except (ClusterError, KeyError, TypeError, ValueError) as error:
                wrong = f"expected the key {error} in {text[:MOST_SHOWN]!r}" if type(error) is KeyError else str(error)
                self._place.recorder.record(HarnessTrouble(f"a line of {self.name}", wrong))
            rows.close_part_if_due()
        status = process.wait()
        rows.close()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # an order that it did not take
                assert pipe is not None, "a member is spawned with pipes"
                pipe.close()
        if status == REFUSED and not self._is_up:
            self._how = "refused"
        elif self._how == "stopped" and status not in (0, _ENDED_BY_SIGTERM):
            self._how = "died"
        self._place.recorder.record(MemberEnded(self.name, self.client, self._how, status, self._last_words()))

    def _take(self, line: Line, reports: Reports, at_ns: int) -> None:
        if line.name == "startup_complete":
            self.consumer_id = str(line.keys.get("consumer_id") or self.settings.properties.get("client.id", ""))
            self.effective = line.keys.get("settings") or {}
            who = (self.name, self.client, self.kind, self.settings.group, self.consumer_id)
            self._place.recorder.record(MemberStarted(*who, self.settings.topics, at_ns))
            self._is_up = True
        else:
            reports.take(line, at_ns)
        self.seen[line.name] += 1

    def _last_words(self) -> str:
        lines = self._errors.read_text(encoding="utf-8", errors="replace").splitlines() if self._errors.exists() else []
        return lines[-1] if lines else ""
