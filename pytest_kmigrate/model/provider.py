"""A provider: what makes a cluster of a topology."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.protocols import Cluster
from pytest_kmigrate.model.topology import Topology


@dataclass(frozen=True)
class Artifact:
    """One Kafka as nodes run it: the release that its own files name, and one SHA-256 over all of them."""

    version: str
    digest: str
    build: str = ""
    """What distinguishes it from the release of that version, such as ``acme.0a1b2c3d``; empty: it is that release."""
    image: str | None = None
    """The id of the container image that it runs in; None: nodes run it on this machine."""
    classes: str = ""
    """One SHA-256 over the classes of its jars; empty where the provider does not have them."""

    @property
    def name(self) -> str:
        """What reports call it: the version, with the build of its own if it is one (``3.9.1+acme.0a1b2c3d``)."""
        return f"{self.version}+{self.build}" if self.build else self.version


@dataclass(frozen=True)
class Mutant:
    """One class of Kafka with a defect that was planted into it."""

    id: str
    class_name: str
    """Its full name, with ``$`` before that of a nested class."""
    file: Path
    """The class file that stands for Kafka's own."""
    original: str | None = None
    """The SHA-256 of the class file that was changed: a node that has another one gets no mutant; None: any gets it."""


@dataclass(frozen=True)
class Instruments:
    """What every JVM of Kafka has loaded besides Kafka."""

    rules: Path | None = None
    """A script of Byteman rules."""
    mutant: Mutant | None = None
    """What is loaded in the place of one class; None: every class is Kafka's own."""
    watched: Sequence[str] = ()
    """Patterns of classes, such as ``org.apache.kafka.raft.*``: which of their code is executed is recorded."""
    clocks: bool = False
    """Each node has a clock of its own."""


NOTHING_LOADED = Instruments()


class Provider(Protocol):
    """Makes clusters; what it promises is tested by ``providers.contract``."""

    @property
    def name(self) -> str:
        """What ``--kmigrate-provider`` and ``run.json`` call it."""
        ...

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do to its clusters."""
        ...

    @property
    def lacking(self) -> Mapping[Capability, str]:
        """Why it cannot do the rest, as far as there is more to say than that it cannot."""
        ...

    @property
    def facts(self) -> Mapping[str, str]:
        """What a cluster that it did not make says of itself, for ``run.json``; empty of one that it makes."""
        ...

    @property
    def runs_here(self) -> bool:
        """Whether its nodes take the memory of this machine."""
        ...

    def artifacts(self, topology: Topology) -> Mapping[str, Artifact]:
        """What nodes of a topology run, or are rolled to, by its name in there, fetched and verified where need be.

        EnvironmentLackError when it cannot be had.
        """
        ...

    def provision(
        self,
        topology: Topology,
        recorder: Recorder,
        logs: Path,
        *,
        instruments: Instruments = NOTHING_LOADED,
        keep: Callable[[], bool] = lambda: False,
    ) -> AbstractContextManager[Cluster]:
        """A cluster whose links work and whose nodes are not started yet; nothing of it is left when the block ends.

        ``logs`` gets a folder per node; ``keep``, asked at the end, lets the cluster outlive us.
        """
        ...
