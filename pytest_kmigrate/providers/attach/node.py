"""One node of a cluster that somebody else runs: what can be seen of it, what hooks do to it, refusals of the rest."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NoReturn

from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.errors import AwaitTimeoutError, NoEffectError, WrongUseError
from pytest_kmigrate.model.events.nodes import HowStopped, NodePaused, NodeReconfigured, NodeResumed
from pytest_kmigrate.model.protocols import Restricted, Stood
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec
from pytest_kmigrate.providers.attach.around import Around
from pytest_kmigrate.providers.attach.journal import Undo
from pytest_kmigrate.providers.last_words import record_dead_threads
from pytest_kmigrate.redaction import shown
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until

_SEEN_WITHIN_S = 30
"""How long after its hook has ended a node may still answer, or not stand still."""


class AttachedNode:
    """Implements ``Node``. What the provider does not offer raises NotApplicableError, recorded."""

    def __init__(self, spec: NodeSpec, around: Around, logs: Path) -> None:
        self.spec = spec
        self.name = spec.name
        self.kafka = spec.kafka
        self.log = logs / spec.name / "server.log"
        self._looker = around.looker
        self._recorder = around.recorder
        self._offered = around.offered
        self._hooks = around.hooks
        self._limits = around.limits
        self._journal = around.journal
        self._dead_threads = 0
        self._changes: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"<node {self.name}, Kafka {self.spec.kafka}>"

    @property
    def installed(self) -> str:
        """What the file says that it runs."""
        return self.kafka

    @property
    def mode(self) -> BrokerMode | None:
        """As the broker itself answers; of one that is down, what it last was."""
        return self._looker.seen(self.name).mode

    @property
    def alive(self) -> bool:
        """Whether it answers, or at least takes connections."""
        return self._looker.seen(self.name).is_alive

    @property
    def stands_still(self) -> bool:
        """Whether it takes connections and does not answer."""
        return self._looker.seen(self.name).stands_still

    @property
    def properties(self) -> Mapping[str, str]:
        """What was set here; the rest is somebody else's."""
        self._require(Capability.RECONFIGURE, "reading the properties of")
        return {key: value for key, value in self._changes.items() if value is not None}

    def await_ready(self, within_s: float = PATIENCE_S) -> None:
        """Return when it answers."""
        until(lambda: self.alive or NotYet("no answer"), awaited=f"an answer of {self.name}", within_s=within_s)

    def start(self, *, wait: bool = True) -> None:
        """By its hook."""
        self._require(Capability.START, "starting")
        if self.alive:
            raise WrongUseError(f"{self.name} runs already: stop or kill it before starting it")
        self._hooks.call("start", self.name)
        if wait:
            self.await_ready()
        self._journal.undone(Undo("start", self.name))

    def stop(self, within_s: float = 30) -> None:
        """By its hook, which takes as long as it takes."""
        self._end(Capability.START, "stop", "controlled")

    def kill(self) -> None:
        """By its hook."""
        self._end(Capability.KILL, "kill", "killed")

    def pause(self) -> None:
        """By its hook; return when it takes connections and does not answer."""
        self._require(Capability.PAUSE, "pausing")
        self._limits.require_up(self.name, "pausing")
        self._journal.note(Undo("resume", self.name))
        self._hooks.call("pause", self.name)
        self._await_effect("pause", "it answers", lambda: self.stands_still)
        self._recorder.record(NodePaused(), self.name)

    def resume(self) -> None:
        """By its hook."""
        self._require(Capability.PAUSE, "resuming")
        self._hooks.call("resume", self.name)
        self._journal.undone(Undo("resume", self.name))
        self._recorder.record(NodeResumed(), self.name)

    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """By its hook, which gets a file: a line ``key=value`` for each property, the key alone to take it away."""
        self._require(Capability.RECONFIGURE, "reconfiguring")
        self._limits.require_hours(f"reconfiguring {self.name}")
        with TemporaryDirectory(prefix="kmigrate-hook-") as folder:
            file = Path(folder) / "changes.properties"
            lines = [key if value is None else f"{key}={value}" for key, value in changes.items()]
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            self._hooks.call("reconfigure", self.name, {"file": str(file)})
        self._changes.update(changes)
        shown_changes = {key: None if value is None else shown(key, value) for key, value in changes.items()}
        self._recorder.record(NodeReconfigured(shown_changes, mode or self.mode), self.name)

    def install(self, kafka: str) -> None:
        """Refused."""
        self._refuse(Capability.INSTALL, "installing another Kafka on")

    def wipe(self) -> None:
        """Refused."""
        self._refuse(Capability.WIPE, "wiping")

    def fail_log_dir(self, number: int) -> None:
        """Refused."""
        self._refuse(Capability.LOG_DIRS, "taking a log directory of")

    def repair_log_dir(self, number: int) -> None:
        """Refused."""
        self._refuse(Capability.LOG_DIRS, "giving back a log directory of")

    def restrict(self, what: Restricted, to: int | None) -> None:
        """Refused."""
        self._refuse(Capability.LIMITS, f"lowering the {what} of")

    def set_clock(self, offset_s: int) -> None:
        """Refused."""
        self._refuse(Capability.CLOCKS, "setting the clock of")

    def find_others(self, *, by_name: bool) -> None:
        """Refused."""
        self._refuse(Capability.NAMES, "changing the name service of")

    def tear_tails(self, size: int) -> Mapping[str, int]:
        """Refused."""
        self._refuse(Capability.DISKS, "tearing the logs of")

    def starve(self, percent: int) -> AbstractContextManager[Callable[[], Stood]]:
        """Refused."""
        self._refuse(Capability.STARVE, "starving")

    def dump_threads(self) -> None:
        """Nothing: what a hang looks like is in the logs of those who run it."""

    def tell_rules(self) -> None:
        """It was started with none of ours."""

    def tell_identity(self) -> None:
        """Its disks are not ours to read."""

    def tell_dead_threads(self) -> None:
        """Record the threads of it that an error ended, each once, as far as its log is copied."""
        self._dead_threads = record_dead_threads(self._recorder, self.name, self.log, self._dead_threads)

    def _end(self, capability: Capability, hook: Literal["stop", "kill"], how: HowStopped) -> None:
        doing = "stopping" if hook == "stop" else "killing"
        self._require(capability, doing)
        if not self.alive:
            return
        self._limits.require_up(self.name, doing)
        self._journal.note(Undo("start", self.name))
        with self._looker.ending(self.name, how):
            self._hooks.call(hook, self.name)
            self._await_effect(hook, "it takes connections", lambda: not self.alive)

    def _await_effect(self, hook: str, still: str, has_come: Callable[[], bool]) -> None:
        """Return when a hook that has ended well has done something; NoEffectError if it has not."""
        try:
            until(has_come, awaited=f"the effect of {hook} on {self.name}", within_s=_SEEN_WITHIN_S)
        except AwaitTimeoutError as error:
            raise NoEffectError(
                f"hooks.{hook} of {self.name} reported success, and {_SEEN_WITHIN_S} s later {still} as before"
            ) from error

    def _require(self, capability: Capability, doing: str) -> None:
        require(self._offered, frozenset({capability}), f"{doing} {self.name}", self._recorder)

    def _refuse(self, capability: Capability, doing: str) -> NoReturn:
        self._require(capability, doing)
        raise AssertionError(f"{capability} is offered, and nothing does it")
