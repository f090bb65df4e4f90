"""What a topology file may hold: one pydantic model per TOML table; also the source of the editors' JSON schema.

The models are strict (nothing is converted) and describe each key. Their values are in ``values``, the rules that span
keys in ``rules`` and ``properties``, the sentences for mistakes in ``mistakes``.
"""

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_kmigrate.model.topology import DEFAULT_HEAP_MB, SecurityProtocol
from pytest_kmigrate.topology.values import (
    MOST_NODES,
    Authorizer,
    Chroot,
    ExtraListeners,
    HeapMb,
    JvmOptions,
    Kafka,
    Level,
    LogDirs,
    Name,
    NodeId,
    NodeIds,
    Properties,
    Release,
    ServerId,
    ServerIds,
    Start,
    VoterCount,
)

_KAFKA = "a release or the path of an unpacked distribution, always text: a bare 3.10 would become 3.1"
_PROPERTIES = "Kafka's own property names in quotes, values as text"
_JVM = "extra JVM options"
_HEAP = "largest heap (-Xmx) in MB"
_JARS = "further jars on the class path, found from the file's folder on"
_METADATA_DISK = "whether the metadata log has a directory of its own (metadata.log.dir)"
_LOG_DIRS = "how many log directories each has (JBOD): 1 to 16"
_IDS = "ids one by one, with gaps as you like, in place of count and first_id"


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _RoleTable(_Table):
    kafka: Kafka | None = Field(default=None, description=f"{_KAFKA}; default: the file's")
    properties: Properties = Field(default={}, description=_PROPERTIES)
    jvm: JvmOptions = Field(default=[], description=_JVM)
    heap_mb: HeapMb = Field(default=DEFAULT_HEAP_MB, description=_HEAP)
    jars: list[str] = Field(default=[], description=_JARS)


class ZooKeeperTable(_RoleTable):
    """The ZooKeeper servers."""

    count: VoterCount | None = Field(default=None, description="how many ZooKeeper servers: 1, 3 or 5")
    first_id: ServerId = Field(default=1, description="id of the first; the others count up")
    ids: ServerIds | None = Field(default=None, description=_IDS)
    chroot: Chroot = Field(
        default="",
        description='the path below which Kafka keeps its znodes, such as "/kafka/prod"; default: the root',
    )


class BrokerTable(_RoleTable):
    """The brokers."""

    count: int | None = Field(
        default=None, ge=1, le=MOST_NODES, description=f"how many brokers: 1 to {MOST_NODES}, as the machine allows"
    )
    first_id: NodeId = Field(default=0, description="id of the first; the others count up")
    ids: NodeIds | None = Field(default=None, description=_IDS)
    log_dirs: LogDirs = Field(default=1, description=_LOG_DIRS)
    mode: Literal["zookeeper", "kraft"] | None = Field(
        default=None, description='where metadata is kept at the start; default: "zookeeper" if there is a ZooKeeper'
    )


class CombinedTable(_RoleTable):
    """Nodes that are broker and controller in one process, of clusters born in KRaft mode."""

    count: VoterCount | None = Field(default=None, description="how many combined nodes: 1, 3 or 5")
    first_id: NodeId = Field(default=1000, description="id of the first; must not meet another node's")
    ids: NodeIds | None = Field(default=None, description=_IDS)
    log_dirs: LogDirs = Field(default=1, description=_LOG_DIRS)
    metadata_disk: bool = Field(default=False, description=_METADATA_DISK)


class ControllerTable(_RoleTable):
    """The KRaft controllers."""

    count: VoterCount | None = Field(default=None, description="how many controllers: 1, 3 or 5")
    first_id: NodeId = Field(default=3000, description="id of the first; must not meet another node's")
    ids: NodeIds | None = Field(default=None, description=_IDS)
    log_dirs: LogDirs = Field(default=1, description=_LOG_DIRS)
    metadata_disk: bool = Field(default=False, description=_METADATA_DISK)
    start: Start | None = Field(
        default=None,
        description='"later": a step of a document starts them ("by-migration" in older files); default: "later" if '
        'there is a ZooKeeper, else "at-once"',
    )


NumberedTable = ZooKeeperTable | BrokerTable | CombinedTable | ControllerTable


class NodeTable(_Table):
    """What is different about one node."""

    name: str = Field(description='role and id, such as "broker-1"')
    kafka: Kafka | None = Field(default=None, description=_KAFKA)
    mode: Literal["zookeeper", "kraft"] | None = Field(default=None, description="brokers only: where metadata is kept")
    start: Start | None = Field(default=None, description='brokers and controllers; "later": a step or test starts it')
    properties: Properties = Field(default={}, description=f"{_PROPERTIES}; they win over those of the role")
    jvm: JvmOptions = Field(default=[], description=f"{_JVM}, added to those of the role")
    heap_mb: HeapMb | None = Field(default=None, description=_HEAP)
    jars: list[str] = Field(default=[], description=f"{_JARS}, behind those of the role")
    log_dirs: LogDirs | None = Field(default=None, description="how many log directories it has (JBOD): 1 to 16")


class LinkTable(_Table):
    """Directed links that are slow from the start."""

    source: str = Field(alias="from", description="role or node that dials")
    destination: str = Field(alias="to", description="role or node that is dialled")
    latency_ms: int = Field(default=0, ge=0, le=60_000, description="added to every chunk on its way, in ms")
    jitter_ms: int = Field(default=0, ge=0, le=60_000, description="latency varies by up to this many ms")
    rate_kb_per_s: int | None = Field(default=None, ge=1, description="at most this many kB per second")


