"""A node as one supervised JVM: start, stop, kill, pause, restart with other properties, wipe."""

import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.errors import AwaitTimeoutError, ClusterError, HarnessLostError, KmigrateError, WrongUseError
from pytest_kmigrate.model.event import RuleOutcome
from pytest_kmigrate.model.events import nodes as events
from pytest_kmigrate.model.protocols import Restricted, Stood
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec, Role
from pytest_kmigrate.providers import last_words
from pytest_kmigrate.providers.jolokia import JolokiaClient
from pytest_kmigrate.providers.owned import clocks
from pytest_kmigrate.providers.owned.agents import attaching
from pytest_kmigrate.providers.owned.disks import folders
from pytest_kmigrate.providers.owned.grants import Grants
from pytest_kmigrate.providers.owned.jvm import RULES
from pytest_kmigrate.providers.owned.network.addresses import JOLOKIA_PORT
from pytest_kmigrate.providers.owned.properties import node_properties, write_file
from pytest_kmigrate.providers.owned.readiness import must_be_its_jvm, ready
from pytest_kmigrate.providers.owned.reporting import record_identity, record_requests
from pytest_kmigrate.providers.owned.surroundings import Surroundings
from pytest_kmigrate.redaction import redacted_properties
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_PLANTED = "kmigrate.planted: "
"""What ``MutantPlanter.java`` writes before the name of the class that it has put in the place of Kafka's."""
_ASKED_EVERY_S = 0.02
_KILLED_WITHIN_S = 30
_STILL_WITHIN_S = 10
_DUMPED_WITHIN_S = 2
_OBEYED = (0, -signal.SIGTERM, 128 + signal.SIGTERM)  # how a process ends that is stopped, and a JVM


