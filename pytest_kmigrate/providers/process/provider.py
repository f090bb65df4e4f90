"""The process provider as others know it: clusters of JVMs on this machine."""

from pytest_kmigrate.providers.owned.provider import OwnedProvider
from pytest_kmigrate.providers.process.provisioning import provision


class ProcessProvider(OwnedProvider):
    """Each node is a process."""

    name = "process"
    make = staticmethod(provision)
