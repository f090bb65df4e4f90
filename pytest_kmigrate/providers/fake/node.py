"""A node in memory."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.events.nodes import (
    HowStopped,
    NodeInstalled,
    NodePaused,
    NodeReady,
    NodeReconfigured,
    NodeResumed,
    NodeStarted,
    NodeStopped,
    NodeWiped,
)
from pytest_kmigrate.model.protocols import Restricted, Stood
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.waiting import PATIENCE_S


def digest_of(kafka: str) -> str:
    """What stands for the digest of the jars of a Kafka that has none."""
    return f"fake-{kafka}"


class FakeNode:
    """A node that is up or down because a test made it so; what lies on its disk stays until it is wiped."""

    def __init__(self, spec: NodeSpec, addresses: Addresses, recorder: Recorder, logs: Path) -> None:
        self.spec = spec
        self.name = spec.name
        self.mode = spec.mode
        self.kafka = spec.kafka
        self.alive = False
        self.stands_still = False
        self.incarnation = 0
        self.formatted_with: str | None = None
        self.disk: set[str] = set()
        self.failed_log_dirs: set[int] = set()
        self.restricted: dict[Restricted, int] = {}
        self.clock_offset_s = 0
        self.finds_others = True
        self.tails: dict[str, int] = {}
        self.starved_to: int | None = None
        self.stood = Stood(0, 0)
        self.address = addresses.real(spec.name)
        self._recorder = recorder
        self.changes: dict[str, str | None] = {}
        self.log = logs / spec.name / "server.log"

    def __repr__(self) -> str:
        return f"<node {self.name}, Kafka {self.kafka}>"

    @property
    def installed(self) -> str:
        """Every Kafka is what its name says."""
        return self.kafka

    @property
    def properties(self) -> Mapping[str, str]:
        """What its next start reads: the topology's properties, then what was reconfigured."""
        layered = {**self.spec.properties, **self.changes}
        return {key: value for key, value in layered.items() if value is not None}

    def start(self, *, wait: bool = True) -> None:
        """It is up; with ``wait`` also ready."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs already: stop or kill it before starting it")
        self.alive, self.stands_still = True, False
        self.incarnation += 1
        self._say("started")
        started = NodeStarted(self.spec.role, self.mode, None, self.kafka, self.incarnation, digest_of(self.kafka))
        self._recorder.record(started, self.name)
        if wait:
            self.await_ready()

    def await_ready(self, within_s: float = PATIENCE_S) -> None:
        """It is ready as soon as it is up."""
        self._recorder.record(NodeReady(took_ms=0), self.name)

    def stop(self, within_s: float = 30) -> None:
        """It is down, in a controlled way."""
        self._end("controlled")

    def kill(self) -> None:
        """It is down."""
        self._end("killed")

    def pause(self) -> None:
        """It stands still, and is alive."""
        self.stands_still = self.alive
        self._recorder.record(NodePaused(), self.name)

    def resume(self) -> None:
        """It goes on."""
        self.stands_still = False
        self._recorder.record(NodeResumed(), self.name)

    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """Set (None: unset) properties, and the mode."""
        self.changes.update(changes)
        self.mode = mode or self.mode
        self._recorder.record(NodeReconfigured(dict(changes), self.mode), self.name)

    def install(self, kafka: str) -> None:
        """Let a stopped node run another Kafka."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs: stop it before another Kafka is installed")
        self.kafka = kafka
        self._recorder.record(NodeInstalled(kafka, kafka, digest_of(kafka)), self.name)

    def wipe(self) -> None:
        """Empty the disk of a stopped node."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs: stop it before its disk is wiped")
        self.disk.clear()
        self.formatted_with = None
        self._recorder.record(NodeWiped(), self.name)

    def fail_log_dir(self, number: int) -> None:
        """One of its log directories is gone."""
        if self.spec.log_dirs == 1:
            raise WrongUseError(f"{self.name}: expected at least two log directories, got one")
        self.failed_log_dirs.add(number)

    def repair_log_dir(self, number: int) -> None:
        """It is back."""
        self.failed_log_dirs.discard(number)

    def restrict(self, what: Restricted, to: int | None) -> None:
        """Note it."""
        if to is None:
            self.restricted.pop(what, None)
        else:
            self.restricted[what] = to

    def set_clock(self, offset_s: int) -> None:
        """Note it."""
        self.clock_offset_s = offset_s

    def find_others(self, *, by_name: bool) -> None:
        """Note it."""
        self.finds_others = by_name

    def tear_tails(self, size: int) -> Mapping[str, int]:
        """Note it; a test says in ``tails`` how much each file has."""
        if self.alive:
            raise WrongUseError(f"{self.name} runs: kill it before its logs are torn")
        return {file: min(size, has) for file, has in self.tails.items() if has}

    @contextmanager
    def starve(self, percent: int) -> Iterator[Callable[[], Stood]]:
        """Note it; a test says in ``stood`` how long it stood still."""
        self.starved_to = percent
        try:
            yield lambda: self.stood
        finally:
            self.starved_to = None

    def copy_disk(self, to: Path) -> None:
        """Write down what is on the disk."""
        to.mkdir(parents=True)
        (to / "disk.json").write_text(json.dumps([sorted(self.disk), self.formatted_with]))

    def put_back_disk(self, of: Path) -> None:
        """Read it again."""
        marks, self.formatted_with = json.loads((of / "disk.json").read_text())
        self.disk = set(marks)

    def dump_threads(self) -> None:
        """A line in the log, where a JVM would write its threads."""
        self._say("thread dump")

    def tell_rules(self) -> None:
        """It was started with none."""

    def tell_identity(self) -> None:
        """There is none on its disk."""

    def tell_dead_threads(self) -> None:
        """It has no threads."""

    def _end(self, how: HowStopped) -> None:
        if not self.alive:
            return
        self.alive, self.stands_still = False, False
        self._say(how)
        self._recorder.record(NodeStopped(how, exit_code=0, took_ms=0, said=""), self.name)

    def _say(self, text: str) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("a", encoding="utf-8") as log:
            log.write(f"{self.name} {text}\n")
