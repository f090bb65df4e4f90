"""The process provider as others know it: clusters of JVMs on this machine."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pytest_kmigrate.model.provider_names import PROCESS
from pytest_kmigrate.providers.owned.provider import OwnedProvider

if TYPE_CHECKING:
    from pytest_kmigrate.providers.owned.cluster import OwnedCluster


def _provision(*given: Any, **options: Any) -> "AbstractContextManager[OwnedCluster]":
    """Import what makes a cluster when one is made: pytest chooses a provider whenever it collects tests."""
    from pytest_kmigrate.providers.process.provisioning import provision  # noqa: PLC0415 - as said above

    return provision(*given, **options)


class ProcessProvider(OwnedProvider):
    """Each node is a process."""

    name = PROCESS
    make = staticmethod(_provision)
