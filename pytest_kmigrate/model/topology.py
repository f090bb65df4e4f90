"""Topology: the wish, frozen. Which nodes a cluster shall have, of which version, with which properties and links.

A provider turns it into a live Cluster. Files are read by ``pytest_kmigrate.topology.loading``; nothing here does I/O.
"""

import enum
import hashlib
import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from typing import Any, Literal

Start = Literal["at-once", "later"]
"""``at-once``: started with the cluster; ``later``: a step of a document starts it."""

SecurityProtocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
"""``SSL`` in it means TLS, by which the node shows who it is; ``SASL``, that clients log in by a password."""

DEFAULT_HEAP_MB = 384


class Role(enum.StrEnum):
    """What a node is; the text is also the first part of its name."""

    ZOOKEEPER = "zookeeper"
    BROKER = "broker"
    COMBINED = "combined"
    """Broker and controller in one process."""
    CONTROLLER = "controller"

    @property
    def parts(self) -> frozenset["Role"]:
        """The roles that a node of this role plays: itself, and for a combined node broker and controller."""
        return frozenset({self, Role.BROKER, Role.CONTROLLER}) if self is Role.COMBINED else frozenset({self})


class Listener(enum.StrEnum):
    """The listeners that every cluster has, by their names in Kafka."""

    INTERNAL = "INTERNAL"
    """Of brokers, for each other, and for controllers while a broker is in ZooKeeper mode."""
    CLIENT = "CLIENT"
    """Of brokers, for clients."""
    CONTROLLER = "CONTROLLER"
    """Of controllers, for each other and for brokers."""
    CONTROL_PLANE = "CONTROL_PLANE"
    """Of brokers in ZooKeeper mode, for requests of the broker that is the controller; only some clusters have it."""


class BrokerMode(enum.StrEnum):
    """Where a broker keeps its metadata when the cluster is provisioned."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


@dataclass(frozen=True)
class Jar:
    """A jar beside those of the distribution; the digest is a part of the topology, the file may change."""

    path: str
    sha256: str


@dataclass(frozen=True)
class NodeSpec:
    """One node as wished for; ``name`` is role and id (``broker-0``, ``controller-3000``)."""

    name: str
    role: Role
    node_id: int
    kafka: str
    """Version, or path of an unpacked distribution, that this node runs."""
    mode: BrokerMode | None = None
    """Brokers and combined nodes only."""
    start: Start = "at-once"
    properties: Mapping[str, str] = field(default_factory=dict)
    """Kafka's own names; those of the role, overridden by those of the node."""
    jvm: tuple[str, ...] = ()
    """Extra JVM options."""
    heap_mb: int = DEFAULT_HEAP_MB
    log_dirs: int = 1
    """How many log directories it has (JBOD from two on)."""
    metadata_disk: bool = False
    """Whether its metadata log has a directory of its own (``metadata.log.dir``), besides these."""
    jars: tuple[Jar, ...] = ()
    """Added to the class path, behind the distribution."""

    def plays(self, role: Role) -> bool:
        """Whether the node plays this role; a combined node plays broker and controller, too."""
        return role in self.role.parts


@dataclass(frozen=True)
class LinkSpec:
    """Directed links that are slow from the start, from every node ``source`` selects to every ``destination``.

    A selector is the name of a role or of a node. A rate of None means unlimited.
    """

    source: str
    destination: str
    latency_ms: int = 0
    jitter_ms: int = 0
    rate_kb_per_s: int | None = None


@dataclass(frozen=True)
class Security:
    """How each listener and ZooKeeper are protected.

    ``authorizer`` switches on ACLs; ``authorizer_class`` names the class of all nodes (None: the one of Kafka that fits
    each node's mode).
    """

    internal: SecurityProtocol = "PLAINTEXT"
    client: SecurityProtocol = "PLAINTEXT"
    controller: SecurityProtocol = "PLAINTEXT"
    authorizer: bool = False
    authorizer_class: str | None = None
    extra: Mapping[str, SecurityProtocol] = field(default_factory=dict)
    """Further listeners of the brokers, by name, for clients that choose them."""
    client_auth: bool = False
    """Whether listeners with TLS refuse a client without a certificate (``ssl.client.auth=required``)."""
    control_plane: SecurityProtocol | None = None
    """Of a listener for requests of the ZooKeeper controller alone; None: they come by the internal one."""
    controller_scram: bool = False
    """Whether brokers log in at the controllers by SCRAM, and not by PLAIN."""
    zookeeper_login: bool = False
    """Whether brokers and controllers log in at ZooKeeper, by DIGEST-MD5."""
    zookeeper_tls: bool = False
    """Whether brokers and controllers reach ZooKeeper by TLS only, each with a certificate that ZooKeeper asks for."""
    zookeeper_acls: bool = False
    """Whether Kafka protects the znodes that it creates (``zookeeper.set.acl``)."""

    @property
    def has_passwords(self) -> bool:
        """Whether anyone logs in; each cluster then has passwords of its own, which its metadata holds."""
        return any(protocol.startswith("SASL") for protocol in self.protocols.values())

    @property
    def protocols(self) -> Mapping[str, SecurityProtocol]:
        """The protocol of each listener, the further ones last."""
        return {
            Listener.INTERNAL: self.internal,
            Listener.CLIENT: self.client,
            Listener.CONTROLLER: self.controller,
            **({Listener.CONTROL_PLANE: self.control_plane} if self.control_plane else {}),
            **self.extra,
        }


