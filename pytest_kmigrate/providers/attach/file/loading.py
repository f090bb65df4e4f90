"""Reads attach files: TOML in; out the addresses, what lets us in, and the topology that is said to stand there."""

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_kmigrate.model.errors import TopologyError, WrongUseError
from pytest_kmigrate.model.peer import ZookeeperTls
from pytest_kmigrate.model.topology import NodeSpec, Role, Security, Start, Topology
from pytest_kmigrate.providers.attach.file.contradictions import contradictions
from pytest_kmigrate.providers.attach.file.format import (
    TABLES,
    AttachFile,
    BrokerTable,
    ControllerTable,
    QuorumTable,
    Reference,
)
from pytest_kmigrate.redaction.known import learn
from pytest_kmigrate.topology.braces import filled
from pytest_kmigrate.topology.loading import text_of, validated
from pytest_kmigrate.wire.oauth import CLIENT_ID, CLIENT_SECRET, ENDPOINT, METHOD, SCOPE

NOTHING_MORE: Mapping[str, str] = {}


@dataclass(frozen=True)
class Address:
    """Where one node answers, and what stands for ``{host}`` of it."""

    host: str
    port: int
    of_host: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Site:
    """A cluster that stands, as its file describes it."""

    path: Path
    file: AttachFile
    topology: Topology
    addresses: Mapping[str, Address]
    """Of each node, by name."""
    client: Mapping[str, str] = field(repr=False)
    """librdkafka's security properties for the listeners of clients."""
    quorum: Mapping[str, str]
    """As above, for those of controllers."""
    zookeeper_login: str | None = field(repr=False)
    """``user:password`` of scheme digest; None: no login."""

    @property
    def zookeeper_connect(self) -> str:
        """``host:port,...`` and the chroot; empty without any."""
        return self.file.zookeeper.connect if self.file.zookeeper else ""

    def filled(self, template: str, node: str, more: Mapping[str, str] = NOTHING_MORE) -> str:
        """A template of a command or an address with what it says of a node; ``more`` for places beyond that."""
        spec = self.topology.node(node)
        values = {"name": node, "id": str(spec.node_id), "host": self.addresses[node].of_host, "role": spec.role.value}
        return filled(template, {**values, **more})

    def beside(self, file: str) -> str:
        """A file that the attach file names, found from its folder on."""
        return str(self.path.absolute().parent / file)

    @property
    def zookeeper_tls(self) -> ZookeeperTls | None:
        """What is needed to reach servers of ZooKeeper by TLS; None: they are reached without."""
        tls = self.file.zookeeper.tls if self.file.zookeeper else None
        if tls is None:
            return None
        own = self.beside(tls.certificate) if tls.certificate else None
        return ZookeeperTls(self.beside(tls.ca), own, self.beside(tls.key) if tls.key else own)


def site_at(path: Path) -> Site:
    """The cluster that an attach file describes; TopologyError with every mistake, WrongUseError without a secret."""
    file = validated(AttachFile, TABLES, path, text_of(path))
    if problems := [*contradictions(file), *_missing_files(file, path)]:
        raise TopologyError(str(path), problems)
    addresses = {name: address for name, _, address in _nodes(file)}
    return Site(
        path,
        file,
        _topology(file),
        addresses,
        _client(file, path),
        _reached(file.quorum, path),
        _zookeeper_login(file, path),
    )


def _missing_files(file: AttachFile, path: Path) -> Iterator[str]:
    """Certificates and keys that are not there; a broker would be blamed for them later."""
    named = [
        (f'{table}."{key}"', name)
        for table, each in (("client", file.client), ("quorum", file.quorum))
        for key, name in _files(each).items()
        if each.protocol.endswith("SSL")
    ]
    if tls := file.zookeeper.tls if file.zookeeper else None:
        named += [(f"zookeeper.tls.{key}", name) for key, name in tls.model_dump().items()]
    for key, name in named:
        if name and not (path.absolute().parent / name).is_file():
            yield f'{key}: expected a file, found from the folder of this file on; got "{name}"'


