"""Who listens where: a leased block of addresses per cluster, an address per directed link.

With loopback block x: node i binds 127.x.0.i; node s reaches node d at 127.x.s.d, where a proxy listens and forwards to
127.x.0.d; clients reach broker d at 127.x.250.d, and a process with links of its own at 127.x.200.d and so on. Ports
are fixed per role, so nothing is ever searched for.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.links import Link
from pytest_kmigrate.model.topology import Listener, NodeSpec, Role, Topology

CLIENTS = "clients"
CLIENTS_NUMBER = 250
FIRST_ADDED, MOST_ADDED = 200, 50
"""Numbers of processes besides nodes that have links of their own: above those of nodes, below that of clients."""
INTERNAL_PORT = 9092
CONTROLLER_PORT = 9093
CLIENT_PORT = 9094
CONTROL_PLANE_PORT = 9090
FIRST_EXTRA_PORT = 9095
"""Of the first further listener of brokers; the others count up."""
ZOOKEEPER_PORT = 2181
ZOOKEEPER_TLS_PORT = 2182
"""Where brokers and controllers reach ZooKeeper by TLS; ours is the plain port, to which no link leads then."""
ZOOKEEPER_PEER_PORTS = (2888, 3888)
JOLOKIA_PORT = 8778
BYTEMAN_PORT = 9091
TOXIPROXY_PORT = 8474
PORTS = (
    INTERNAL_PORT,
    CONTROLLER_PORT,
    CLIENT_PORT,
    CONTROL_PLANE_PORT,
    ZOOKEEPER_PORT,
    ZOOKEEPER_TLS_PORT,
    *ZOOKEEPER_PEER_PORTS,
    JOLOKIA_PORT,
    BYTEMAN_PORT,
    TOXIPROXY_PORT,
)
"""Every port that something of any cluster listens on. Those of further listeners only some clusters need."""

LISTENED_AT: Mapping[Role, tuple[int, ...]] = {
    Role.ZOOKEEPER: (ZOOKEEPER_PORT, *ZOOKEEPER_PEER_PORTS),
    Role.BROKER: (INTERNAL_PORT, CLIENT_PORT, JOLOKIA_PORT, BYTEMAN_PORT),
    Role.COMBINED: (INTERNAL_PORT, CONTROLLER_PORT, CLIENT_PORT, JOLOKIA_PORT, BYTEMAN_PORT),
    Role.CONTROLLER: (CONTROLLER_PORT, JOLOKIA_PORT, BYTEMAN_PORT),
}
"""Where a node of each role may listen; at Byteman's only with rules, or at a crash point."""

ANSWERS_AT: Mapping[Role, int] = {
    Role.ZOOKEEPER: ZOOKEEPER_PORT,
    Role.BROKER: CLIENT_PORT,
    Role.COMBINED: CLIENT_PORT,
    Role.CONTROLLER: CONTROLLER_PORT,
}
"""Where a node of each role answers requests of ours and of Kafka's tools."""


