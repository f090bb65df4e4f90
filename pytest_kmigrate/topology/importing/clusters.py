"""Whether nodes are of one cluster, and which ids they have."""

import re
from collections.abc import Callable, Iterable, Sequence

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Notes, Setting
from pytest_kmigrate.topology.importing.names import is_placeholder, parts

_CONNECT = re.compile(r"(?P<servers>[^/]*)(?P<chroot>/.*)?", re.DOTALL)
_VOTER = re.compile(r"(\d+)@.+")
_PLACEHOLDER = "a placeholder that was not filled in"
_ONE_BY_ONE = "import each cluster by itself, with the files of its nodes"
_GENERATED_FROM = 1001
"""The first id that Kafka gives a broker of a cluster in ZooKeeper mode by itself."""
_LARGEST_ID = 2_147_483_647


def must_be_one(found: Found) -> None:
    """TopologyError when brokers name different ensembles, paths or quorums."""
    for name in (names.ZOOKEEPER_CONNECT, names.VOTERS):
        _are_filled_in(found.nodes, name)
    _same(found.nodes, names.ZOOKEEPER_CONNECT, lambda value: (servers(value), chroot(value)))
    _same(found.nodes, names.VOTERS, lambda value: frozenset(voters(value)))
    kraft = [node for node in found.nodes if node.is_kraft]
    others = [node for node in found.of(Role.BROKER) if not node.is_kraft]
    alone = [
        node
        for node in kraft
        if names.ZOOKEEPER_CONNECT not in node.properties and names.MIGRATION not in node.properties
    ]
    if others and alone and found.kind != "strimzi":
        text = (
            f"expected nodes of one cluster, got a node in KRaft mode that names no ZooKeeper beside {others[0].origin}"
        )
        raise alone[0].origin.wrong(f"{text}: {_ONE_BY_ONE}", names.PROCESS_ROLES)


def _are_filled_in(nodes: Iterable[FoundNode], name: str) -> None:
    for node in nodes:
        setting = node.properties.get(name)
        if setting and is_placeholder(setting.value):
            raise setting.origin.wrong(f"expected the servers, got {_PLACEHOLDER}: give the file as the node has it")


def _same(nodes: Iterable[FoundNode], name: str, meaning: Callable[[str], object]) -> None:
    first: tuple[object, Setting] | None = None
    for node in nodes:
        setting = node.properties.get(name)
        if setting is None or not setting.value:
            continue
        value = meaning(setting.value)
        if first is None:
            first = value, setting
        elif value != first[0] and not _overlaps(value, first[0]):
            text = f"expected nodes of one cluster, got another value than {first[1].origin} has: {_ONE_BY_ONE}"
            raise setting.origin.wrong(text)


def _overlaps(one: object, other: object) -> bool:
    """Whether two lists of ZooKeeper servers share some, below the same path: a node may name a part of them."""
    if not (isinstance(one, tuple) and isinstance(other, tuple)):
        return False
    return bool(one[0] & other[0]) and one[1] == other[1]


def servers(connect: str) -> frozenset[str]:
    """The servers that ``zookeeper.connect`` names."""
    match = _CONNECT.fullmatch(connect)
    return frozenset(parts(match["servers"])) if match else frozenset()


def chroot(connect: str) -> str:
    """The path in ``zookeeper.connect``; empty for the root."""
    match = _CONNECT.fullmatch(connect)
    return (match["chroot"] or "").rstrip("/") if match else ""


def voters(value: str) -> list[int]:
    """The ids in ``controller.quorum.voters``."""
    return [int(match[1]) for each in parts(value) if (match := _VOTER.fullmatch(each))]


def ids_of(nodes: Sequence[FoundNode], notes: Notes) -> list[int]:
    """The ids of nodes of one role: as given, or as Kafka gives them; TopologyError for an id that two have."""
    ids: list[int] = []
    places: dict[int, FoundNode] = {}
    for node in nodes:
        if node.role is Role.ZOOKEEPER and node.node_id is None:
            node_id = next(each for each in range(1, 1000) if each not in ids)
        elif node.node_id is None or node.node_id.value == "-1":
            node_id = _generated(node, ids, notes)
        else:
            node_id = _number(node.node_id)
        if node_id in places:
            text = f"expected an id that no other node has, got {node_id}, which {places[node_id].origin} has, too"
            place = node.node_id.origin if node.node_id else node.origin
            raise place.wrong(f"{text}: give each node its own", names.NODE_ID)
        places[node_id] = node
        ids.append(node_id)
    return ids


def _generated(node: FoundNode, taken: Sequence[int], notes: Notes) -> int:
    if node.is_kraft:
        text = f"expected the id of the node, got none: a node in KRaft mode has one, write {names.NODE_ID}"
        raise node.origin.wrong(text, names.NODE_ID)
    notes.assume("broker.ids", f"brokers without an id have those that Kafka gives, from {_GENERATED_FROM} on")
    return max([*taken, _GENERATED_FROM - 1]) + 1


def _number(setting: Setting) -> int:
    value = setting.value.strip()
    if not (value.isascii() and value.isdecimal()) or int(value[:11]) > _LARGEST_ID:
        got = _PLACEHOLDER if is_placeholder(value) or "@" in value or "%" in value else repr(value[:40])
        raise setting.origin.wrong(f"expected the number of a node, got {got}: give the file as the node has it")
    return int(value)
