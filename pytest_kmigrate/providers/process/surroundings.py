"""What all nodes of one cluster share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.providers.process.jvm import Jvm
from pytest_kmigrate.providers.process.network.addresses import Addresses
from pytest_kmigrate.providers.process.protection.security import Protection
from pytest_kmigrate.providers.process.supervision import Supervision


@dataclass(frozen=True)
class Surroundings:
    """What all nodes of one cluster share."""

    addresses: Addresses
    protection: Protection
    supervision: Supervision
    jvm: Jvm
    recorder: Recorder
    scratch: Path
    logs: Path
    resolve: Callable[[str], Distribution]
