"""The process provider as others know it: clusters of JVMs on this machine."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.provider_names import PROCESS
from pytest_kmigrate.providers.owned import clocks
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

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """What this machine has no library for."""
        if clocks.library() is not None:
            return {}
        return {Capability.CLOCKS: f"this machine has no {clocks.PACKAGE}: install the package of this name"}
