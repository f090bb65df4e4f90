"""What ``kmigrate up --dry-run`` shows: nodes, addresses, links and memory of a topology, without starting anything."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from rich.console import Console
from rich.table import Table

from pytest_kmigrate.limits import available_memory
from pytest_kmigrate.model.errors import EnvironmentLackError
from pytest_kmigrate.model.topology import LinkSpec, NodeSpec, Role, Topology
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS, Addresses
from pytest_kmigrate.providers.owned.properties import authorizer_of, default_authorizer

JVM_BESIDES_HEAP_MB = 100
HARNESS_MB = 150
WIDTH = 120


@dataclass(frozen=True)
class PlannedNode:
    """One node with the address it will bind."""

    spec: NodeSpec
    address: str
    ports: tuple[int, ...]
    memory_mb: int


@dataclass(frozen=True)
class PlannedLink:
    """One directed link; ``slow`` says how it is slowed from the start, empty if it is not."""

    source: str
    destination: str
    address: str
    ports: tuple[int, ...]
    kind: str
    """Source and destination role."""
    slow: str = ""


@dataclass(frozen=True)
class Plan:
    """What would be provisioned, and the memory it takes; ``x`` in addresses is the block, leased when it is."""

    topology: Topology
    nodes: tuple[PlannedNode, ...]
    links: tuple[PlannedLink, ...]
    needed_mb: int
    available_mb: int


def plan_here(topology: Topology) -> Plan:
    """Lay out a topology on this machine; EnvironmentLackError if its estimated memory is more than is free now."""
    return plan(topology, available_memory() // 2**20)


def plan(topology: Topology, available_mb: int) -> Plan:
    """Lay out a topology; EnvironmentLackError if its estimated memory is more than ``available_mb``."""
    addresses = Addresses(topology, "x")
    nodes = tuple(_planned_node(addresses, node) for node in topology.nodes)
    needed_mb = sum(node.memory_mb for node in nodes) + HARNESS_MB
    if needed_mb > available_mb:
        raise EnvironmentLackError(_lack(topology, nodes, needed_mb, available_mb))
    return Plan(topology, nodes, tuple(_links(addresses)), needed_mb, available_mb)


def _planned_node(addresses: Addresses, node: NodeSpec) -> PlannedNode:
    address = addresses.real(node.name)
    return PlannedNode(node, address, addresses.ports(node), node.heap_mb + JVM_BESIDES_HEAP_MB)


def _lack(topology: Topology, nodes: tuple[PlannedNode, ...], needed_mb: int, available_mb: int) -> str:
    largest = max(nodes, key=lambda node: node.memory_mb)
    return (
        f"{topology.name}: expected {needed_mb} MB of free memory for {len(nodes)} nodes "
        f"(heap + {JVM_BESIDES_HEAP_MB} MB each) and the harness ({HARNESS_MB} MB), got {available_mb} MB: "
        f"take a smaller topology, lower heap_mb (largest: {largest.spec.name}, {largest.spec.heap_mb} MB), "
        f"or end other programs"
    )


def _links(addresses: Addresses) -> Iterator[PlannedLink]:
    topology = addresses.topology
    for (source, destination), links in groupby(addresses.links(), key=lambda link: (link.source, link.destination)):
        to = topology.node(destination)
        yield PlannedLink(
            source=source,
            destination=destination,
            address=addresses.seen_from(source, destination),
            ports=tuple(link.port for link in links),
            kind=f"{source if source == CLIENTS else topology.node(source).role} -> {to.role}",
            slow="" if source == CLIENTS else _slow(topology, topology.node(source), to),
        )


def _slow(topology: Topology, source: NodeSpec, destination: NodeSpec) -> str:
    slow = [
        _slowness(link)
        for link in topology.links
        if source in topology.selected_by(link.source) and destination in topology.selected_by(link.destination)
    ]
    return "; ".join(slow)


def _slowness(link: LinkSpec) -> str:
    parts = [f"{link.latency_ms} ms"] if link.latency_ms else []
    parts += [f"± {link.jitter_ms} ms"] if link.jitter_ms else []
    parts += [f"{link.rate_kb_per_s} kB/s"] if link.rate_kb_per_s else []
    return " ".join(parts)


def rendered(plan: Plan) -> str:
    """The plan as tables for a terminal."""
    topology = plan.topology
    console = Console(width=WIDTH, color_system=None, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(f"{topology.name}: {topology.purpose}", highlight=False)
        console.print(_node_table(plan))
        console.print(_link_table(plan))
        console.print(f"Security: {_security(topology)}; Kafka under test: {topology.kafka}")
        for line in _beyond_the_usual(topology):
            console.print(line, highlight=False)
        console.print(f"Memory: about {plan.needed_mb} MB needed, {plan.available_mb} MB available")
    return capture.get()


def _security(topology: Topology) -> str:
    """Listener by listener only where they differ."""
    protocols = topology.security.protocols
    each = [f"{listener} {protocol}" for listener, protocol in protocols.items()]
    shown = [topology.security.client] if len(set(protocols.values())) == 1 else each
    return ", ".join([*shown, _acls(topology)])


def _acls(topology: Topology) -> str:
    """Whether ACLs are enforced: by class and node where it is not Kafka's own class for the mode of each node."""
    nodes = [node for node in topology.nodes if node.role is not Role.ZOOKEEPER]
    found = {node.name: authorizer_of(topology, node, node.mode) for node in nodes}
    if found == {node.name: default_authorizer(node, node.mode) for node in nodes}:
        return "with ACLs"
    by_class: dict[str, list[str]] = {}
    for name, authorizer in found.items():
        by_class.setdefault(f"with ACLs by {authorizer}" if authorizer else "without ACLs", []).append(name)
    if len(by_class) == 1:
        return next(iter(by_class))
    return "; ".join(f"{', '.join(names)} {each}" for each, names in by_class.items())