@dataclass(frozen=True)
class Addresses:
    """The address plan of one cluster on loopback block ``block`` (1..254; any word as long as none is leased).

    Where clusters lie elsewhere ``place`` is another one.
    """

    topology: Topology
    block: int | str

    @property
    def client_ports(self) -> Mapping[str, int]:
        """The port of each listener that clients dial, by its name."""
        extra = enumerate(self.topology.security.extra, start=FIRST_EXTRA_PORT)
        return {Listener.CLIENT: CLIENT_PORT, **{name: port for port, name in extra}}

    @property
    def zookeeper_port(self) -> int:
        """Where brokers and controllers reach ZooKeeper."""
        return zookeeper_port(self.topology)

    def place(self, source: int, destination: int) -> str:
        """Where the process of one number finds the node of another; source 0: where the node itself binds."""
        return f"127.{self.block}.{source}.{destination}"

    def number(self, node: str) -> int:
        """A node's number: its place in the topology, from 1; "clients" have one of their own."""
        return CLIENTS_NUMBER if node == CLIENTS else self.topology.number_of(node)

    def real(self, node: str) -> str:
        """Where a node itself binds."""
        return self.place(0, self.number(node))

    def seen_from(self, source: str, destination: str) -> str:
        """Where ``source`` finds ``destination``: the proxy of that link, or itself."""
        if source == destination:
            return self.real(destination)
        return self.place(self.number(source), self.number(destination))

    def added(self, number: int) -> Callable[[str], str]:
        """Where the process of this number (0, 1, ...) besides nodes finds a node: the proxy of its own link."""
        if number >= MOST_ADDED:
            raise WrongUseError(f"links: expected at most {MOST_ADDED} processes with links of their own in a cluster")
        return lambda destination: self.place(FIRST_ADDED + number, self.number(destination))

    @property
    def listen_host(self) -> str:
        """Where nodes reach what listens on this machine."""
        return "127.0.0.1"

    @property
    def toxiproxy(self) -> tuple[str, int]:
        """Where the proxies are ordered."""
        return self.place(0, CLIENTS_NUMBER), TOXIPROXY_PORT

    def hosts_file(self, node: str) -> str:
        """The only name service of that node's JVM (``jdk.net.hosts.file``)."""
        lines = ["127.0.0.1 localhost"]
        lines += [f"{self.seen_from(node, other.name)} {other.name}" for other in self.topology.nodes]
        return "\n".join(lines) + "\n"

    def links(self) -> Iterator[Link]:
        """Every directed link of the topology, those of the clients included."""
        for destination in self.topology.nodes:
            for source in self.topology.nodes:
                if source.name != destination.name:
                    ports = [
                        *_ports(source, destination, self.zookeeper_port),
                        *self._control_plane(source, destination),
                    ]
                    yield from (Link(source.name, destination.name, port) for port in ports)
            if destination.plays(Role.BROKER):
                yield from (Link(CLIENTS, destination.name, port) for port in self.client_ports.values())

    def _control_plane(self, source: NodeSpec, destination: NodeSpec) -> tuple[int, ...]:
        """The port of brokers that only the controller dials, a broker or a KRaft controller of a migration."""
        is_there = self.topology.security.control_plane is not None and source.role is not Role.ZOOKEEPER
        return (CONTROL_PLANE_PORT,) if is_there and destination.role is Role.BROKER else ()

    def ports(self, node: NodeSpec) -> tuple[int, ...]:
        """Where a node listens."""
        extra = [port for port in self.client_ports.values() if port != CLIENT_PORT and node.plays(Role.BROKER)]
        tls = [self.zookeeper_port] if node.role is Role.ZOOKEEPER and self.topology.security.zookeeper_tls else []
        has_plane = self.topology.security.control_plane is not None and node.role is Role.BROKER
        return (*LISTENED_AT[node.role], *tls, *extra, *((CONTROL_PLANE_PORT,) if has_plane else ()))

    def listened_at(self) -> Iterator[tuple[str, int]]:
        """Where something of the cluster listens, from the start or later: every address must be free."""
        yield self.toxiproxy
        for node in self.topology.nodes:
            yield from ((self.real(node.name), port) for port in self.ports(node))
        yield from ((self.seen_from(link.source, link.destination), link.port) for link in self.links())

    def listen_address(self, link: Link) -> str:
        """Where the proxy of a link listens, as ``host:port``."""
        return f"{self.seen_from(link.source, link.destination)}:{link.port}"


def zookeeper_port(topology: Topology) -> int:
    """Where brokers and controllers reach ZooKeeper."""
    return ZOOKEEPER_TLS_PORT if topology.security.zookeeper_tls else ZOOKEEPER_PORT


def _ports(source: NodeSpec, destination: NodeSpec, of_zookeeper: int) -> tuple[int, ...]:
    """The ports of ``destination`` that a node of ``source``'s role ever dials."""
    if destination.role is Role.ZOOKEEPER:
        return ZOOKEEPER_PEER_PORTS if source.role is Role.ZOOKEEPER else (of_zookeeper,)
    if source.role is Role.ZOOKEEPER:
        return ()
    ports = {Role.BROKER: INTERNAL_PORT, Role.CONTROLLER: CONTROLLER_PORT}
    return tuple(port for role, port in ports.items() if destination.plays(role))
