"""Logins at ZooKeeper: brokers and controllers by SASL DIGEST-MD5 or TLS, and the observer as ZooKeeper's superuser.

ZooKeeper lets others connect, too, as it does by default. The ACLs of znodes keep them out, where Kafka sets any. These
name who made a znode, so all brokers and controllers have one name: by TLS they share one certificate.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from kazoo.client import KazooClient

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.owned.protection.certificates import write_private
from pytest_kmigrate.redaction.known import learn

USER = "kafka"
"""The principal in Kafka's ACLs on znodes: ``sasl:kafka``."""
_SUPERUSER = "super"
_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"
_PASSWORD_BYTES = 24
SERVER_PROPERTIES = {"authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}


@dataclass(frozen=True)
class ZookeeperLogin:
    """The login files of servers and of Kafka (None: without SASL), and the password of the superuser."""

    server_file: Path | None
    client_file: Path | None
    superuser_password: str = field(repr=False)

    @property
    def superuser(self) -> str:
        """The superuser's credential of scheme ``digest``, as ``user:password``."""
        return f"{_SUPERUSER}:{self.superuser_password}"

    def jvm_options(self, role: Role) -> tuple[str, ...]:
        """The options of a JVM that serves or logs in. Of the superuser's password they hold a hash only."""
        file = self.server_file if role is Role.ZOOKEEPER else self.client_file
        login = (f"-Djava.security.auth.login.config={file}",) if file else ()
        if role is not Role.ZOOKEEPER:
            return login
        digest = base64.b64encode(hashlib.sha1(self.superuser.encode(), usedforsecurity=False).digest()).decode()
        superuser = f"-Dzookeeper.DigestAuthenticationProvider.superDigest={_SUPERUSER}:{digest}"
        return (*login, superuser)


def new_zookeeper_login(folder: Path) -> ZookeeperLogin:
    """A login with passwords of its own, its files in ``folder``."""
    password = new_password()
    server = f'Server {{\n  {_MODULE}\n  user_{USER}="{password}";\n}};\n'
    client = f'Client {{\n  {_MODULE}\n  username="{USER}"\n  password="{password}";\n}};\n'
    return ZookeeperLogin(
        write_private(folder.absolute() / "zookeeper-server.jaas", server),
        write_private(folder.absolute() / "zookeeper-client.jaas", client),
        new_password(),
    )


def login_by_certificate() -> ZookeeperLogin:
    """A login of Kafka without any file: only the superuser has a password."""
    return ZookeeperLogin(None, None, new_password())


def new_password() -> str:
    """A password that no artefact of a run will have."""
    password = secrets.token_hex(_PASSWORD_BYTES)
    learn([password], is_of_cluster=True)
    return password


def tls_of_server(port: int, name: str, key_store: Path, trust_store: Path) -> dict[str, str]:
    """What a server needs to serve TLS at a port, to clients with certificates, beside its plain port."""
    return {
        "secureClientPort": str(port),
        "secureClientPortAddress": name,
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
        **{f"ssl.{key}": value for key, value in _stores("keyStore", "trustStore", key_store, trust_store).items()},
    }


def tls_of_client(key_store: Path, trust_store: Path) -> dict[str, str]:
    """What a broker or controller needs to reach such a server."""
    return {
        "zookeeper.ssl.client.enable": "true",
        "zookeeper.clientCnxnSocket": "org.apache.zookeeper.ClientCnxnSocketNetty",
        **{
            f"zookeeper.ssl.{key}": value
            for key, value in _stores("keystore", "truststore", key_store, trust_store).items()
        },
    }


def _stores(key: str, trust: str, key_store: Path, trust_store: Path) -> dict[str, str]:
    return {
        f"{key}.location": str(key_store),
        f"{key}.type": "PEM",
        f"{trust}.location": str(trust_store),
        f"{trust}.type": "PEM",
    }


def make_chroot(servers: str, superuser: str | None) -> None:
    """Make the path that ends ``servers``, which Kafka's tools expect and only its brokers make; no path, no work."""
    hosts, slash, path = servers.partition("/")
    if not slash:
        return
    client = KazooClient(hosts, auth_data=[("digest", superuser)] if superuser else None)
    client.start()
    try:
        client.ensure_path(f"/{path}")
    finally:
        client.stop()
        client.close()
