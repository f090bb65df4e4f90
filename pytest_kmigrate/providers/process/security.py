"""How the listeners of one cluster are protected: credentials, key stores, properties of nodes and clients.

Under SASL_SSL every Kafka listener is encrypted and authenticates; ZooKeeper stays plain. There is one user, ``admin``:
the brokers, the controllers and our clients are all that superuser, known by the same name on every listener.

- INTERNAL and CLIENT: SCRAM-SHA-512. Its credentials are metadata. A cluster in ZooKeeper mode gets the first one
  before its brokers start (``scram_in_zookeeper``), a cluster born in KRaft mode when it is formatted
  (``format_arguments``); the migration copies it like all other metadata.
- CONTROLLER: PLAIN, inside TLS. The quorum must elect a leader before any metadata can be read, and during a migration
  long before the credentials are copied: SCRAM there would need what only a running quorum has (KAFKA-15513). The one
  user of PLAIN stands in the controllers' properties. Mutual TLS would do as well, but would give every node a second
  principal to put among the superusers.

In hybrid mode a controller dials the INTERNAL listener of brokers in ZooKeeper mode, and brokers in either mode dial
the CONTROLLER listener: so brokers and controllers get the same properties, from their first start on.

Delegation tokens are on where every node is of 3.6 or later: all of them then share the secret that tokens are signed
with. Before, a broker in KRaft mode refuses to start with one, so that no such cluster could be migrated.
"""

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from packaging.version import InvalidVersion, Version

from pytest_kmigrate.model.topology import NodeSpec, Role
from pytest_kmigrate.providers.process.addresses import CLIENTS, Addresses
from pytest_kmigrate.providers.process.certificates import new_authority, write_private

CLIENTS_LISTENER = "CLIENT"
INTERNAL_LISTENER = "INTERNAL"
CONTROLLER_LISTENER = "CONTROLLER"
ADMIN = "admin"
MECHANISM = "SCRAM-SHA-512"
_CONTROLLER_MECHANISM = "PLAIN"
_SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule required"
_PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_ITERATIONS = 4096  # the fewest Kafka takes: every connection of a node pays for them
_PASSWORD_BYTES = 24
_TOKENS_SINCE = Version("3.6.0")


class Protection(Protocol):
    """What the rest of the provider knows of a cluster's security."""

    @property
    def superusers(self) -> str:
        """The value of ``super.users``, in force only with an authorizer."""
        ...

    def node_properties(self, spec: NodeSpec, /) -> dict[str, str]:
        """What a broker's or controller's properties file says about its listeners."""
        ...

    def client_properties(self) -> Mapping[str, str]:
        """What a librdkafka client needs to be let in, besides the addresses."""
        ...

    def tool_properties(self) -> Mapping[str, str]:
        """What Kafka's own tools need to be let in, besides the addresses: their ``--command-config``."""
        ...

    def format_arguments(self) -> list[str]:
        """What Kafka's storage tool is told when it formats disks for a cluster born in KRaft mode."""
        ...

    def scram_in_zookeeper(self, servers: str, /) -> list[str]:
        """Arguments of Kafka's config tool that put the first credential into ZooKeeper; empty when none is needed."""
        ...


