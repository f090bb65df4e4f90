"""The properties a node starts with, by role and mode: Kafka's defaults, less what only slows a small cluster down.

What a migration adds is not here: a migration step sets it (``pytest_kmigrate.migration``), as an operator would.
"""

from collections.abc import Mapping
from pathlib import Path

from pytest_kmigrate.model.topology import BrokerMode, Listener, NodeSpec, Role, Topology
from pytest_kmigrate.providers.process.certificates import write_private
from pytest_kmigrate.providers.process.network.addresses import (
    CLIENT_PORT,
    CLIENTS,
    CONTROLLER_PORT,
    INTERNAL_PORT,
    ZOOKEEPER_PEER_PORTS,
    ZOOKEEPER_PORT,
    Addresses,
)
from pytest_kmigrate.providers.process.security import Protection

_ZOOKEEPER_ONLY = ("broker.id", "zookeeper.connect", "inter.broker.protocol.version", "log.message.format.version")
_AUTHORIZERS = {
    BrokerMode.ZOOKEEPER: "kafka.security.authorizer.AclAuthorizer",
    BrokerMode.KRAFT: "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}


def quorum_voters(topology: Topology) -> str:
    """The value of ``controller.quorum.voters``."""
    return ",".join(f"{spec.node_id}@{spec.name}:{CONTROLLER_PORT}" for spec in topology.of_role(Role.CONTROLLER))


def zookeeper_connect(topology: Topology) -> str:
    """The value of ``zookeeper.connect``."""
    return ",".join(f"{spec.name}:{ZOOKEEPER_PORT}" for spec in topology.of_role(Role.ZOOKEEPER))


def node_properties(
    addresses: Addresses,
    protection: Protection,
    spec: NodeSpec,
    mode: BrokerMode | None,
    disk: Path,
    changes: Mapping[str, str | None],
) -> dict[str, str]:
    """What the node's properties file holds: base by role and mode, then the topology's, then ``changes``."""
    if spec.role is Role.ZOOKEEPER:
        base = _zookeeper(addresses.topology, spec, disk)
    elif spec.role is Role.CONTROLLER:
        base = _controller(addresses.topology, protection, spec, disk)
    else:
        base = _broker(addresses, protection, spec, mode or BrokerMode.ZOOKEEPER, disk)
    layered: dict[str, str | None] = {**base, **spec.properties, **changes}
    if spec.role is Role.BROKER and mode is BrokerMode.KRAFT:
        layered.update(dict.fromkeys(_ZOOKEEPER_ONLY))
    return {key: value for key, value in layered.items() if value is not None}


def _zookeeper(topology: Topology, spec: NodeSpec, disk: Path) -> dict[str, str]:
    ensemble = topology.of_role(Role.ZOOKEEPER)
    own = {
        "dataDir": str(disk),
        "clientPort": str(ZOOKEEPER_PORT),
        "clientPortAddress": spec.name,
        "tickTime": "500",  # sessions of 4 s (the shortest Kafka uses) need a tick of at most 2 s
        "maxSessionTimeout": "60000",
        "maxClientCnxns": "0",
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "srvr,ruok,cons,dump",
    }
    if len(ensemble) == 1:
        return own
    peers = ":".join(str(port) for port in ZOOKEEPER_PEER_PORTS)
    servers = {f"server.{each.node_id}": f"{each.name}:{peers}" for each in ensemble}
    # A follower that turns to the new leader a moment too early is refused by plain TCP and asks again; a proxy lets it
    # in and closes, it goes back to electing, and the leader gives up after initLimit only: 5 s rather than 10.
    return {**own, "initLimit": "10", "syncLimit": "10", **servers}


def _shared(topology: Topology, protection: Protection, spec: NodeSpec) -> dict[str, str]:
    brokers = len(topology.of_role(Role.BROKER))
    copies = str(min(3, brokers))
    authorizer = {"super.users": protection.superusers} if topology.security.authorizer else {}
    return {
        "inter.broker.listener.name": Listener.INTERNAL,
        **protection.node_properties(spec),
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": "3",
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.min.isr": str(min(2, brokers)),
        "transaction.state.log.num.partitions": "3",
        "group.initial.rebalance.delay.ms": "0",
        "log.cleaner.dedupe.buffer.size": "4194304",  # the default takes 128 MiB a broker
        "auto.create.topics.enable": "false",
        **authorizer,
    }


def _broker(
    addresses: Addresses, protection: Protection, spec: NodeSpec, mode: BrokerMode, disk: Path
) -> dict[str, str]:
    topology = addresses.topology
    properties = {
        **_shared(topology, protection, spec),
        "listeners": f"{Listener.INTERNAL}://{spec.name}:{INTERNAL_PORT},{Listener.CLIENT}://{spec.name}:{CLIENT_PORT}",
        "advertised.listeners": f"{Listener.INTERNAL}://{spec.name}:{INTERNAL_PORT},"
        f"{Listener.CLIENT}://{addresses.seen_from(CLIENTS, spec.name)}:{CLIENT_PORT}",
        "log.dirs": str(disk),
        "broker.heartbeat.interval.ms": "500",  # the next one tells a broker that it may stop: by default 2 s later
    }
    if topology.security.authorizer:
        properties["authorizer.class.name"] = _AUTHORIZERS[mode]
    if mode is BrokerMode.ZOOKEEPER:
        return {**properties, "broker.id": str(spec.node_id), "zookeeper.connect": zookeeper_connect(topology)}
    return {**properties, **_kraft(topology, spec, "broker")}


def _controller(topology: Topology, protection: Protection, spec: NodeSpec, disk: Path) -> dict[str, str]:
    properties = {
        **_shared(topology, protection, spec),
        **_kraft(topology, spec, "controller"),
        "listeners": f"{Listener.CONTROLLER}://{spec.name}:{CONTROLLER_PORT}",
        "log.dirs": str(disk),
    }
    if topology.security.authorizer:
        properties["authorizer.class.name"] = _AUTHORIZERS[BrokerMode.KRAFT]
    return properties


def _kraft(topology: Topology, spec: NodeSpec, role: str) -> dict[str, str]:
    return {
        "process.roles": role,
        "node.id": str(spec.node_id),
        "controller.quorum.voters": quorum_voters(topology),
        "controller.listener.names": Listener.CONTROLLER,
    }


def write_file(path: Path, properties: Mapping[str, str]) -> None:
    """Write properties as Java reads them, for nobody else's eyes."""
    escaped = {key: value.replace("\\", "\\\\") for key, value in properties.items()}
    write_private(path, "".join(f"{key}={value}\n" for key, value in sorted(escaped.items())))
