"""The properties a node starts with, by role and mode: Kafka's defaults, less what only slows a small cluster down.

What a migration adds is not here: a step of its document sets it, as an operator would.
"""

from collections.abc import Mapping
from pathlib import Path

from pytest_kmigrate.model.topology import BrokerMode, Listener, NodeSpec, Role, Topology
from pytest_kmigrate.providers.owned.disks.folders import log_dirs, metadata_dir
from pytest_kmigrate.providers.owned.network.addresses import (
    CLIENTS,
    CONTROL_PLANE_PORT,
    CONTROLLER_PORT,
    INTERNAL_PORT,
    ZOOKEEPER_PEER_PORTS,
    ZOOKEEPER_PORT,
    Addresses,
    zookeeper_port,
)
from pytest_kmigrate.providers.owned.protection.certificates import write_private
from pytest_kmigrate.providers.owned.protection.security import Protection

_ZOOKEEPER_ONLY = (
    "broker.id",
    "zookeeper.connect",
    "zookeeper.set.acl",
    "inter.broker.protocol.version",
    "log.message.format.version",
)
_AUTHORIZER = "authorizer.class.name"
_SUPER_USERS = "super.users"
_RESERVED_IDS = 1000
_AUTHORIZERS = {
    BrokerMode.ZOOKEEPER: "kafka.security.authorizer.AclAuthorizer",
    BrokerMode.KRAFT: "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}


def quorum_voters(topology: Topology) -> str:
    """The value of ``controller.quorum.voters``."""
    return ",".join(f"{spec.node_id}@{spec.name}:{CONTROLLER_PORT}" for spec in topology.of_role(Role.CONTROLLER))


def quorum_servers(topology: Topology) -> str:
    """The value of ``controller.quorum.bootstrap.servers``."""
    return ",".join(f"{spec.name}:{CONTROLLER_PORT}" for spec in topology.of_role(Role.CONTROLLER))


def zookeeper_connect(topology: Topology) -> str:
    """The value of ``zookeeper.connect``."""
    port = zookeeper_port(topology)
    servers = ",".join(f"{spec.name}:{port}" for spec in topology.of_role(Role.ZOOKEEPER))
    return servers + topology.chroot if servers else ""


def default_authorizer(spec: NodeSpec, mode: BrokerMode | None) -> str:
    """Kafka's own class for a broker in this mode, or a controller."""
    return _AUTHORIZERS[BrokerMode.KRAFT if spec.plays(Role.CONTROLLER) else mode or BrokerMode.ZOOKEEPER]


def authorizer_of(topology: Topology, spec: NodeSpec, mode: BrokerMode | None) -> str | None:
    """The class that a broker or controller authorizes by in this mode; None: everybody may do everything."""
    security = topology.security
    default = (security.authorizer_class or default_authorizer(spec, mode)) if security.authorizer else None
    return spec.properties.get(_AUTHORIZER, default) or None


def node_properties(
    addresses: Addresses,
    protection: Protection,
    spec: NodeSpec,
    mode: BrokerMode | None,
    disk: Path,
    changes: Mapping[str, str | None],
) -> dict[str, str]:
    """What the node's properties file holds: base by role and mode, then the topology's, then ``changes``."""
    topology = addresses.topology
    if spec.role is Role.ZOOKEEPER:
        base = _zookeeper(topology, spec, disk) | protection.zookeeper_properties(spec)
    elif spec.role is Role.CONTROLLER:
        base = _controller(topology, protection, spec, disk)
    else:
        base = _broker(addresses, protection, spec, mode or BrokerMode.ZOOKEEPER, disk)
    base |= _authorization(topology, protection, spec, mode)
    own = {key: value for key, value in spec.properties.items() if key != _SUPER_USERS or _SUPER_USERS not in base}
    layered: dict[str, str | None] = {**base, **own, **changes}
    if "zookeeper.connect" in layered and topology.security.zookeeper_acls:
        layered["zookeeper.set.acl"] = "true"
    if spec.plays(Role.BROKER) and mode is BrokerMode.KRAFT and topology.of_role(Role.ZOOKEEPER):
        # A migration leaves them behind. Where there is no ZooKeeper, a test that sets one means it.
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
        "4lw.commands.whitelist": "srvr,ruok,cons,dump,wchp",
    }
    if len(ensemble) == 1:
        return own
    peers = ":".join(str(port) for port in ZOOKEEPER_PEER_PORTS)
    servers = {f"server.{each.node_id}": f"{each.name}:{peers}" for each in ensemble}
    # A follower that turns to the new leader a moment too early is refused by plain TCP and asks again; a proxy lets it
    # in and closes, it goes back to electing, and the leader gives up after initLimit only. More than every second
    # election fails so, and some fail eight times: 2 s each, and not the 10 s that are usual.
    return {**own, "initLimit": "4", "syncLimit": "10", **servers}


