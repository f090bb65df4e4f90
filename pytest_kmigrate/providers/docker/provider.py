"""The docker provider as others know it: its name, what it can do, and clusters of containers."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.provider import Artifact
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.docker.provisioning import provision
from pytest_kmigrate.providers.owned.cluster import OwnedCluster
from pytest_kmigrate.providers.owned.software import software_for


class DockerProvider:
    """Implements ``Provider``; ``notify`` gets a line about every download."""

    name = "docker"
    runs_here = True
    capabilities = OwnedCluster.capabilities
    lacking: Mapping[Capability, str] = MappingProxyType({})

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._tell = notify

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """The distributions, which containers have mounted, and with them everything else that the cluster needs."""
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
        """A cluster of containers, not started yet."""
        return provision(topology, software_for(topology, self._tell), recorder, logs, rules=rules, keep=keep)