def _files(table: QuorumTable) -> dict[str, str | None]:
    return {
        "ssl.ca.location": table.ca,
        "ssl.certificate.location": table.certificate,
        "ssl.key.location": table.key,
    }


def _topology(file: AttachFile) -> Topology:
    """What is said to stand; a controller may be started later, by the operator."""
    nodes = tuple(
        NodeSpec(name, role, int(name.rpartition("-")[2]), file.kafka, start=_start(role))
        for name, role, _ in _nodes(file)
    )
    chroot = file.zookeeper.connect.partition("/")[2] if file.zookeeper else ""
    return Topology(
        name=file.name,
        purpose="A cluster that somebody else runs.",
        kafka=file.kafka,
        nodes=nodes,
        security=Security(client=file.client.protocol),
        chroot=f"/{chroot}" if chroot else "",
    )


def _start(role: Role) -> Start:
    return "later" if role is Role.CONTROLLER else "at-once"


def _nodes(file: AttachFile) -> Iterator[tuple[str, Role, Address]]:
    """Each node by name, in the order of a topology; servers of ZooKeeper are numbered as they are listed."""
    servers = file.zookeeper.connect.partition("/")[0].split(",") if file.zookeeper else []
    for number, server in enumerate(servers, 1):
        yield f"zookeeper-{number}", Role.ZOOKEEPER, _address(server, None)
    for broker in sorted(file.broker, key=_id):
        yield f"broker-{broker.id}", Role.BROKER, _address(broker.client, broker.host)
    for controller in sorted(file.controller, key=_id):
        yield f"controller-{controller.id}", Role.CONTROLLER, _address(controller.controller, controller.host)


def _id(table: BrokerTable | ControllerTable) -> int:
    return table.id


def _address(text: str, host: str | None) -> Address:
    own, _, port = text.rpartition(":")
    return Address(own, int(port), host or own)


def _client(file: AttachFile, path: Path) -> dict[str, str]:
    client = file.client
    secret = fetched(client.password, "client.sasl.password", path) if client.password else None
    login = {"sasl.mechanism": client.mechanism, "sasl.username": client.username, "sasl.password": secret}
    if client.client_secret:
        of_client = fetched(client.client_secret, f"client.{CLIENT_SECRET}", path)
        login |= {METHOD: "oidc", ENDPOINT: client.token_endpoint, CLIENT_ID: client.client_id, SCOPE: client.scope}
        login[CLIENT_SECRET] = of_client
    return _reached(client, path) | {key: value for key, value in login.items() if value is not None}


def _reached(table: QuorumTable, path: Path) -> dict[str, str]:
    given = {key: str(path.absolute().parent / file) for key, file in _files(table).items() if file}
    named = {"ssl.endpoint.identification.algorithm": table.identification}
    return {"security.protocol": table.protocol, **(given | named if table.protocol.endswith("SSL") else {})}


def _zookeeper_login(file: AttachFile, path: Path) -> str | None:
    login = file.zookeeper.login if file.zookeeper else None
    return f"{login.user}:{fetched(login.password, 'zookeeper.login.password', path)}" if login else None


_WITHIN_S = 30


def fetched(reference: Reference, key: str, file: Path) -> str:
    """The secret; WrongUseError, which has no character of it, when it is not there.

    ``key`` is where the reference stands in ``file``.
    """
    if reference.env is not None:
        found, place = os.environ.get(reference.env), f"the environment variable {reference.env}"
    elif reference.file is not None:
        found, place = _content(file.parent / reference.file), f"the file {reference.file}"
    else:
        assert reference.command is not None, "the format lets exactly one through"
        found, place = _output(reference.command), f"the command {reference.command[0]}"
    if not found:
        raise WrongUseError(f"{file}: {key}: expected a secret in {place}, got none; put it there")
    learn([found])
    return found


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError):
        return ""


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_WITHIN_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout.rstrip("\n") if done.returncode == 0 else ""
