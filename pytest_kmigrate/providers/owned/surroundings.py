"""What all nodes of one cluster share."""

import signal
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_kmigrate.distributions.kafka import Distribution
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.protocols import Stood
from pytest_kmigrate.providers.owned.commands import Command
from pytest_kmigrate.providers.owned.jvm import Jvm
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.network.namespaces import HERE, Namespace
from pytest_kmigrate.providers.owned.protection.security import Protection


class Supervised(Protocol):
    """Owns every process of one cluster: its nodes, and those beside it."""

    @property
    def pid(self) -> int:
        """The process that ends the cluster."""

    @property
    def is_lost(self) -> bool:
        """Whether that process crashed or was killed: the nodes are gone with it."""

    def spawn(self, command: Command, *, cwd: Path, log: Path, on_exit: Callable[[int], None]) -> int:
        """Start a node in its folder, which has its name; its process id. ``on_exit`` gets its exit code later.

        The code is negative for a signal, and comes from another thread.
        """

    def signal(self, pid: int, number: signal.Signals) -> None:
        """Send a signal to a node; nothing when it has ended."""

    def starved(self, pid: int, percent: int) -> AbstractContextManager[Callable[[], Stood]]:
        """Let a node run for so much of the time only; how long it has been made to stand still."""

    def adopt(self, pid: int) -> None:
        """Let that child of ours end with the cluster, too."""


@dataclass(frozen=True)
class Surroundings:
    """What all nodes of one cluster share."""

    addresses: Addresses
    protection: Protection
    supervision: Supervised
    jvm: Jvm
    recorder: Recorder
    scratch: Path
    logs: Path
    resolve: Callable[[str], Distribution]
    network: Namespace = HERE
    """Where the proxies of its links have their sockets."""
