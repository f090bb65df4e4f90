"""How the listeners of one cluster are protected: credentials, key stores, properties of nodes and clients.

Each Kafka listener has a protocol of its own, and so has ZooKeeper. Brokers, controllers and our clients log in
as one user, the superuser ``admin``. On listeners without a login every connection is User:ANONYMOUS. A connection's
principal is set by the listener it connects to; forwarded requests keep the client's principal. With listeners of both
kinds both principals are superusers.

- INTERNAL and CLIENT: SCRAM-SHA-512. Its credentials are metadata. A cluster in ZooKeeper mode gets the first one
  before its brokers start (``scram_in_zookeeper``), a cluster born in KRaft mode when it is formatted
  (``format_arguments``); the migration copies it like all other metadata.
- CONTROLLER: PLAIN. The quorum must elect a leader before any metadata can be read, and during a migration long before
  the credentials are copied: SCRAM there would need what only a running quorum has (KAFKA-15513). The one user of PLAIN
  stands in the controllers' properties. Mutual TLS would do as well, but would give every node a second principal to
  put among the superusers.

In hybrid mode a controller dials the INTERNAL listener of brokers in ZooKeeper mode, and brokers in either mode dial
the CONTROLLER listener: so brokers and controllers get the same properties, from their first start on.

Delegation tokens are on where clients log in and every node is of 3.6 or later: all of them then share the secret that
tokens are signed with. Before, a broker in KRaft mode refuses to start with one, so that no such cluster could be
migrated.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from packaging.version import InvalidVersion, Version

from pytest_kmigrate.model.topology import Listener, NodeSpec, Role, Security, SecurityProtocol
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS, ZOOKEEPER_TLS_PORT, Addresses
from pytest_kmigrate.providers.owned.protection.certificates import new_authority, write_private
from pytest_kmigrate.providers.owned.protection.zookeeper import (
    SERVER_PROPERTIES,
    USER,
    ZookeeperLogin,
    login_by_certificate,
    new_password,
    new_zookeeper_login,
    tls_of_client,
    tls_of_server,
)

ADMIN = "admin"
ANONYMOUS = "ANONYMOUS"
MECHANISM = "SCRAM-SHA-512"
_CONTROLLER_MECHANISM = "PLAIN"
_SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_ITERATIONS = 4096  # the fewest Kafka takes: every connection of a node pays for them
_TOKENS_SINCE = Version("3.6.0")


_BY_CERTIFICATE = {
    "ssl.client.auth": "required",
    "ssl.principal.mapping.rules": r"RULE:^CN=([^,]+).*$/$1/",
}
"""Who shows a certificate is known by its common name."""


def has_login(protocol: SecurityProtocol) -> bool:
    """Whether a client of such a listener must log in."""
    return protocol.startswith("SASL")


def is_encrypted(protocol: SecurityProtocol) -> bool:
    """Whether such a listener speaks TLS."""
    return protocol.endswith("SSL")


@dataclass(frozen=True)
class Protection:
    """Passwords, and what is made of them; ``folder`` holds certificates, and files that carry a password to a tool."""

    security: Security
    folder: Path
    signs_tokens: bool = False
    scram_password: str = field(default_factory=new_password, repr=False)
    plain_password: str = field(default_factory=new_password, repr=False)
    token_secret: str = field(default_factory=new_password, repr=False)
    """What delegation tokens are signed with, where there are any."""
    nodes: tuple[str, ...] = ()
    """The names in the certificates of brokers and controllers."""
    zookeeper: ZookeeperLogin | None = None
    """How ZooKeeper knows brokers and controllers; None: there are no logins."""

    @property
    def superusers(self) -> str:
        """The value of ``super.users``, in force only with an authorizer."""
        users = {user for protocol in self.security.protocols.values() for user in self._known_by(protocol)}
        return ";".join(f"User:{user}" for user in sorted(users))

    def _known_by(self, protocol: SecurityProtocol) -> tuple[str, ...]:
        """Who brokers, controllers and our clients are at a listener of this protocol."""
        if has_login(protocol):
            return (ADMIN,)
        return (ADMIN, *self.nodes) if self._asks(protocol) else (ANONYMOUS,)

    def _asks(self, protocol: SecurityProtocol) -> bool:
        """Whether such a listener asks for a certificate."""
        return self.security.client_auth and is_encrypted(protocol)

    def node_properties(self, spec: NodeSpec) -> dict[str, str]:
        """What a broker's or controller's properties file says about its listeners."""
        protocols = self.security.protocols
        by_tls, control_plane = self.security.zookeeper_tls, self.security.control_plane or "PLAINTEXT"
        tls = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(_key_store(self.folder, spec.name))}
        return {
            "listener.security.protocol.map": ",".join(f"{name}:{protocol}" for name, protocol in protocols.items()),
            **({**tls, **self._trust_of_java} if any(map(is_encrypted, protocols.values())) else {}),
            **(_BY_CERTIFICATE if any(map(self._asks, protocols.values())) else {}),
            **({"sasl.enabled.mechanisms": MECHANISM} if self._has_scram else {}),
            **(self._login_of_brokers(Listener.INTERNAL) if has_login(self.security.internal) else {}),
            **{_jaas(name): f"{_SCRAM_MODULE};" for name in self._of_clients if has_login(protocols[name])},
            **(self._login_of_brokers(Listener.CONTROL_PLANE) if has_login(control_plane) else {}),
            **(self._controller_login if has_login(self.security.controller) else {}),
            **({"delegation.token.secret.key": self.token_secret} if self.signs_tokens else {}),
            **(tls_of_client(_key_store(self.folder, USER), _authority_file(self.folder)) if by_tls else {}),
        }

    def zookeeper_properties(self, spec: NodeSpec) -> dict[str, str]:
        """What a ZooKeeper server's properties file says about logins and TLS."""
        if self.security.zookeeper_tls:
            stores = _key_store(self.folder, spec.name), _authority_file(self.folder)
            return tls_of_server(ZOOKEEPER_TLS_PORT, spec.name, *stores)
        return dict(SERVER_PROPERTIES) if self.security.zookeeper_login else {}

    def client_properties(self, listener: str = Listener.CLIENT) -> Mapping[str, str]:
        """What a librdkafka client needs to be let in, besides the addresses; nothing at a plain listener."""
        trust = {
            "ssl.ca.location": str(_authority_file(self.folder)),
            "ssl.endpoint.identification.algorithm": "https",
            **self._certificate(self.security.protocols[listener]),
        }
        is_plain = listener == Listener.CONTROLLER and not self.security.controller_scram
        mechanism, password = (
            (_CONTROLLER_MECHANISM, self.plain_password) if is_plain else (MECHANISM, self.scram_password)
        )
        login = {"sasl.mechanism": mechanism, "sasl.username": ADMIN, "sasl.password": password}
        return self._as_a_client(listener, trust, login)

    def greeting_properties(self, listener: str) -> Mapping[str, str]:
        """What a client needs to be answered at any listener before it logs in, besides the address."""
        protocol = self.security.protocols[listener]
        if not is_encrypted(protocol):
            return {}
        trust = {"security.protocol": "SSL", "ssl.ca.location": str(_authority_file(self.folder))}
        return {**trust, **self._certificate(protocol)}

    def tool_properties(self) -> Mapping[str, str]:
        """What Kafka's own tools need to be let in, besides the addresses: their ``--command-config``."""
        login = {"sasl.mechanism": MECHANISM, "sasl.jaas.config": self._scram_as_admin}
        shown = {"ssl.keystore.type": "PEM", "ssl.keystore.location": str(_key_store(self.folder, ADMIN))}
        trust = {**self._trust_of_java, **(shown if self._asks(self.security.client) else {})}
        return self._as_a_client(Listener.CLIENT, trust, login)

    def format_arguments(self) -> list[str]:
        """The first credential, if any, for Kafka's storage tool, which formats disks of a cluster born in KRaft mode.

        By way of a file: a command line can be read by everybody on this machine.
        """
        if not self._has_scram:
            return []
        credential = f"{MECHANISM}=[name={ADMIN},iterations={_ITERATIONS},password={self.scram_password}]"
        file = write_private(self.folder / "format-arguments", f"--add-scram\n{credential}\n")
        return [f"@{file}"]

    def scram_in_zookeeper(self, servers: str) -> list[str]:
        """The first credential, if any, for Kafka's config tool, going to ZooKeeper: no broker lets anybody in yet."""
        if not self._has_scram:
            return []
        credential = f"{MECHANISM}=iterations={_ITERATIONS},password={self.scram_password}\n"
        file = write_private(self.folder / "scram.properties", credential)
        whom = ["--entity-type", "users", "--entity-name", ADMIN]
        return ["--zookeeper", servers, "--alter", *whom, "--add-config-file", str(file)]

    def _certificate(self, protocol: SecurityProtocol) -> dict[str, str]:
        """What our clients show at a listener that asks for it."""
        file = str(_key_store(self.folder, ADMIN))
        return {"ssl.certificate.location": file, "ssl.key.location": file} if self._asks(protocol) else {}

    def _as_a_client(self, listener: str, trust: Mapping[str, str], login: Mapping[str, str]) -> dict[str, str]:
        protocol = self.security.protocols[listener]
        if protocol == "PLAINTEXT":
            return {}
        parts = (trust if is_encrypted(protocol) else {}, login if has_login(protocol) else {})
        return {"security.protocol": protocol, **parts[0], **parts[1]}

    @property
    def _of_clients(self) -> tuple[str, ...]:
        """The listeners that clients dial."""
        return (Listener.CLIENT, *self.security.extra)

    @property
    def _has_scram(self) -> bool:
        by_scram = [Listener.INTERNAL, Listener.CONTROL_PLANE, *self._of_clients]
        by_scram += [Listener.CONTROLLER] if self.security.controller_scram else []
        return any(has_login(self.security.protocols.get(name, "PLAINTEXT")) for name in by_scram)

    @property
    def _scram_as_admin(self) -> str:
        return f'{_SCRAM_MODULE} username="{ADMIN}" password="{self.scram_password}";'

    @property
    def _trust_of_java(self) -> dict[str, str]:
        return {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(_authority_file(self.folder))}

    def _login_of_brokers(self, listener: Listener) -> dict[str, str]:
        """For both ends: a node that is dialled there dials others, too. All such listeners have one mechanism."""
        return {"sasl.mechanism.inter.broker.protocol": MECHANISM, _jaas(listener): self._scram_as_admin}

    @property
    def _controller_login(self) -> dict[str, str]:
        if self.security.controller_scram:
            return {
                "sasl.mechanism.controller.protocol": MECHANISM,
                f"{_prefix(Listener.CONTROLLER)}.sasl.enabled.mechanisms": MECHANISM,
                _jaas(Listener.CONTROLLER): self._scram_as_admin,
            }
        as_admin = f'username="{ADMIN}" password="{self.plain_password}" user_{ADMIN}="{self.plain_password}"'
        return {
            "sasl.mechanism.controller.protocol": _CONTROLLER_MECHANISM,
            f"{_prefix(Listener.CONTROLLER)}.sasl.enabled.mechanisms": _CONTROLLER_MECHANISM,
            _jaas(Listener.CONTROLLER, _CONTROLLER_MECHANISM): f"{_PLAIN_MODULE} {as_admin};",
        }


