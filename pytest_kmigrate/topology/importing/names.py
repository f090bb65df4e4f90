"""Kafka's names that more than one reader writes, and what their values mean."""

from collections.abc import Mapping
from typing import Final

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing.found import Setting

NODE_ID: Final = "node.id"
BROKER_ID: Final = "broker.id"
PROCESS_ROLES: Final = "process.roles"
ZOOKEEPER_CONNECT: Final = "zookeeper.connect"
VOTERS: Final = "controller.quorum.voters"
BOOTSTRAP_CONTROLLERS: Final = "controller.quorum.bootstrap.servers"
LOG_DIRS: Final = "log.dirs"
LOG_DIR: Final = "log.dir"
METADATA_DIR: Final = "metadata.log.dir"
LISTENERS: Final = "listeners"
ADVERTISED: Final = "advertised.listeners"
PROTOCOLS: Final = "listener.security.protocol.map"
INTER_BROKER: Final = "inter.broker.listener.name"
INTER_BROKER_PROTOCOL: Final = "security.inter.broker.protocol"
CONTROLLER_LISTENERS: Final = "controller.listener.names"
CONTROL_PLANE: Final = "control.plane.listener.name"
AUTHORIZER: Final = "authorizer.class.name"
PROTOCOL_VERSION: Final = "inter.broker.protocol.version"
ZOOKEEPER_TLS: Final = "zookeeper.ssl.client.enable"
ZOOKEEPER_ACLS: Final = "zookeeper.set.acl"
MIGRATION: Final = "zookeeper.metadata.migration.enable"
MECHANISMS: Final = "sasl.enabled.mechanisms"
MECHANISM_OF_BROKERS: Final = "sasl.mechanism.inter.broker.protocol"
MECHANISM_OF_CONTROLLERS: Final = "sasl.mechanism.controller.protocol"
CLIENT_AUTH: Final = "ssl.client.auth"
KAFKA_AUTHORIZERS: Final = (
    "kafka.security.authorizer.AclAuthorizer",
    "kafka.security.auth.SimpleAclAuthorizer",
    "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
)

_ROLES: Mapping[frozenset[str], Role] = {
    frozenset({"broker"}): Role.BROKER,
    frozenset({"controller"}): Role.CONTROLLER,
    frozenset({"broker", "controller"}): Role.COMBINED,
}


def parts(text: str) -> list[str]:
    """The parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def is_placeholder(text: str) -> bool:
    """Whether a text holds what a template or a shell would fill in."""
    return "${" in text or "{{" in text


def roles_in(roles: Setting) -> Role:
    """The role of a node with these ``process.roles``."""
    role = _ROLES.get(frozenset(parts(roles.value)))
    if role is None:
        raise roles.origin.wrong(f"expected broker, controller or both, got {roles.value!r}")
    return role


def of_listener(listener: str, name: str) -> str:
    """A property of one listener."""
    return f"listener.name.{listener.lower()}.{name}"


def protocol(*, has_tls: bool, has_login: bool) -> str:
    """Kafka's name of a protocol."""
    return ("SASL_" if has_login else "") + ("SSL" if has_tls else "PLAINTEXT")
