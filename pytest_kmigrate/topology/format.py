"""What a topology file may hold: one pydantic model per TOML table; also the source of the editors' JSON schema.

The models are strict (nothing is converted) and say what each key means; rules that span keys are in
``topology_rules``, the sentences for mistakes in ``topology_mistakes``.
"""

import json
import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pytest_kmigrate.distributions.releases import known_releases, nearest_releases
from pytest_kmigrate.model.topology import DEFAULT_HEAP_MB, SecurityProtocol

NO_ZOOKEEPER_FROM = (4, 0, 0)

_VERSION = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+)")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


def version_of(kafka: str) -> tuple[int, int, int] | None:
    """The release that a ``kafka`` key names; None for a path, whose release nobody knows yet."""
    match = _VERSION.fullmatch(kafka)
    return (int(match[1]), int(match[2]), int(match[3])) if match else None


def _release_or_place(kafka: str) -> str:
    releases = known_releases()
    if kafka in releases or kafka.startswith((".", "~")) or "/" in kafka:
        return kafka
    if version_of(kafka):
        nearest = ", ".join(nearest_releases(kafka))
        raise ValueError(f"expected a release from {releases[0]} to {releases[-1]} (nearest: {nearest})")
    if kafka[:1].isdigit():
        raise ValueError('expected a release with three numbers, such as "3.9.1"')
    raise ValueError('expected a release such as "3.9.1" or a path such as "./kafka"')


def _fit_for_a_folder(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("expected small letters, digits, dots and dashes (run folders are named after it)")
    return name


def _options(jvm: list[str]) -> list[str]:
    if not all(option.startswith("-") for option in jvm):
        raise ValueError('expected JVM options, each with its dash, such as "-XX:+UseG1GC"')
    return jvm


def _among(number: int, choice: tuple[int, ...]) -> int:
    # not a Literal, which would let true and 1.0 through, since both equal 1
    if number not in choice:
        raise ValueError("expected " + " or ".join(map(str, choice)))
    return number


Kafka = Annotated[str, AfterValidator(_release_or_place)]
Properties = dict[str, str]
JvmOptions = Annotated[list[str], AfterValidator(_options)]
ZooKeeperCount = Annotated[
    int, AfterValidator(lambda count: _among(count, (1, 3))), Field(json_schema_extra={"enum": [1, 3]})
]
ControllerCount = Annotated[
    int, AfterValidator(lambda count: _among(count, (1, 3, 5))), Field(json_schema_extra={"enum": [1, 3, 5]})
]
Start = Literal["at-once", "later", "by-migration"]
HeapMb = Annotated[int, Field(ge=64, le=65536)]

_KAFKA = "a release or the path of an unpacked distribution, always text: a bare 3.10 would become 3.1"
_PROPERTIES = "Kafka's own property names in quotes, values as text"
_JVM = "extra JVM options"
_HEAP = "largest heap (-Xmx) in MB"


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _RoleTable(_Table):
    kafka: Kafka | None = Field(default=None, description=f"{_KAFKA}; default: the file's")
    properties: Properties = Field(default={}, description=_PROPERTIES)
    jvm: JvmOptions = Field(default=[], description=_JVM)
    heap_mb: HeapMb = Field(default=DEFAULT_HEAP_MB, description=_HEAP)


class ZooKeeperTable(_RoleTable):
    """The ZooKeeper servers."""

    count: ZooKeeperCount = Field(description="how many ZooKeeper servers: 1 or 3")
    first_id: int = Field(default=1, ge=1, le=250, description="id of the first; the others count up")


class BrokerTable(_RoleTable):
    """The brokers."""

    count: int = Field(ge=1, le=9, description="how many brokers: 1 to 9")
    first_id: int = Field(
        default=0, ge=0, le=991, description="id of the first; Kafka keeps those above 1000 for itself"
    )
    mode: Literal["zookeeper", "kraft"] | None = Field(
        default=None, description='where metadata is kept at the start; default: "zookeeper" if there is a ZooKeeper'
    )


class ControllerTable(_RoleTable):
    """The KRaft controllers."""

    count: ControllerCount = Field(description="how many controllers: 1, 3 or 5")
    first_id: int = Field(default=3000, ge=0, le=100_000, description="id of the first; must not meet a broker's")
    start: Start | None = Field(
        default=None,
        description='"later": a step of a document starts them ("by-migration" in older files); default: "later" if '
        'there is a ZooKeeper, else "at-once"',
    )


NumberedTable = ZooKeeperTable | BrokerTable | ControllerTable


class NodeTable(_Table):
    """What is different about one node."""

    name: str = Field(description='role and id, such as "broker-1"')
    kafka: Kafka | None = Field(default=None, description=_KAFKA)
    mode: Literal["zookeeper", "kraft"] | None = Field(default=None, description="brokers only: where metadata is kept")
    start: Start | None = Field(default=None, description='brokers and controllers; "later": a step or test starts it')
    properties: Properties = Field(default={}, description=f"{_PROPERTIES}; they win over those of the role")
    jvm: JvmOptions = Field(default=[], description=f"{_JVM}, added to those of the role")
    heap_mb: HeapMb | None = Field(default=None, description=_HEAP)


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
    authorizer: bool = Field(default=False, description="whether ACLs are enforced")
    listeners: ListenersTable = Field(default=ListenersTable(), description="listeners with a protocol of their own")


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

    name: Annotated[str, AfterValidator(_fit_for_a_folder)] = Field(description="the shape's name, as the file's")
    purpose: str | None = Field(default=None, description="one sentence: why this shape; default: the opening comment")
    kafka: Kafka = Field(description=_KAFKA)
    zookeeper: ZooKeeperTable | None = Field(default=None, description="ZooKeeper servers")
    broker: BrokerTable = Field(description="the brokers, with their count")
    controller: ControllerTable | None = Field(default=None, description="KRaft controllers")
    node: list[NodeTable] = Field(default=[], description="single nodes that differ")
    link: list[LinkTable] = Field(default=[], description="slow links")
    security: SecurityTable = Field(default=SecurityTable(), description="listeners and ACLs")
    probe: ProbeTable = Field(default=ProbeTable(), description="probes")


TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): TopologyFile,
    ("zookeeper",): ZooKeeperTable,
    ("broker",): BrokerTable,
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
