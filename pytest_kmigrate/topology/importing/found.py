"""What a reader found in the files of a cluster: nodes with Kafka's own property names, each value with its origin.

Readers translate the words of their kind, such as ``ssl_enabled`` of an inventory, into Kafka's, so one place decides
what a topology takes over.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role


@dataclass(frozen=True)
class Origin:
    """A file as the user named it, and a key as the file spells it.

    ``path``: the way to the key where that alone is not enough, such as the name of a service or a host.
    """

    file: str
    key: str
    path: str = ""

    @property
    def exact(self) -> str:
        """The key with all that leads to it."""
        return self.path or self.key

    def wrong(self, problem: str, key: str = "") -> TopologyError:
        """The error of this place; ``key``: what it is about where the place is a whole file."""
        return TopologyError(self.file, [f"{self.exact or key}: {problem}"])

    def __str__(self) -> str:
        return f"{self.file}: {self.exact}" if self.exact else self.file


@dataclass(frozen=True)
class Setting:
    """A value, always text, and where it is."""

    value: str
    origin: Origin


@dataclass(frozen=True)
class Left:
    """A setting that is not taken over, and why. Its value is not kept, because it may be a secret."""

    origin: Origin
    why: str


@dataclass(frozen=True)
class Assumed:
    """What no file says: the key of the topology, and what is taken for it and why."""

    key: str
    why: str


Properties = Mapping[str, Setting]
"""By Kafka's own names, or by ZooKeeper's."""


@dataclass(frozen=True)
class FoundNode:
    """One node of the cluster.

    ``release`` is Kafka's, with two numbers or three; None where no file has it. A node without an id got it from
    Kafka.
    """

    role: Role
    origin: Origin
    properties: Properties
    node_id: Setting | None = None
    release: Setting | None = None

    @property
    def is_kraft(self) -> bool:
        """Whether it keeps metadata in KRaft mode."""
        return "process.roles" in self.properties


@dataclass(frozen=True)
class Found:
    """All that the files of one kind show of a cluster."""

    kind: str
    nodes: tuple[FoundNode, ...]
    metadata_version: Setting | None = None
    left: tuple[Left, ...] = ()
    assumed: tuple[Assumed, ...] = ()

    def of(self, *roles: Role) -> tuple[FoundNode, ...]:
        """The nodes of these roles, in the order of the files."""
        return tuple(node for node in self.nodes if node.role in roles)

    def settings(self, name: str) -> list[Setting]:
        """The settings of a property, of the nodes that have it, in the order of the files."""
        return [node.properties[name] for node in self.nodes if name in node.properties]


@dataclass
class Notes:
    """What a reader writes down on its way."""

    left: list[Left] = field(default_factory=list)
    assumed: list[Assumed] = field(default_factory=list)

    def leave(self, origin: Origin, why: str) -> None:
        """Note a setting that is not taken over."""
        self.left.append(Left(origin, why))

    def assume(self, key: str, why: str) -> None:
        """Note what no file says."""
        if Assumed(key, why) not in self.assumed:
            self.assumed.append(Assumed(key, why))