@dataclass(frozen=True)
class ProbeSpec:
    """What the JMX probe reads from every broker and controller, and how often."""

    every_ms: int = 500
    metrics: tuple[str, ...] = ()
    """Empty: those that the document of the run's profile chooses."""


@dataclass(frozen=True)
class Topology:
    """One cluster shape; nodes are in the order ZooKeeper, brokers, combined nodes, controllers, each by id."""

    name: str
    purpose: str
    """One sentence: why this shape."""
    kafka: str
    nodes: tuple[NodeSpec, ...]
    links: tuple[LinkSpec, ...] = ()
    security: Security = Security()
    probe: ProbeSpec = ProbeSpec()
    chroot: str = ""
    """The path below which Kafka keeps its znodes, such as ``/kafka/prod``; empty: the root."""
    metadata_version: str | None = None
    """The level that every node of the quorum is formatted with; None: the highest that all their releases know."""
    dynamic_quorum: bool = False
    """Whether the quorum's voters stand in its own log (KIP-853), and not in every node's properties."""

    @property
    def has_zookeeper(self) -> bool:
        """Whether any node is a ZooKeeper server."""
        return bool(self.of_role(Role.ZOOKEEPER))

    def of_role(self, role: Role) -> tuple[NodeSpec, ...]:
        """The nodes that play a role, by id; combined nodes are among the brokers and among the controllers."""
        return tuple(node for node in self.nodes if node.plays(role))

    def node(self, name: str) -> NodeSpec:
        """The node of this name; KeyError says which names there are."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(f"expected one of {', '.join(each.name for each in self.nodes)}; got {name!r}")

    def number_of(self, name: str) -> int:
        """The node's number (1, 2, ...) in the order of the topology: its address is made of it."""
        return self.nodes.index(self.node(name)) + 1

    def selected_by(self, selector: str) -> tuple[NodeSpec, ...]:
        """The nodes that a link's selector means: all that play a role, or the one of that name."""
        return tuple(node for node in self.nodes if selector == node.name or selector in node.role.parts)

    def digest(self) -> str:
        """SHA-256 of the canonical JSON: equal for equal topologies, whatever file they came from.

        Keys that came after the first ones count only where they have another value than their default. So a new key
        changes no digest of a topology that does not use it, and runs recorded before it stay evidence.
        """
        canonical = json.dumps(_counted(self), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(canonical.encode()).hexdigest()


_FIRST_KEYS = frozenset(
    (
        *("name", "purpose", "kafka", "nodes", "links", "security", "probe", "chroot", "metadata_version"),
        *("role", "node_id", "mode", "start", "properties", "jvm", "heap_mb", "log_dirs", "jars", "path", "sha256"),
        *("source", "destination", "latency_ms", "jitter_ms", "rate_kb_per_s", "every_ms", "metrics"),
        *("internal", "client", "controller", "authorizer", "authorizer_class", "extra"),
        *("zookeeper_login", "zookeeper_tls", "zookeeper_acls"),
    )
)
"""Keys that always count. A new key does not belong here."""


def _counted(value: Any) -> Any:
    """As JSON: a dataclass without those of the later keys that have their default."""
    if is_dataclass(value):
        used = ((each, getattr(value, each.name)) for each in fields(value))
        return {each.name: _counted(own) for each, own in used if each.name in _FIRST_KEYS or own != _default(each)}
    if isinstance(value, Mapping):
        return {key: _counted(each) for key, each in value.items()}
    return [_counted(each) for each in value] if isinstance(value, list | tuple) else value


def _default(key: Field[Any]) -> object:
    return key.default if key.default_factory is MISSING else key.default_factory()
