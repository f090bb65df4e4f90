"""One node of a cluster that somebody else runs: what can be seen of it, and refusals of the rest."""

from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from pytest_kmigrate.model.capabilities import Capability, require
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.topology import BrokerMode, NodeSpec
from pytest_kmigrate.providers.attach.looking import Looker
from pytest_kmigrate.waiting import PATIENCE_S, NotYet, until


class AttachedNode:
    """Implements ``Node``. What the provider does not offer raises NotApplicableError, recorded."""

    def __init__(
        self, spec: NodeSpec, looker: Looker, recorder: Recorder, logs: Path, offered: frozenset[Capability]
    ) -> None:
        self.spec = spec
        self.name = spec.name
        self.kafka = spec.kafka
        self.log = logs / spec.name / "server.log"
        self._looker = looker
        self._recorder = recorder
        self._offered = offered

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
        """Somebody else's."""
        self._refuse(Capability.RECONFIGURE, "reading the properties of")

    def await_ready(self, within_s: float = PATIENCE_S) -> None:
        """Return when it answers."""
        until(lambda: self.alive or NotYet("no answer"), awaited=f"an answer of {self.name}", within_s=within_s)

    def start(self, *, wait: bool = True) -> None:
        """Refused."""
        self._refuse(Capability.START, "starting")

    def stop(self, within_s: float = 30) -> None:
        """Refused."""
        self._refuse(Capability.START, "stopping")

    def kill(self) -> None:
        """Refused."""
        self._refuse(Capability.KILL, "killing")

    def pause(self) -> None:
        """Refused."""
        self._refuse(Capability.PAUSE, "pausing")

    def resume(self) -> None:
        """Refused."""
        self._refuse(Capability.PAUSE, "resuming")

    def reconfigure(self, changes: Mapping[str, str | None], mode: BrokerMode | None = None) -> None:
        """Refused."""
        self._refuse(Capability.RECONFIGURE, "reconfiguring")

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

    def dump_threads(self) -> None:
        """Nothing: what a hang looks like is in the logs of those who run it."""

    def tell_rules(self) -> None:
        """It was started with none of ours."""

    def tell_identity(self) -> None:
        """Its disks are not ours to read."""

    def tell_dead_threads(self) -> None:
        """Its log may be somewhere else."""

    def _refuse(self, capability: Capability, doing: str) -> NoReturn:
        require(self._offered, frozenset({capability}), f"{doing} {self.name}", self._recorder)
        raise AssertionError(f"{capability} is offered, and nothing does it")
