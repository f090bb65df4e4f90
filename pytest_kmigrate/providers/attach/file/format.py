"""What an attach file may hold: one pydantic model per TOML table, strict, each key with what it means."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pytest_kmigrate.model.topology import SecurityProtocol
from pytest_kmigrate.providers.attach.file.values import (
    Address,
    AllSeries,
    Connect,
    Dialect,
    HookWords,
    Hours,
    Prefix,
    Release,
    Template,
    Url,
    Words,
)
from pytest_kmigrate.topology.values import Name, NodeId

Allowed = Literal["start", "kill", "pause", "reconfigure", "cut", "znodes", "traffic"]
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "start": ("start", "stop"),
    "kill": ("kill",),
    "pause": ("pause", "resume"),
    "reconfigure": ("reconfigure",),
    "cut": ("cut", "heal", "arrived"),
    "znodes": (),
    "traffic": (),
}
"""The hooks that each thing needs that may be allowed."""


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Reference(_Table):
    """Where a secret is kept: exactly one of these."""

    env: str | None = Field(default=None, description="the name of an environment variable")
    file: str | None = Field(
        default=None, description="a file that holds nothing else, found from this file's folder on"
    )
    command: list[str] | None = Field(default=None, description="a command that prints it")

    def __bool__(self) -> bool:
        return len(self.model_fields_set) == 1


def _one(reference: Reference) -> Reference:
    if not reference:
        raise ValueError("expected exactly one of env, file, command")
    return reference


Secret = Annotated[Reference, AfterValidator(_one)]


class QuorumTable(_Table):
    """How controllers are reached, in librdkafka's names; they are asked nothing that needs a login."""

    protocol: SecurityProtocol = Field(
        default="PLAINTEXT", alias="security.protocol", description="how the listener is protected"
    )
    ca: str | None = Field(default=None, alias="ssl.ca.location", description="a file of the authorities to trust")
    identification: Literal["https", "none"] = Field(
        default="https",
        alias="ssl.endpoint.identification.algorithm",
        description="whether a certificate has to name its host",
    )
    certificate: str | None = Field(
        default=None, alias="ssl.certificate.location", description="a file of our certificate, where one is asked for"
    )
    key: str | None = Field(default=None, alias="ssl.key.location", description="a file of its key")


class ClientTable(QuorumTable):
    """How brokers let us in, in librdkafka's names."""

    mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN", "OAUTHBEARER"] | None = Field(
        default=None, alias="sasl.mechanism", description="how we log in"
    )
    username: str | None = Field(default=None, alias="sasl.username", description="as whom we log in")
    password: Secret | None = Field(default=None, alias="sasl.password", description="where the password is kept")
    token_endpoint: str | None = Field(
        default=None,
        alias="sasl.oauthbearer.token.endpoint.url",
        pattern="https?://.+",
        description="where tokens of OAUTHBEARER are had (OIDC)",
    )
    client_id: str | None = Field(
        default=None, alias="sasl.oauthbearer.client.id", description="as whom we ask for a token"
    )
    client_secret: Secret | None = Field(
        default=None, alias="sasl.oauthbearer.client.secret", description="where the secret of that client is kept"
    )
    scope: str | None = Field(
        default=None, alias="sasl.oauthbearer.scope", description="what the token is to be good for; default: all"
    )


class LoginTable(_Table):
    """A login at ZooKeeper, of its scheme ``digest``."""

    user: str = Field(description="the user's name")
    password: Secret = Field(description='where the password is kept, such as { env = "ZK_PASSWORD" }')


class ZookeeperTlsTable(_Table):
    """How servers of ZooKeeper are reached by TLS, as files in PEM."""

    ca: str = Field(description="a file of the authorities to trust")
    certificate: str | None = Field(default=None, description="a file of our certificate; default: none is asked for")
    key: str | None = Field(default=None, description="a file of its key; default: it is in the one of the certificate")


class ZookeeperTable(_Table):
    """The ensemble, as long as there is one."""

    connect: Connect = Field(description='its servers and the chroot, such as "zk1:2181,zk2:2181/kafka"')
    login: LoginTable | None = Field(default=None, description="a login of ZooKeeper's scheme digest; default: none")
    tls: ZookeeperTlsTable | None = Field(default=None, description="how its servers are reached by TLS; default: not")


class MetricsTable(_Table):
    """Where the metrics of brokers and controllers are read."""

    kind: Literal["jolokia", "prometheus"] = Field(description="an agent, or an exporter, in each node")
    url: Url = Field(description='where each node has it, such as "http://{host}:8778/jolokia"')
    dialect: Dialect | None = Field(default=None, description="how an exporter of Prometheus names MBeans")
    series: AllSeries = Field(default={}, description="series of single metrics that the dialect names otherwise")


class LogsTable(_Table):
    """Where each node's log is read on, from now."""

    file: Template | None = Field(default=None, description='a file of this machine, such as "/logs/{name}/server.log"')
    command: Words | None = Field(
        default=None, description="in place of a file, what prints what is new, and is called again when it ends"
    )


