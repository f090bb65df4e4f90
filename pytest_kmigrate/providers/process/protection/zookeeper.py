"""Logins at ZooKeeper: brokers and controllers by SASL DIGEST-MD5, and the observer as ZooKeeper's superuser.

ZooKeeper lets others connect, too, as it does by default. The ACLs of znodes keep them out, where Kafka sets any.
"""

import base64
import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from kazoo.client import KazooClient

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.providers.process.protection.certificates import write_private

USER = "kafka"
"""The principal in Kafka's ACLs on znodes: ``sasl:kafka``."""
_SUPERUSER = "super"
_MODULE = "org.apache.zookeeper.server.auth.DigestLoginModule required"
_PASSWORD_BYTES = 24
SERVER_PROPERTIES = {"authProvider.sasl": "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"}


@dataclass(frozen=True)
class ZookeeperLogin:
    """The login files of servers and of Kafka, and the password of the superuser."""

    server_file: Path
    client_file: Path
    superuser_password: str = field(repr=False)

    @property
    def superuser(self) -> str:
        """The superuser's credential of scheme ``digest``, as ``user:password``."""
        return f"{_SUPERUSER}:{self.superuser_password}"

    def jvm_options(self, role: Role) -> tuple[str, ...]:
        """The options of a JVM that serves or logs in. Of the superuser's password they hold a hash only."""
        if role is not Role.ZOOKEEPER:
            return (f"-Djava.security.auth.login.config={self.client_file}",)
        digest = base64.b64encode(hashlib.sha1(self.superuser.encode(), usedforsecurity=False).digest()).decode()
        superuser = f"-Dzookeeper.DigestAuthenticationProvider.superDigest={_SUPERUSER}:{digest}"
        return (f"-Djava.security.auth.login.config={self.server_file}", superuser)


def new_zookeeper_login(folder: Path) -> ZookeeperLogin:
    """A login with passwords of its own, its files in ``folder``."""
    password = secrets.token_hex(_PASSWORD_BYTES)
    server = f'Server {{\n  {_MODULE}\n  user_{USER}="{password}";\n}};\n'
    client = f'Client {{\n  {_MODULE}\n  username="{USER}"\n  password="{password}";\n}};\n'
    return ZookeeperLogin(
        write_private(folder.absolute() / "zookeeper-server.jaas", server),
        write_private(folder.absolute() / "zookeeper-client.jaas", client),
        secrets.token_hex(_PASSWORD_BYTES),
    )


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