def _shared(topology: Topology, protection: Protection, spec: NodeSpec) -> dict[str, str]:
    brokers = len(topology.of_role(Role.BROKER))
    copies = str(min(3, brokers))
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
    }


def _authorization(
    topology: Topology, protection: Protection, spec: NodeSpec, mode: BrokerMode | None
) -> dict[str, str]:
    """The authorizer, and its superusers: those that the topology names and ours, without whom no node gets in."""
    authorizer = None if spec.role is Role.ZOOKEEPER else authorizer_of(topology, spec, mode)
    if authorizer is None:
        return {}
    named = (spec.properties.get(_SUPER_USERS, ""), protection.superusers)
    users = [user.strip() for users in named for user in users.split(";") if user.strip()]
    return {_AUTHORIZER: authorizer, _SUPER_USERS: ";".join(dict.fromkeys(users))}


def _broker(
    addresses: Addresses, protection: Protection, spec: NodeSpec, mode: BrokerMode, disk: Path
) -> dict[str, str]:
    topology = addresses.topology
    outside = addresses.seen_from(CLIENTS, spec.name)
    internal = f"{Listener.INTERNAL}://{spec.name}:{INTERNAL_PORT}"
    of_clients = addresses.client_ports.items()
    bound = [internal, *(f"{name}://{spec.name}:{port}" for name, port in of_clients)]
    advertised = [internal, *(f"{name}://{outside}:{port}" for name, port in of_clients)]
    if spec.role is Role.COMBINED:
        bound.append(_controller_listener(spec))
    has_control_plane = topology.security.control_plane is not None and mode is BrokerMode.ZOOKEEPER
    if has_control_plane:
        bound.append(f"{Listener.CONTROL_PLANE}://{spec.name}:{CONTROL_PLANE_PORT}")
        advertised.append(bound[-1])
    properties = {
        **_shared(topology, protection, spec),
        "listeners": ",".join(bound),
        "advertised.listeners": ",".join(advertised),
        "log.dirs": ",".join(map(str, log_dirs(disk, spec))),
        "broker.heartbeat.interval.ms": "500",  # the next one lets a broker stop: by default 2 s later
    }
    if has_control_plane:
        properties["control.plane.listener.name"] = Listener.CONTROL_PLANE
    if mode is BrokerMode.ZOOKEEPER:
        return {**properties, "zookeeper.connect": zookeeper_connect(topology), **_given_id(topology, spec)}
    return {**properties, **_kraft(topology, spec, disk)}


def _given_id(topology: Topology, spec: NodeSpec) -> dict[str, str]:
    """The id of a broker in ZooKeeper mode; Kafka's limit for ids that are given is moved above all of them."""
    highest = max(each.node_id for each in topology.of_role(Role.BROKER))
    reserved = {"reserved.broker.max.id": str(highest)} if highest > _RESERVED_IDS else {}
    return {"broker.id": str(spec.node_id), **reserved}


def _controller(topology: Topology, protection: Protection, spec: NodeSpec, disk: Path) -> dict[str, str]:
    return {
        **_shared(topology, protection, spec),
        **_kraft(topology, spec, disk),
        "listeners": _controller_listener(spec),
        "log.dirs": ",".join(map(str, log_dirs(disk, spec))),
    }


def _controller_listener(spec: NodeSpec) -> str:
    return f"{Listener.CONTROLLER}://{spec.name}:{CONTROLLER_PORT}"


def _kraft(topology: Topology, spec: NodeSpec, disk: Path) -> dict[str, str]:
    roles = [role for role in (Role.BROKER, Role.CONTROLLER) if spec.plays(role)]
    voters = {"controller.quorum.voters": quorum_voters(topology)}
    return {
        "process.roles": ",".join(roles),
        "node.id": str(spec.node_id),
        **({"controller.quorum.bootstrap.servers": quorum_servers(topology)} if topology.dynamic_quorum else voters),
        "controller.listener.names": Listener.CONTROLLER,
        **({"metadata.log.dir": str(metadata_dir(disk, spec))} if spec.metadata_disk else {}),
    }


def write_file(path: Path, properties: Mapping[str, str]) -> None:
    """Write properties as Java reads them, for no other user's eyes."""
    escaped = {key: value.replace("\\", "\\\\") for key, value in properties.items()}
    write_private(path, "".join(f"{key}={value}\n" for key, value in sorted(escaped.items())))