def _beyond_the_usual(topology: Topology) -> Iterator[str]:
    """What only some topologies have, a line each."""
    security = topology.security
    if topology.has_zookeeper:
        parts = [f"chroot {topology.chroot}"] if topology.chroot else []
        logins = {
            "logins by SASL DIGEST-MD5": security.zookeeper_login,
            "TLS with certificates": security.zookeeper_tls,
        }
        parts.append(next((by for by, is_so in logins.items() if is_so), "without logins"))
        parts.append("znodes with ACLs" if security.zookeeper_acls else "znodes without ACLs")
        yield f"ZooKeeper: {', '.join(parts)}"
    if topology.metadata_version:
        yield f"Quorum: metadata.version {topology.metadata_version}"
    if topology.dynamic_quorum:
        yield "Quorum: dynamic, its voters stand in its log"
    if security.client_auth:
        yield "Certificates: every listener with TLS asks for one"
    if own := [node.name for node in topology.nodes if node.metadata_disk]:
        yield f"Metadata logs with a directory of their own: {', '.join(own)}"
    if several := [f"{node.name} {node.log_dirs}" for node in topology.nodes if node.log_dirs > 1]:
        yield f"Log directories: {', '.join(several)}"
    if added := [f"{node.name} {jar.path}" for node in topology.nodes for jar in node.jars]:
        yield f"Jars besides Kafka's: {', '.join(added)}"


def _node_table(plan: Plan) -> Table:
    table = Table("node", "mode", "kafka", "starts", "address", "ports", "memory", title="Nodes")
    for node in plan.nodes:
        spec = node.spec
        ports = ", ".join(map(str, node.ports))
        memory = f"{node.memory_mb} MB"
        table.add_row(spec.name, spec.mode or "", spec.kafka, spec.start, node.address, ports, memory)
    return table


def _link_table(plan: Plan) -> Table:
    table = Table("links", "count", "addresses", "ports", "slow from the start", title="Links, one proxy each")
    for kind, group in groupby(sorted(plan.links, key=lambda link: link.kind), key=lambda link: link.kind):
        links = list(group)
        addresses = links[0].address if len(links) == 1 else f"{links[0].address} … {links[-1].address}"
        slow = {link.slow for link in links if link.slow}
        affected = [f"{link.source} -> {link.destination}" for link in links if link.slow]
        where = "all" if len(affected) == len(links) else ", ".join(affected)
        reported = f"{' / '.join(sorted(slow))} ({where})" if slow else ""
        table.add_row(kind, str(len(links)), addresses, ", ".join(map(str, links[0].ports)), reported)
    return table
