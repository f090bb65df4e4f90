"""The docker provider as others know it: clusters of containers."""

from collections.abc import Callable, Mapping

from pytest_kmigrate.distributions.distribution import RUNS_IMAGES, Distribution, is_image
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.docker.images import brought
from pytest_kmigrate.providers.docker.provisioning import provision
from pytest_kmigrate.providers.owned.provider import OwnedProvider
from pytest_kmigrate.providers.owned.software import Software, resolved, software_for

_BEYOND = {
    Capability.LIMITS: "the kernel lets only the engine change what it grants to a container",
    Capability.CLOCKS: "an image has no library that gives a process a clock of its own",
    Capability.NAMES: "a file that is mounted into a container does not change there with every engine",
    Capability.DISKS: "the disks of containers are the engine's",
    Capability.STARVE: "each signal goes through the engine, which takes longer than a process may stand still",
}


class DockerProvider(OwnedProvider):
    """Each node is a container; ``kafka``: the distribution under test, which may be an image."""

    name = RUNS_IMAGES
    make = staticmethod(provision)

    def __init__(self, notify: Callable[[str], None], kafka: str | None = None) -> None:
        super().__init__(notify)
        self._kafka = kafka
        self._image = brought(kafka, notify).image if kafka is not None and is_image(kafka) else None

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """What is beyond an engine, and what the adapter of the image under test says."""
        cannot = self._image.cannot if self._image else ()
        return _BEYOND | {Capability(each): f"the adapter of {self._kafka} says so" for each in sorted(cannot)}

    def software(self, topology: Topology) -> Software:
        """Images are brought by the engine, all else as for processes."""
        return software_for(topology, self._tell, _brought_or_resolved)


def _brought_or_resolved(kafka: str, progress: Callable[[str], None]) -> Distribution:
    return brought(kafka, progress) if is_image(kafka) else resolved(kafka, progress)
