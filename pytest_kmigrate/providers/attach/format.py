"""What an attach file may hold: one pydantic model per TOML table, strict, each key with what it means."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.metrics import check_metric
from pytest_kmigrate.model.topology import SecurityProtocol
from pytest_kmigrate.providers.attach.dialects import dialects, series
from pytest_kmigrate.topology.values import Name, NodeId

_ADDRESS = re.compile(r"[^\s:/,]+:[0-9]{1,5}")
_CONNECT = re.compile(rf"{_ADDRESS.pattern}(,{_ADDRESS.pattern})*(?P<chroot>(/[A-Za-z0-9._-]+)*)")
_RELEASE = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+")
_URL = re.compile(r"https?://\S+")
_PLACEHOLDER = re.compile(r"\{[^}]*\}")
PLACES = ("name", "id", "host", "role", "file")
"""What stands in braces in a command or an address: of the node that it is about; ``file``: of new properties."""


def _address(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError('expected host:port, such as "b1.example:9094"')
    return text


def _connect(text: str) -> str:
    if not _CONNECT.fullmatch(text):
        raise ValueError('expected host:port,... and the chroot, such as "zk1:2181,zk2:2181/kafka"')
    return text


def _release(text: str) -> str:
    if not _RELEASE.fullmatch(text):
        raise ValueError('expected a release with three numbers, such as "3.9.1"')
    return text


def _url(text: str) -> str:
    if not _URL.fullmatch(text):
        raise ValueError('expected an address of HTTP, such as "http://{host}:8778/jolokia"')
    return _with_places(text)


def _with_places(text: str) -> str:
    known = [f"{{{each}}}" for each in PLACES]
    if strange := [each for each in _PLACEHOLDER.findall(text) if each not in known]:
        raise ValueError(f"expected none but {', '.join(known)} in braces, found {strange[0]}")
    return text


Address = Annotated[str, AfterValidator(_address)]
Connect = Annotated[str, AfterValidator(_connect)]
Release = Annotated[str, AfterValidator(_release)]
Url = Annotated[str, AfterValidator(_url)]
Words = Annotated[list[Annotated[str, AfterValidator(_with_places)]], Field(min_length=1)]
Allowed = Literal["start", "kill", "pause", "reconfigure", "znodes"]
ACTIONS: Mapping[str, tuple[str, ...]] = {
    "start": ("start", "stop"),
    "kill": ("kill",),
    "pause": ("pause", "resume"),
    "reconfigure": ("reconfigure",),
    "znodes": (),
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


def _dialect(name: str) -> str:
    if name not in dialects():
        raise ValueError(f"expected one of {', '.join(dialects())}")
    return name


def _all_series(chosen: dict[str, str]) -> dict[str, str]:
    try:
        for name, text in chosen.items():
            check_metric(name)
            series(text)
    except (WrongUseError, ValueError) as error:
        raise ValueError(str(error)) from None
    return chosen


Dialect = Annotated[str, AfterValidator(_dialect)]
AllSeries = Annotated[dict[str, str], AfterValidator(_all_series)]
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


class ClientTable(QuorumTable):
    """How brokers let us in, in librdkafka's names."""

    mechanism: Literal["SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        default=None, alias="sasl.mechanism", description="how we log in"
    )
    username: str | None = Field(default=None, alias="sasl.username", description="as whom we log in")
    password: Secret | None = Field(default=None, alias="sasl.password", description="where the password is kept")


class LoginTable(_Table):
    """A login at ZooKeeper, of its scheme ``digest``."""

    user: str = Field(description="the user's name")
    password: Secret = Field(description='where the password is kept, such as { env = "ZK_PASSWORD" }')


class ZookeeperTable(_Table):
    """The ensemble, as long as there is one."""

    connect: Connect = Field(description='its servers and the chroot, such as "zk1:2181,zk2:2181/kafka"')
    login: LoginTable | None = Field(default=None, description="a login of ZooKeeper's scheme digest; default: none")


class MetricsTable(_Table):
    """Where the metrics of brokers and controllers are read."""

    kind: Literal["jolokia", "prometheus"] = Field(description="an agent, or an exporter, in each node")
    url: Url = Field(description='where each node has it, such as "http://{host}:8778/jolokia"')
    dialect: Dialect | None = Field(default=None, description="how an exporter of Prometheus names MBeans")
    series: AllSeries = Field(default={}, description="series of single metrics that the dialect names otherwise")


class HooksTable(_Table):
    """What is called to do what is allowed: commands, or methods of a class in Python, each given a node's name."""

    start: Words | None = Field(default=None, description="starts the process of a node")
    stop: Words | None = Field(default=None, description="ends it in a controlled way")
    kill: Words | None = Field(default=None, description="ends it without a goodbye")
    pause: Words | None = Field(default=None, description="makes it stand still")
    resume: Words | None = Field(default=None, description="lets it go on")
    reconfigure: Words | None = Field(
        default=None, description="sets the properties in {file} for its next start; a key without = is taken away"
    )
    python: str | None = Field(default=None, description='in place of commands, a class such as "ours:Hooks"')
    within_s: Annotated[int, Field(ge=1, le=3600)] = Field(default=120, description="how long each may take, in s")


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
    hooks: HooksTable = Field(default=HooksTable(), description="what is called to do what is allowed")
    broker: Annotated[list[BrokerTable], Field(min_length=1)] = Field(description="a table [[broker]] for each broker")
    controller: list[ControllerTable] = Field(default=[], description="a table [[controller]] for each controller")


TABLES: dict[tuple[str, ...], type[BaseModel]] = {
    (): AttachFile,
    ("client",): ClientTable,
    ("client", "sasl.password"): Reference,
    ("quorum",): QuorumTable,
    ("zookeeper",): ZookeeperTable,
    ("zookeeper", "login"): LoginTable,
    ("zookeeper", "login", "password"): Reference,
    ("metrics",): MetricsTable,
    ("hooks",): HooksTable,
    ("broker",): BrokerTable,
    ("controller",): ControllerTable,
}
"""Where each table stands in a file; list positions left out."""