class ListenersTable(_Table):
    """Listeners whose protocol is not that of all."""

    internal: SecurityProtocol | None = Field(default=None, description="brokers among themselves; default: protocol")
    client: SecurityProtocol | None = Field(default=None, description="clients to brokers; default: protocol")
    controller: SecurityProtocol | None = Field(
        default=None, description="the quorum, and brokers to controllers; default: protocol"
    )


class SecurityTable(_Table):
    """How listeners are protected."""

    protocol: SecurityProtocol = Field(
        default="PLAINTEXT", description="SSL is TLS; SASL a login by SCRAM-SHA-512, at controllers by PLAIN"
    )
    authorizer: Authorizer = Field(
        default=False,
        description="whether ACLs are enforced: true (by the class of Kafka that fits each node's mode), or the name "
        "of another class for all nodes",
    )
    authorizer_since: Release | None = Field(
        default=None,
        description="the first release with the authorizer: no node has it beside a broker or controller of an earlier "
        "one; default: every release",
    )
    listeners: ListenersTable = Field(default=ListenersTable(), description="listeners with a protocol of their own")
    extra_listeners: ExtraListeners = Field(
        default={}, description='further listeners of every broker, such as { EXTERNAL = "SASL_SSL" }'
    )
    client_auth: Literal["none", "required"] = Field(
        default="none",
        description='"required": who comes to a listener with TLS has to show a certificate (ssl.client.auth)',
    )
    control_plane: SecurityProtocol | None = Field(
        default=None,
        description="protocol of a listener of brokers in ZooKeeper mode for requests of the controller alone "
        "(control.plane.listener.name); default: there is none",
    )
    controller_login: Literal["PLAIN", "SCRAM-SHA-512"] = Field(
        default="PLAIN",
        description='how brokers log in at the controllers; "SCRAM-SHA-512" needs a quorum of one that was born in '
        "KRaft mode",
    )
    zookeeper: Literal["NONE", "SASL", "SSL"] = Field(
        default="NONE",
        description='"SASL": brokers and controllers log in at ZooKeeper, by DIGEST-MD5; "SSL": by certificates',
    )
    zookeeper_acls: bool = Field(
        default=False,
        description="whether Kafka protects its znodes (zookeeper.set.acl); needs zookeeper = SASL or SSL",
    )


class JmxTable(_Table):
    """What is read from every broker and controller, and how often."""

    every_ms: int = Field(default=500, ge=100, le=60_000, description="time between two readings in ms")
    metrics: list[str] | None = Field(
        default=None, min_length=1, description="names of the metrics; default: those that the document chooses"
    )


class ProbeTable(_Table):
    """The probes."""

    jmx: JmxTable = Field(default=JmxTable(), description="the JMX probe")


class TopologyFile(_Table):
    """A cluster shape for pytest-kmigrate."""

    name: Name = Field(description="the shape's name, as the file's")
    purpose: str | None = Field(default=None, description="one sentence: why this shape; default: the opening comment")
    kafka: Kafka = Field(description=_KAFKA)
    metadata_version: Level | None = Field(
        default=None,
        description='the metadata.version that the quorum is formatted with, such as "3.8"; default: the highest that '
        "all releases in it know",
    )
    quorum: Literal["fixed", "dynamic"] = Field(
        default="fixed",
        description='"dynamic": the voters stand in the quorum\'s own log (KIP-853), and nodes have '
        "controller.quorum.bootstrap.servers; from 3.9.0 on, without ZooKeeper",
    )
    zookeeper: ZooKeeperTable | None = Field(default=None, description="ZooKeeper servers")
    broker: BrokerTable | None = Field(default=None, description="the brokers")
    combined: CombinedTable | None = Field(default=None, description="nodes that are broker and controller")
    controller: ControllerTable | None = Field(default=None, description="KRaft controllers")
    node: list[NodeTable] = Field(default=[], description="single nodes that differ")
    link: list[LinkTable] = Field(default=[], description="slow links")
    security: SecurityTable = Field(default=SecurityTable(), description="listeners and ACLs")
    probe: ProbeTable = Field(default=ProbeTable(), description="probes")


TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): TopologyFile,
    ("zookeeper",): ZooKeeperTable,
    ("broker",): BrokerTable,
    ("combined",): CombinedTable,
    ("controller",): ControllerTable,
    ("node",): NodeTable,
    ("link",): LinkTable,
    ("security",): SecurityTable,
    ("security", "listeners"): ListenersTable,
    ("probe",): ProbeTable,
    ("probe", "jmx"): JmxTable,
}
"""Where each table stands in a file; list positions left out."""


def keys_of(table: type[BaseModel]) -> dict[str, str]:
    """The keys a table may have, as written in a file, with what each means."""
    return {field.alias or name: field.description or "" for name, field in table.model_fields.items()}


def json_schema() -> dict[str, object]:
    """The format as a JSON schema: what editors check and complete by."""
    return {"$schema": "http://json-schema.org/draft-07/schema#", **TopologyFile.model_json_schema()}


def json_schema_text() -> str:
    """The schema as ``topologies/topology.schema.json`` holds it."""
    return json.dumps(json_schema(), indent=2) + "\n"