class Plain:
    """No protection: everybody is User:ANONYMOUS."""

    superusers = "User:ANONYMOUS"

    def node_properties(self, _spec: NodeSpec, /) -> dict[str, str]:
        """What a broker's or controller's properties file says about its listeners."""
        return {"listener.security.protocol.map": _all_listeners("PLAINTEXT")}

    def client_properties(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def tool_properties(self) -> Mapping[str, str]:
        """Nothing."""
        return {}

    def format_arguments(self) -> list[str]:
        """Nothing."""
        return []

    def scram_in_zookeeper(self, _servers: str, /) -> list[str]:
        """Nothing."""
        return []


@dataclass(frozen=True)
class SaslSsl:
    """SASL_SSL on every listener; ``folder`` holds the certificates, and the files that carry a password to a tool."""

    folder: Path
    scram_password: str = field(repr=False)
    plain_password: str = field(repr=False)
    token_secret: str = field(repr=False)
    """What delegation tokens are signed with; empty where the cluster has none."""

    superusers = f"User:{ADMIN}"

    def node_properties(self, spec: NodeSpec) -> dict[str, str]:
        """What a broker's or controller's properties file says about its listeners."""
        scram, plain = f"{MECHANISM.lower()}.sasl.jaas.config", f"{_CONTROLLER_MECHANISM.lower()}.sasl.jaas.config"
        internal, clients, controller = (
            f"listener.name.{name.lower()}" for name in (INTERNAL_LISTENER, CLIENTS_LISTENER, CONTROLLER_LISTENER)
        )
        tokens = {"delegation.token.secret.key": self.token_secret} if self.token_secret else {}
        as_admin = f'username="{ADMIN}" password="{self.plain_password}" user_{ADMIN}="{self.plain_password}"'
        return {
            "listener.security.protocol.map": _all_listeners("SASL_SSL"),
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(_key_store(self.folder, spec.name)),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(_authority_file(self.folder)),
            "sasl.enabled.mechanisms": MECHANISM,
            "sasl.mechanism.inter.broker.protocol": MECHANISM,
            "sasl.mechanism.controller.protocol": _CONTROLLER_MECHANISM,
            f"{internal}.{scram}": f'{_SCRAM_MODULE} username="{ADMIN}" password="{self.scram_password}";',
            f"{clients}.{scram}": f"{_SCRAM_MODULE};",
            f"{controller}.sasl.enabled.mechanisms": _CONTROLLER_MECHANISM,
            f"{controller}.{plain}": f"{_PLAIN_MODULE} {as_admin};",
            **tokens,
        }

    def client_properties(self) -> Mapping[str, str]:
        """What a librdkafka client needs to be let in, besides the addresses."""
        return {
            "security.protocol": "SASL_SSL",
            "ssl.ca.location": str(_authority_file(self.folder)),
            "ssl.endpoint.identification.algorithm": "https",
            "sasl.mechanism": MECHANISM,
            "sasl.username": ADMIN,
            "sasl.password": self.scram_password,
        }

    def tool_properties(self) -> Mapping[str, str]:
        """What Kafka's own tools need to be let in, besides the addresses: their ``--command-config``."""
        return {
            "security.protocol": "SASL_SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(_authority_file(self.folder)),
            "sasl.mechanism": MECHANISM,
            "sasl.jaas.config": f'{_SCRAM_MODULE} username="{ADMIN}" password="{self.scram_password}";',
        }

    def format_arguments(self) -> list[str]:
        """The first credential, by way of a file: a command line can be read by everybody on this machine."""
        credential = f"{MECHANISM}=[name={ADMIN},iterations={_ITERATIONS},password={self.scram_password}]"
        file = write_private(self.folder / "format-arguments", f"--add-scram\n{credential}\n")
        return [f"@{file}"]

    def scram_in_zookeeper(self, servers: str) -> list[str]:
        """Kafka's config tool, going to ZooKeeper itself: no broker can let anybody in yet."""
        credential = f"{MECHANISM}=iterations={_ITERATIONS},password={self.scram_password}\n"
        file = write_private(self.folder / "scram.properties", credential)
        whom = ["--entity-type", "users", "--entity-name", ADMIN]
        return ["--zookeeper", servers, "--alter", *whom, "--add-config-file", str(file)]


def protect(addresses: Addresses, folder: Path) -> Protection:
    """The protection that the topology asks for; its certificates are in ``folder`` when this returns."""
    if addresses.topology.security.protocol == "PLAINTEXT":
        return Plain()
    folder.mkdir(mode=0o700, parents=True)
    authority = new_authority(addresses.topology.name)
    authority.certificate_file(_authority_file(folder))
    for spec in addresses.topology.nodes:
        if spec.role is not Role.ZOOKEEPER:
            authority.key_store(_key_store(folder, spec.name), spec.name, _leading_to(spec.name, addresses))
    scram, plain, signing = (secrets.token_hex(_PASSWORD_BYTES) for _ in range(3))
    return SaslSsl(folder, scram, plain, signing if all(map(_may_have_tokens, addresses.topology.nodes)) else "")


def client_file(protection: Protection, scratch: Path) -> Path | None:
    """A properties file for whoever takes Kafka's own tools to the cluster; None when everybody is let in."""
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


def _all_listeners(protocol: str) -> str:
    return ",".join(f"{name}:{protocol}" for name in (INTERNAL_LISTENER, CLIENTS_LISTENER, CONTROLLER_LISTENER))


def _key_store(folder: Path, node: str) -> Path:
    return folder / f"{node}.pem"


def _authority_file(folder: Path) -> Path:
    return folder / "authority.pem"
