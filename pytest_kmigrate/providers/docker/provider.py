"""The docker provider as others know it: clusters of containers."""

from pytest_kmigrate.providers.docker.provisioning import provision
from pytest_kmigrate.providers.owned.provider import OwnedProvider


class DockerProvider(OwnedProvider):
    """Each node is a container."""

    name = "docker"
    make = staticmethod(provision)