class MetadataLogTable(_Table):
    """How the metadata log of a node is had."""

    command: Words = Field(
        description="what prints a tar of the folder __cluster_metadata-0 of a node, or of its content"
    )
    within_s: Annotated[int, Field(ge=1, le=600)] = Field(default=60, description="how long it may take, in s")


class OwnTable(_Table):
    """What we may make, and remove again: anything else is somebody else's."""

    topics: Prefix = Field(default="kmigrate-", description="how the names of our topics begin")
    groups: Prefix = Field(default="kmigrate-", description="how the names of our groups begin")


class LimitsTable(_Table):
    """How much of what is allowed."""

    records_per_s: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="how many records our clients may write, per s; default: 500"
    )
    nodes_down_at_once: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="how many nodes may be down or stand still at a time; default: any number"
    )
    within: Hours | None = Field(
        default=None,
        description='when anything may be done at all, such as "21:00-05:00 Europe/Berlin"; default: always',
    )


class HooksTable(_Table):
    """What is called to do what is allowed: commands, or methods of a class in Python, each given a node's name."""

    start: HookWords | None = Field(default=None, description="starts the process of a node")
    stop: HookWords | None = Field(default=None, description="ends it in a controlled way")
    kill: HookWords | None = Field(default=None, description="ends it without a goodbye")
    pause: HookWords | None = Field(default=None, description="makes it stand still")
    resume: HookWords | None = Field(default=None, description="lets it go on")
    reconfigure: HookWords | None = Field(
        default=None, description="sets the properties in {file} for its next start; a key without = is taken away"
    )
    cut: HookWords | None = Field(
        default=None, description="lets every byte between {source}, at {source_host}, and {name} at its {port} vanish"
    )
    heal: HookWords | None = Field(default=None, description="undoes a cut")
    arrived: HookWords | None = Field(default=None, description="prints how many bytes came to a cut since it was made")
    python: str | None = Field(default=None, description='in place of commands, a class such as "ours:Hooks"')
    within_s: Annotated[int, Field(ge=1, le=3600)] = Field(default=120, description="how long each may take, in s")
    journal: str | None = Field(
        default=None,
        description="a file of what is done and not undone yet; default: this file's name + .harm",
    )


class BrokerTable(_Table):
    """One broker; its mode is read from the broker itself."""

    id: NodeId = Field(description="its id")
    client: Address = Field(description="its own listener of clients, host:port")
    host: str | None = Field(default=None, description="what {host} stands for; default: the host of client")


class ControllerTable(_Table):
    """One KRaft controller, which need not run yet."""

    id: NodeId = Field(description="its id")
    controller: Address = Field(description="its listener of the quorum, host:port")
    host: str | None = Field(default=None, description="what {host} stands for; default: the host of controller")


class AttachFile(_Table):
    """The file."""

    name: Name = Field(description="a name for the cluster: lower case letters, digits, . _ -")
    kafka: Release = Field(description='the release that the nodes are said to run, such as "3.9.1"')
    bootstrap: Annotated[list[Address], Field(min_length=1)] = Field(description="brokers that clients begin with")
    allow: list[Allowed] = Field(default=[], description="what may be done besides reading; default: nothing")
    client: ClientTable = Field(default=ClientTable(), description="how brokers let us in")
    quorum: QuorumTable = Field(default=QuorumTable(), description="how controllers are reached")
    zookeeper: ZookeeperTable | None = Field(default=None, description="the ensemble; default: there is none")
    metrics: MetricsTable | None = Field(default=None, description="where metrics are read; default: nowhere")
    logs: LogsTable | None = Field(default=None, description="where logs are read; default: nowhere")
    metadata_log: MetadataLogTable | None = Field(default=None, description="how metadata logs are had; default: not")
    own: OwnTable = Field(default=OwnTable(), description="what is ours")
    limits: LimitsTable = Field(default=LimitsTable(), description="how much of what is allowed")
    hooks: HooksTable = Field(default=HooksTable(), description="what is called to do what is allowed")
    broker: Annotated[list[BrokerTable], Field(min_length=1)] = Field(description="a table [[broker]] for each broker")
    controller: list[ControllerTable] = Field(default=[], description="a table [[controller]] for each controller")


TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): AttachFile,
    ("client",): ClientTable,
    ("client", "sasl.password"): Reference,
    ("quorum",): QuorumTable,
    ("zookeeper",): ZookeeperTable,
    ("zookeeper", "tls"): ZookeeperTlsTable,
    ("zookeeper", "login"): LoginTable,
    ("zookeeper", "login", "password"): Reference,
    ("metrics",): MetricsTable,
    ("logs",): LogsTable,
    ("metadata_log",): MetadataLogTable,
    ("own",): OwnTable,
    ("limits",): LimitsTable,
    ("hooks",): HooksTable,
    ("broker",): BrokerTable,
    ("controller",): ControllerTable,
}
"""Where each table stands in a file; list positions left out."""
