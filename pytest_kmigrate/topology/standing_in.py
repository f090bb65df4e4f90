"""Standing in: whether a test that was written for one topology can run on another.

A test names the topology that it was written for, and needs whatever is special about it: nodes that are down at first,
an older release, a low metadata.version. Another topology may have more nodes than that, but nothing less.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_kmigrate.model.topology import NodeSpec, Role, SecurityProtocol, Topology

_ROLES = (Role.ZOOKEEPER, Role.BROKER, Role.CONTROLLER)
_OF_ANY_CLUSTER = frozenset({"default.replication.factor", "min.insync.replicas"})
"""Properties that follow from the number of brokers: a test is not about them."""


@dataclass(frozen=True)
class Wanted:
    """What a test needs of a topology that takes the place of its own."""

    own: Topology
    names: Collection[str] = ()
    """Nodes of its own topology that the test calls by name."""
    exactly: Mapping[Role, int] = field(default_factory=dict)
    """How many nodes of a role there have to be, neither more nor less."""


def lacks(given: Topology, wanted: Wanted, *, is_known: bool = True) -> list[str]:
    """What ``given`` lacks, each as a clause that names the need; empty: the test can run there.

    ``is_known=False`` if ``given`` describes a cluster that somebody else runs: only its nodes are known.
    """
    shape = [*_of_shape(given, wanted.own), *_of_counts(given, wanted), *_of_names(given, wanted)]
    return [*shape, *_of_special(given, wanted.own)] if is_known else shape


def _of_shape(given: Topology, own: Topology) -> Iterator[str]:
    if own.has_zookeeper != given.has_zookeeper:
        yield "a ZooKeeper" if own.has_zookeeper else "a cluster that was born in KRaft mode"
    combined = [any(node.role is Role.COMBINED for node in each.nodes) for each in (own, given)]
    if combined[0] != combined[1]:
        yield "brokers and controllers in " + ("one process" if combined[0] else "processes of their own")


def counts_lacking(given: Topology, exactly: Mapping[Role, int]) -> list[str]:
    """The numbers of nodes that are not as a test needs them, each as a clause."""
    there = {role: len(given.of_role(role)) for role in exactly}
    return [
        f"exactly {_counted(role, number)} (not {there[role]})"
        for role, number in exactly.items()
        if there[role] != number
    ]


def _of_counts(given: Topology, wanted: Wanted) -> Iterator[str]:
    yield from counts_lacking(given, wanted.exactly)
    for role in _ROLES:
        least, there = len(wanted.own.of_role(role)), len(given.of_role(role))
        if role not in wanted.exactly and there < least:
            yield f"{_counted(role, least)} or more (not {there})"


def _counted(role: Role, number: int) -> str:
    name = "ZooKeeper server" if role is Role.ZOOKEEPER else role.value
    return f"{number} {name}{'s' * (number > 1)}"


def _of_names(given: Topology, wanted: Wanted) -> Iterator[str]:
    there = {node.name for node in given.nodes}
    strange = sorted(set(wanted.names) - there)
    if strange:
        yield f"the nodes that it calls by name ({', '.join(strange)})"


def _of_special(given: Topology, own: Topology) -> Iterator[str]:
    """What is special about the own topology and not found in the given one."""
    if own.metadata_version is not None and own.metadata_version != given.metadata_version:
        yield f'metadata_version = "{own.metadata_version}"'
    yield from _of_nodes(given, own)
    yield from _of_properties(given, own)
    yield from _of_security(given, own)


def _of_nodes(given: Topology, own: Topology) -> Iterator[str]:
    """Nodes of another release, that start later or have several disks, each in a node that can take its place."""
    there = {node.name: node for node in given.nodes}
    pairs = [(node, there.get(node.name)) for node in own.nodes]
    older = [node for node, other in pairs if node.kafka != own.kafka and not _is_of(other, node.kafka)]
    if older:
        yield f"{_names(older)} of Kafka {', '.join(dict.fromkeys(node.kafka for node in older))}"
    starts = [node for node, other in pairs if node.start != (other or _alike(given, node)).start]
    if starts:
        yield f'{_names(starts)} with start = "{starts[0].start}"'
    disks = [node for node, other in pairs if node.log_dirs > (other or _alike(given, node)).log_dirs]
    if disks:
        yield f"several disks of {_names(disks)}"


def _is_of(node: NodeSpec | None, kafka: str) -> bool:
    return node is not None and node.kafka == kafka


def _alike(given: Topology, node: NodeSpec) -> NodeSpec:
    """A node of the same role; itself where there is none, which is reported elsewhere."""
    return next(iter(given.of_role(node.role)), node)


def _names(nodes: Sequence[NodeSpec]) -> str:
    return ", ".join(node.name for node in nodes)


def _of_properties(given: Topology, own: Topology) -> Iterator[str]:
    for role in _ROLES:
        needed = dict(_common(own.of_role(role)))
        held = _common(given.of_role(role))
        lacking = sorted(
            f'"{key}" = "{needed[key]}"' for key in dict(needed.items() - held) if key not in _OF_ANY_CLUSTER
        )
        if lacking:
            yield f"{', '.join(lacking)} of every {role.value}"


def _common(nodes: Iterable[NodeSpec]) -> set[tuple[str, str]]:
    """The properties that all of these nodes have."""
    each = [set(node.properties.items()) for node in nodes]
    return set.intersection(*each) if each else set()


def _of_security(given: Topology, own: Topology) -> Iterator[str]:
    mine, other = own.security, given.security
    if mine.has_passwords and not other.has_passwords:
        yield "clients that log in by a password (SASL)"
    is_told_apart = any(map(_is_encrypted, mine.protocols.values()))
    for listener, protocol in mine.protocols.items():
        if is_told_apart and _is_encrypted(protocol) != _is_encrypted(other.protocols.get(listener, "PLAINTEXT")):
            yield f"{'TLS' if _is_encrypted(protocol) else 'no TLS'} at the listener {listener}"
    if mine.zookeeper_tls and not other.zookeeper_tls:
        yield "TLS to ZooKeeper"
    if mine.zookeeper_login and not other.zookeeper_login:
        yield "a login at ZooKeeper"
    if mine.zookeeper_acls and not other.zookeeper_acls:
        yield "znodes that Kafka protects"


def _is_encrypted(protocol: SecurityProtocol) -> bool:
    return "SSL" in protocol
