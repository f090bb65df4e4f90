"""Where steps and faults act: a cluster, what can be seen of it, members of groups, and where it is written down."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pytest_kmigrate.model.event import Recorder
from pytest_kmigrate.model.peer import Znodes
from pytest_kmigrate.model.protocols.cluster import Cluster
from pytest_kmigrate.model.turns import Turns


class Member(Protocol):
    """One member of a consumer group under test: a process that faults may hit."""

    @property
    def name(self) -> str: ...
    @property
    def alive(self) -> bool: ...
    @property
    def stands_still(self) -> bool: ...
    def kill(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def start(self) -> None:
        """Start it again, with the same settings; WrongUseError while it is alive."""


@dataclass(frozen=True)
class Reading:
    """What a state of a document was read to be, and the node that reported it (None: read from several places)."""

    value: str
    node: str | None = None


class View(Protocol):
    """What can be seen of a cluster from outside, past the links, so that no fault blinds the observer."""

    @property
    def states(self) -> Sequence[str]:
        """The names of the states that the run's document reads."""
        ...

    def state(self, name: str) -> Reading | None:
        """A state of the document, such as ``phase``, read now; None when it cannot be read.

        WrongUseError, naming those there are, when the document has none of this name.
        """
        ...

    def active_controller(self) -> str | None:
        """Name of the node in charge of the cluster by the run's document, such as a KRaft controller."""
        ...

    def quorum_leader(self) -> str | None:
        """Name of the KRaft controller that leads the quorum, whether or not it is in charge yet."""
        ...

    def zookeeper_leader(self) -> str | None: ...
    def partition_leader(self, topic: str, partition: int) -> str | None: ...
    def metric(self, node: str, name: str) -> float | None:
        """A metric of the probes' catalogue, read now; None when the node does not expose it or does not answer.

        WrongUseError, naming those there are, when the catalogue has no metric of this name.
        """
        ...

    def acked_operations(self) -> int:
        """How many produce operations were acknowledged so far."""
        ...


@dataclass(frozen=True)
class Scene:
    """Where migration steps and faults act: the cluster, how to see it, where to write down what happens."""

    cluster: Cluster
    view: View
    znodes: Znodes
    recorder: Recorder
    seed: int
    members: Mapping[str, Member] = field(default_factory=dict)
    """Members of groups under test that have been started so far, by name."""
    require_wanted: Callable[[], None] = lambda: None
    """Raises where a node is looked for that is not wanted any more, as the block of its fault was left."""
    turns: Turns = field(default_factory=Turns)
    """What stops a node and starts it again has a turn: a roll and the end of a kill never start one node at once."""
