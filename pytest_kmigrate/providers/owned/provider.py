"""What is the same about providers that run JVMs themselves, wherever these run."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import NOTHING_LOADED, Artifact, Instruments
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.owned.software import Software, instrumented, software_for

if TYPE_CHECKING:
    from pytest_kmigrate.providers.owned.cluster import OwnedCluster


class Provision(Protocol):
    """Makes a cluster of this software; see ``Provider.provision``."""

    def __call__(  # noqa: D102 - as above
        self,
        topology: Topology,
        software: Software,
        recorder: Recorder,
        logs: Path,
        *,
        instruments: Instruments,
        keep: Callable[[], bool],
    ) -> "AbstractContextManager[OwnedCluster]": ...


class OwnedProvider:
    """Implements ``Provider``; ``notify`` gets a line about every download."""

    name: ClassVar[str]
    make: ClassVar[Provision]
    """Where the JVMs run: what makes a cluster there."""
    runs_here = True
    facts: Mapping[str, str] = MappingProxyType({})

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._tell = notify

    @property
    def capabilities(self) -> frozenset[Capability]:
        """All but what is lacking."""
        return frozenset(Capability) - self.lacking.keys()

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """Nothing."""
        return {}

    def software(self, topology: Topology) -> Software:
        """What the nodes of a topology run, on this machine."""
        return software_for(topology, self._tell)

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """The distributions, and with them everything else that the cluster needs on this machine."""
        return self.software(topology).artifacts

    def provision(
        self,
        topology: Topology,
        recorder: Recorder,
        logs: Path,
        *,
        instruments: Instruments = NOTHING_LOADED,
        keep: Callable[[], bool] = lambda: False,
    ) -> "AbstractContextManager[OwnedCluster]":
        """A cluster of JVMs, not started yet."""
        software = instrumented(self.software(topology), instruments, self._tell)
        return self.make(topology, software, recorder, logs, instruments=instruments, keep=keep)