class OwnedNode:
    """One node; its process may be started and ended many times, its disk stays until wiped."""

    def __init__(self, spec: NodeSpec, distribution: Distribution, around: Surroundings) -> None:
        self.spec, self.name, self.mode = spec, spec.name, spec.mode
        self.pid: int | None = None
        self.incarnation = 0
        self.distribution = distribution
        self._installed = spec.kafka
        self._around = around
        self.changes: dict[str, str | None] = {}
        self._ended = threading.Event()
        self._ended.set()
        self._ending: events.HowStopped | None = None
        self._exit_code: int | None = None
        self._started_ns = 0
        self._byteman_in: int | None = None
        self._dead_threads = 0
        self._grants = Grants()
        self._is_starved = False
        self._left: list[bytes] = []
        self._life_began = 0  # where its log was when its process was started
        self._home = around.scratch / spec.name
        self._log_folder = around.logs / spec.name
        self.disk = self._home / "disk"
        self._clock = self._home / clocks.FILE
        self.log = self._log_folder / "server.log"
        for folder in (self.disk, self._log_folder):
            folder.mkdir(parents=True, exist_ok=True)
        self.find_others(by_name=True)

    def __repr__(self) -> str:
        return f"<node {self.name}, Kafka {self.distribution.version}>"

    @property
    def stands_still(self) -> bool:
        """Whether the kernel has stopped the process (state T); one that has ended, or is only starved, is not."""
        return self._state() == psutil.STATUS_STOPPED and not self._is_starved

    @property
    def alive(self) -> bool:
        """Whether its process exists (a paused one does)."""
        return not self._ended.is_set()

    @property
    def address(self) -> str:
        """Where it binds, past all links."""
        return self._around.addresses.real(self.name)

    @property
    def metrics_url(self) -> str:
        """Its Jolokia agent (brokers and controllers)."""
        return f"http://{self.address}:{JOLOKIA_PORT}/jolokia"

    @property
    def properties(self) -> Mapping[str, str]:
        """What its next start reads."""
        around = self._around
        return node_properties(around.addresses, around.protection, self.spec, self.mode, self.disk, self.changes)

    @property
    def metadata_dir(self) -> Path:
        """The folder with its metadata log."""
        return folders.metadata_dir(self.disk, self.spec)

    @property
    def properties_file(self) -> Path:
        """The file its next start reads; written by ``write_properties``."""
        return self._home / "server.properties"

    @property
    def kafka(self) -> str:
        """The version it runs, also when the topology names a folder."""
        return self.distribution.version

    @property
    def installed(self) -> str:
        """The Kafka it runs as the topology or ``install`` named it."""
        return self._installed

    @property
    def hosts(self) -> Path:
        """Its only name service: where it finds each other node."""
        return self._home / "hosts"

    def write_properties(self) -> Path:
        """Write the properties file, and a redacted copy as evidence beside the log."""
        properties = dict(self.properties)
        write_file(self.properties_file, properties)
        evidence = self._log_folder / f"server-{self.incarnation}.properties"
        write_file(evidence, redacted_properties(properties))
        if self.spec.role is Role.ZOOKEEPER:
            (self.disk / "myid").write_text(str(self.spec.node_id))  # how a server of an ensemble knows which it is
        return self.properties_file

    def start(self, *, wait: bool = True) -> None:
        """Start the process; with ``wait``, return when it is ready."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs already (pid {self.pid}): stop or kill it before starting it")
        self.incarnation += 1
        self._ending = None
        self._exit_code = None
        self._ended.clear()
        around = self._around
        clocks.set_to(self._clock, 0)
        command = around.jvm.node_command(self.spec, self.distribution, self.hosts, self.write_properties())
        self.tell_identity()
        self._started_ns, self._life_began = around.recorder.now_ns(), last_words.size_of(self.log)
        try:
            self.pid = around.supervision.spawn(command, cwd=self._home, log=self.log, on_exit=self._on_exit)
        except KmigrateError:
            self._ended.set()
            raise
        if around.jvm.has_byteman(self.spec):
            self._byteman_in = self.pid
        runs = self.distribution
        around.recorder.record(
            events.NodeStarted(self.spec.role, self.mode, self.pid, runs.version, self.incarnation, runs.digest),
            self.name,
        )
        if wait:
            self.await_ready()

    def await_ready(self, within_s: float = PATIENCE_S, abort: Callable[[], None] = lambda: None) -> None:
        """Return when it serves; a thread dump is in its log when it never does. ``abort`` may raise meanwhile."""

        def give_up() -> None:
            self._raise_if_died()
            abort()

        try:
            until(
                lambda: ready(self.spec.role, self.address),
                awaited=f"{self.name} ready",
                within_s=within_s,
                every_s=_ASKED_EVERY_S,
                abort=give_up,
            )
        except AwaitTimeoutError:
            self.dump_threads()
            raise
        must_be_its_jvm(self.name, self.pid, self.distribution.image)
        took_ms = (self._around.recorder.now_ns() - self._started_ns) // 1_000_000
        self._around.recorder.record(events.NodeReady(took_ms), self.name)
        record_requests(self._around, self.spec)

    def stop(self, within_s: float = 30) -> None:
        """Controlled shutdown by SIGTERM; killed after ``within_s``."""
        self._end(signal.SIGTERM, "controlled", within_s)

    def kill(self) -> None:
        """SIGKILL: no goodbye to anybody."""
        self._end(signal.SIGKILL, "killed", 10)

    def pause(self) -> None:
        """SIGSTOP: the process stands still, its connections stay. The kernel stops its threads one by one: waits."""
        self._signal(signal.SIGSTOP)
        until(self._is_still_or_gone, awaited=f"{self.name} standing still", within_s=_STILL_WITHIN_S)
        self._around.recorder.record(events.NodePaused(), self.name)

    def resume(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)
        self._around.recorder.record(events.NodeResumed(), self.name)

    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """Set (None: unset) properties, and the mode, in force from the next start."""
        self.changes.update(changes)
        if mode is not None:
            self.mode = mode
        changed = {key: value and redacted_properties({key: value})[key] for key, value in changes.items()}
        self._around.recorder.record(events.NodeReconfigured(changed, self.mode), self.name)

    def install(self, kafka: str) -> None:
        """Let a stopped node's next start run another Kafka."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs (pid {self.pid}): stop it before another Kafka is installed")
        found = self._around.resolve(kafka)
        self.distribution, self._installed = found, kafka
        self._around.recorder.record(events.NodeInstalled(kafka, found.version, found.digest), self.name)

    def wipe(self) -> None:
        """Empty the disks of a stopped node."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs (pid {self.pid}): stop it before its disk is wiped")
        shutil.rmtree(self.disk)
        self.disk.mkdir()
        self._around.recorder.record(events.NodeWiped(), self.name)

    def fail_log_dir(self, number: int) -> None:
        """Take one of its log directories (1, 2, ...) away."""
        folders.fail(self.disk, self.spec, number)

    def repair_log_dir(self, number: int) -> None:
        """Give the log directory back as it was."""
        folders.repair(self.disk, self.spec, number)

    def restrict(self, what: Restricted, to: int | None) -> None:
        """Lower what the kernel grants to its process; None: as before."""
        if self.pid is None or not self.alive:
            return
        if to is None:
            self._grants.give_back(self.pid, what)
        else:
            self._grants.lower(self.pid, what, to)

    def set_clock(self, offset_s: int) -> None:
        """Let its clock be so much ahead of this machine's; its next start begins without that."""
        if not self._around.jvm.clocks:
            raise WrongUseError(
                f"{self.name}: expected a cluster with clocks of its own, which a test that names Clock gets; got one "
                "that was started for others: take the test out of its scene"
            )
        clocks.set_to(self._clock, offset_s)

    def find_others(self, *, by_name: bool) -> None:
        """Let its hosts file name the other nodes, or itself alone; readers see the whole file or the one before."""
        text = self._around.addresses.hosts_file(self.name)
        lines = [each for each in text.splitlines() if by_name or each.split()[1] in (self.name, "localhost")]
        new = self.hosts.with_suffix(".new")
        new.write_text("\n".join(lines) + "\n")
        new.replace(self.hosts)

    def tear_tails(self, size: int) -> Mapping[str, int]:
        """Cut the end off the newest segment of each partition."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs (pid {self.pid}): kill it before its logs are torn")
        return folders.torn(self.disk, self.spec, size)

    @contextmanager
    def starve(self, percent: int) -> Iterator[Callable[[], Stood]]:
        """Have the supervisor stop and continue its process, many times a second."""
        if self.pid is None or not self.alive:
            raise WrongUseError(f"{self.name} does not run: start it before it is starved")
        self._is_starved = True
        try:
            with self._around.supervision.starved(self.pid, percent) as stood:
                yield stood
        finally:
            self._is_starved = False

    def dump_threads(self) -> None:
        """Let the JVM write a thread dump into its log, and wait for it, as the process may be killed next."""
        if not self.alive:
            return
        before = last_words.size_of(self.log)
        self._signal(signal.SIGQUIT)
        if not self.stands_still:
            with suppress(AwaitTimeoutError):  # a JVM that cannot come to a halt dumps nothing
                until(
                    lambda: last_words.has_dumped(self.log, before), awaited="a thread dump", within_s=_DUMPED_WITHIN_S
                )

    def load_byteman(self, byteman: Path) -> None:
        """Load Byteman into the running process, unless this incarnation has it already."""
        if self._byteman_in != self.pid and self.pid is not None:
            attaching.load_agent(self.pid, byteman, self.address, lambda: self._signal(signal.SIGQUIT))
            self._byteman_in = self.pid

    def tell_rules(self) -> None:
        """Record what became of the rules or mutant it was started with; one that does not answer proves nothing."""
        if self.alive and self._around.jvm.has_byteman(self.spec):
            with suppress(OSError):
                rules = attaching.listed(self.address, RULES)
                self._around.recorder.record(events.RulesReported(rules), self.name)
        self._report_mutant()

    def _report_mutant(self) -> None:
        """Record whether it has loaded its mutant, by its log: a class may be loaded last of all, or the node die."""
        if self.log.is_file() and (mutant := self._around.jvm.mutant_of(self.spec, self.distribution)):
            is_loaded = f"{_PLANTED}{mutant.class_name}\n".encode() in self.log.read_bytes()
            outcome = RuleOutcome.CARRIED_OUT if is_loaded else RuleOutcome.NOWHERE
            self._around.recorder.record(events.RulesReported({mutant.id: outcome}), self.name)

    def executed(self, *, anew: bool = False) -> list[bytes]:
        """What its JVMs have executed: those that ended since the last call, and the present one."""
        left, self._left = self._left, []
        return [*left, *self._read_executed(anew=anew)]

    def _read_executed(self, *, anew: bool) -> list[bytes]:
        """Nothing from a JVM that does not answer, as it stands still or starts."""
        if self._around.jvm.is_watched(self.spec) and self.alive and not self.stands_still:
            with suppress(OSError, ClusterError), closing(JolokiaClient()) as jolokia:
                answer = jolokia.executed_at(self.metrics_url, anew=anew)
                return [] if answer is None else [answer]
        return []

    def tell_identity(self) -> None:
        """Record what its meta.properties holds now."""
        record_identity(self._around.recorder, self.name, folders.directories(self.disk, self.spec))

    def tell_dead_threads(self) -> None:
        """Record the threads of it that an error ended, each once."""
        known, recorder = self._dead_threads, self._around.recorder
        self._dead_threads = last_words.record_dead_threads(recorder, self.name, self.log, known)

    def _end(self, number: signal.Signals, how: events.HowStopped, within_s: float) -> None:
        if not self.alive:
            return
        self.tell_rules()
        self._left += self._read_executed(anew=False)
        began = time.monotonic()
        self._ending = how
        self._signal(number)
        if not self._has_ended_within(within_s):
            self.dump_threads()
            self._ending = "hung"
            self._signal(signal.SIGKILL)
            if not self._ended.wait(_KILLED_WITHIN_S):
                raise AwaitTimeoutError(
                    f"the end of {self.name}, which was killed", _KILLED_WITHIN_S, f"process {self.pid} still exists"
                )
        took_ms = int((time.monotonic() - began) * 1000)
        said = "" if how == "killed" or self._exit_code in _OBEYED else self._last_words()
        self._around.recorder.record(events.NodeStopped(self._ending, self._exit_code, took_ms, said), self.name)

    def _has_ended_within(self, within_s: float) -> bool:
        """Wait for the end; what becomes of rules meanwhile is recorded, as the last thing the node can report."""
        if not self._around.jvm.has_byteman(self.spec):
            return self._ended.wait(within_s)
        latest: list[dict[str, str]] = []

        def has_ended() -> bool:
            with suppress(OSError):
                latest[:] = [attaching.listed(self.address, RULES)]
            return self._ended.is_set()

        with suppress(AwaitTimeoutError):
            until(has_ended, awaited=f"the end of {self.name}", within_s=within_s, ends_anyway=True)
        for rules in latest:
            self._around.recorder.record(events.RulesReported(rules), self.name)
        return self._ended.is_set()

    def _signal(self, number: signal.Signals) -> None:
        if self.pid is not None:
            self._around.supervision.signal(self.pid, number)

    def _is_still_or_gone(self) -> bool | NotYet:
        state = self._state()
        return state in (None, psutil.STATUS_STOPPED) or NotYet(f"process {self.pid} {state}")

    def _state(self) -> str | None:
        with suppress(psutil.NoSuchProcess):  # it ended, and its end is not announced yet
            return psutil.Process(self.pid).status() if self.alive else None
        return None

    def _on_exit(self, code: int) -> None:
        self._exit_code = code
        self._report_mutant()
        if self._ending is None and self._around.supervision.is_lost:
            self._ending = "gone"
            self._around.recorder.record(events.NodeStopped("gone", code, 0, ""), self.name)
        if self._ending is None:
            died = events.NodeDied(code, self._last_words(), self.machine_trouble() or None)
            self._around.recorder.record(died, self.name)
        self._ended.set()

    def machine_trouble(self) -> str:
        """What this machine lacks, by the log of the node's present or last life; empty if nothing is known."""
        by_itself = self._exit_code if self._ending is None else None
        return last_words.machine_trouble(self.log, self._life_began, by_itself)

    def _last_words(self) -> str:
        return last_words.last_words(self.log, self._life_began)

    def _raise_if_died(self) -> None:
        if not self.alive and self._around.supervision.is_lost:
            raise HarnessLostError(f"{self.name} ended with the supervisor of its cluster")
        if not self.alive:
            is_recorded = self._ending is None
            raise last_words.death(self.name, self._exit_code, self.log, self._life_began, is_recorded=is_recorded)
