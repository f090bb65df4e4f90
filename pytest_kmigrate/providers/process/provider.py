"""The process provider as others know it: its name, what it can do, and clusters of JVMs on this machine."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import Artifact
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.software import software_for
from pytest_kmigrate.providers.process.provisioning import provision


class ProcessProvider:
    """Implements ``Provider``; ``notify`` gets a line about every download."""

    name = "process"
    runs_here = True
    capabilities = OwnedCluster.capabilities
    lacking: Mapping[Capability, str] = MappingProxyType({})

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._tell = notify

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """The distributions, and with them everything else that the cluster needs on this machine."""
        return software_for(topology, self._tell).artifacts

    def provision(
        self,
        topology: Topology,
        recorder: Recorder,
        logs: Path,
        *,
        rules: Path | None = None,
        keep: Callable[[], bool] = lambda: False,
    ) -> AbstractContextManager[OwnedCluster]:
        """A cluster of JVMs, not started yet."""
        return provision(topology, software_for(topology, self._tell), recorder, logs, rules=rules, keep=keep)