def protect(addresses: Addresses, folder: Path) -> Protection:
    """The protection that the topology asks for; what it needs of files is in ``folder`` when this returns."""
    security, nodes = addresses.topology.security, addresses.topology.nodes
    protocols = security.protocols.values()
    if any(protocol != "PLAINTEXT" for protocol in protocols) or security.zookeeper_login or security.zookeeper_tls:
        folder.mkdir(mode=0o700, parents=True)
    if any(map(is_encrypted, protocols)) or security.zookeeper_tls:
        authority = new_authority(addresses.topology.name)
        authority.certificate_file(_authority_file(folder))
        for spec in nodes:
            if spec.role is not Role.ZOOKEEPER or security.zookeeper_tls:
                authority.key_store(_key_store(folder, spec.name), spec.name, _leading_to(spec.name, addresses))
        if security.zookeeper_tls:
            authority.key_store(_key_store(folder, USER), USER, [])
        if security.client_auth:
            authority.key_store(_key_store(folder, ADMIN), ADMIN, [])
    signs_tokens = has_login(security.client) and all(map(_may_have_tokens, nodes))
    login = new_zookeeper_login(folder) if security.zookeeper_login else None
    if security.zookeeper_tls:
        login = login_by_certificate()
    names = tuple(spec.name for spec in nodes if spec.role is not Role.ZOOKEEPER)
    return Protection(security, folder, signs_tokens, nodes=names, zookeeper=login)


def client_file(protection: Protection, scratch: Path) -> Path | None:
    """A properties file for Kafka's own tools; None if the cluster has no logins."""
    properties = protection.tool_properties()
    lines = "".join(f"{key}={value}\n" for key, value in properties.items())
    return write_private(scratch.absolute() / "client.properties", lines) if properties else None


def _may_have_tokens(spec: NodeSpec) -> bool:
    """Whether a node in KRaft mode may have a secret to sign tokens with; a folder is taken for a new Kafka."""
    try:
        return spec.role is Role.ZOOKEEPER or Version(spec.kafka) >= _TOKENS_SINCE
    except InvalidVersion:
        return True


def _leading_to(name: str, addresses: Addresses) -> Iterable[str]:
    """Every address under which anybody finds the node; the clients and we ourselves know no names, only these."""
    sources = [*(spec.name for spec in addresses.topology.nodes), CLIENTS]
    return [addresses.seen_from(source, name) for source in sources]


def _prefix(listener: str) -> str:
    return f"listener.name.{listener.lower()}"


def _jaas(listener: str, mechanism: str = MECHANISM) -> str:
    return f"{_prefix(listener)}.{mechanism.lower()}.sasl.jaas.config"


def _key_store(folder: Path, node: str) -> Path:
    return folder / f"{node}.pem"


def _authority_file(folder: Path) -> Path:
    return folder / "authority.pem"
