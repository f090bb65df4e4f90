"""Nodes that a topology file describes, and the rules of what names them.

Whether a name is a node's depends on the table of its role only: a wrong count of another role hides no mistake here.
"""

from collections.abc import Iterator
from itertools import chain

from pytest_kmigrate.model.spelling import did_you_mean
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.format import (
    BrokerTable,
    LinkTable,
    NodeTable,
    NumberedTable,
    TopologyFile,
    ZooKeeperTable,
    keys_of,
)
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, shown
from pytest_kmigrate.topology.values import LARGEST_ID, LARGEST_SERVER_ID, MOST_NODES, VOTERS

_STORES = (Role.BROKER, Role.COMBINED)


def role_tables(file: TopologyFile) -> list[tuple[Role, NumberedTable]]:
    """The tables of the roles that the file has, in the order of a topology."""
    tables = (
        (Role.ZOOKEEPER, file.zookeeper),
        (Role.BROKER, file.broker),
        (Role.COMBINED, file.combined),
        (Role.CONTROLLER, file.controller),
    )
    return [(role, table) for role, table in tables if table is not None]


def node_ids(table: NumberedTable | None) -> tuple[int, ...]:
    """The ids of a role's nodes, in ascending order; none without a table."""
    if table is None:
        return ()
    if table.ids is not None:
        return tuple(sorted(table.ids))
    return tuple(range(table.first_id, table.first_id + (table.count or 0)))


def node_names(file: TopologyFile, *roles: Role) -> list[str]:
    """The names of the nodes of these roles (default: of all), in the order of a topology."""
    return [
        f"{role}-{node_id}"
        for role, table in role_tables(file)
        if not roles or role in roles
        for node_id in node_ids(table)
    ]


def count_of_brokers(file: TopologyFile) -> int:
    """How many nodes store records: brokers and combined nodes."""
    return len(node_names(file, *_STORES))


def release_of(file: TopologyFile, name: str) -> str:
    """The ``kafka`` of a node: its own, its role's or the file's."""
    return chosen_release(file, name) or file.kafka


def chosen_release(file: TopologyFile, name: str) -> str | None:
    """The ``kafka`` that a node or its role chose, which stays whatever is under test; None: it runs that."""
    own = next((node.kafka for node in file.node if node.name == name), None)
    of_role = next((table.kafka for role, table in role_tables(file) if role == _role_of(name)), None)
    return own or of_role


def wrong_counts(file: TopologyFile) -> Iterator[Mistake]:
    """Every role has a count or ids, and the machine's address plan carries all nodes."""
    if file.broker is None and file.combined is None:
        yield Mistake(("broker",), "expected [broker] or [combined], with its count or ids; got neither")
    for role, table in role_tables(file):
        yield from _wrong_count(role, table)
    total = len(node_names(file))
    if total > MOST_NODES:
        yield Mistake((), f"expected at most {MOST_NODES} nodes, got {total}")


def _wrong_count(role: Role, table: NumberedTable) -> Iterator[Mistake]:
    counts = keys_of(type(table))["count"]
    largest = LARGEST_SERVER_ID if isinstance(table, ZooKeeperTable) else LARGEST_ID
    if table.ids is None and table.count is None:
        text = f"expected {counts}; got neither count nor ids"
        yield Mistake((role.value, "count"), text, reads=((role.value, "ids"),))
    elif table.ids is not None:
        beside = [key for key in ("count", "first_id") if key in table.model_fields_set]
        for key in beside:
            yield Mistake(
                (role.value, key), f"expected nothing beside ids, got {shown(getattr(table, key))}: leave it out"
            )
        if not isinstance(table, BrokerTable) and len(table.ids) not in VOTERS:
            text = f"expected {' or '.join(map(str, VOTERS))} ids, got {len(table.ids)}"
            yield Mistake((role.value, "ids"), text)
    elif node_ids(table)[-1] > largest:
        text = f"expected ids of at most {largest}, got {table.first_id} and {len(node_ids(table)) - 1} more"
        yield Mistake((role.value, "first_id"), text)


def ids_differ(file: TopologyFile) -> Iterator[Mistake]:
    """Brokers, combined nodes and controllers share one space of ids."""
    owners: dict[int, Role] = {}
    for role, table in role_tables(file):
        if role is Role.ZOOKEEPER:
            continue
        both = [node_id for node_id in node_ids(table) if node_id in owners]
        owners |= dict.fromkeys(node_ids(table), role)
        if both:
            key = "ids" if table.ids is not None else "first_id"
            advice = "name others" if table.ids is not None else f"try first_id = {_free(file, role)}"
            text = f"expected ids that no other node has, got {_shortly(node_ids(table))} although {_taken(both)} taken"
            yield Mistake((role.value, key), f"{text}: {advice}")


def _free(file: TopologyFile, role: Role) -> int:
    """A round id above those of all other roles."""
    tables = [table for other, table in role_tables(file) if other not in (role, Role.ZOOKEEPER)]
    highest = max(chain.from_iterable(map(node_ids, tables)))
    return 3000 if highest < 3000 else (highest // 1000 + 1) * 1000


def _shortly(ids: tuple[int, ...]) -> str:
    return f"{ids[0]} to {ids[-1]}" if len(ids) > 1 else f"{ids[0]}"


def _taken(ids: list[int]) -> str:
    return f"id {ids[0]} is" if len(ids) == 1 else f"ids {', '.join(map(str, ids))} are"


def overrides_name_nodes(file: TopologyFile) -> Iterator[Mistake]:
    """Every [[node]] is about one node that there is, and has no key that its role lacks."""
    names = node_names(file)
    seen: set[str] = set()
    for number, node in enumerate(file.node):
        path = ("node", number, "name")
        if node.name not in names:
            text = f"expected one of {', '.join(names)}; got {shown(node.name)}{did_you_mean(node.name, names)}"
            yield Mistake(path, text, reads=_counted(node.name))
        elif node.name in seen:
            yield Mistake(path, f"expected one [[node]] for each node, got a second for {shown(node.name)}: merge them")
        else:
            yield from _keys_of_other_roles(number, node)
        seen.add(node.name)


def _keys_of_other_roles(number: int, node: NodeTable) -> Iterator[Mistake]:
    role = _role_of(node.name)
    if node.mode and role != Role.BROKER:
        yield Mistake(("node", number, "mode"), f"expected a mode for brokers only, got {shown(node.mode)}")
    if node.start and role not in (Role.BROKER, Role.CONTROLLER):
        text = f"expected a start for brokers and controllers only, got {shown(node.start)}"
        yield Mistake(("node", number, "start"), text)
    if node.log_dirs and role == Role.ZOOKEEPER:
        text = f"expected log_dirs for brokers, combined nodes and controllers only, got {node.log_dirs}"
        yield Mistake(("node", number, "log_dirs"), text)


def log_dirs_of(table: NumberedTable, own: NodeTable) -> int:
    """How many log directories a node has."""
    of_role = 1 if isinstance(table, ZooKeeperTable) else table.log_dirs
    return own.log_dirs or of_role


def links_join_nodes(file: TopologyFile) -> Iterator[Mistake]:
    """Every [[link]] has two ends of which one dials the other, and does something."""
    names = node_names(file)
    known = [*_roles_played(file), *names]
    for number, link in enumerate(file.link):
        unknown = [(key, end) for key, end in (("from", link.source), ("to", link.destination)) if end not in known]
        for key, end in unknown:
            text = f"expected one of {', '.join(known)}; got {shown(end)}{did_you_mean(end, known)}"
            yield Mistake(("link", number, key), text, reads=_counted(end))
        if not unknown and not _dialled(link, names):
            text = f"expected two nodes of which the first dials the other, got {link.source} to {link.destination}"
            text += " (ZooKeeper servers dial only each other)"
            yield Mistake(("link", number), text, reads=_counted(link.source, link.destination))
        if not (link.latency_ms or link.jitter_ms or link.rate_kb_per_s):
            yield Mistake(("link", number), "expected latency_ms, jitter_ms or rate_kb_per_s, got none of them")


def _roles_played(file: TopologyFile) -> list[str]:
    """The roles that any node plays, in the order of their definition."""
    played = set(chain.from_iterable(role.parts for role, _ in role_tables(file)))
    return [role.value for role in Role if role in played]


def _dialled(link: LinkTable, names: list[str]) -> bool:
    """Whether a link selects any pair of nodes that really talk."""
    sources = [name for name in names if _selects(link.source, name)]
    destinations = [name for name in names if _selects(link.destination, name)]
    return any(
        source != destination and (_role_of(destination) == Role.ZOOKEEPER or _role_of(source) != Role.ZOOKEEPER)
        for source in sources
        for destination in destinations
    )


def _selects(end: str, name: str) -> bool:
    return end == name or end in Role(_role_of(name)).parts


def _role_of(name: str) -> str:
    return name.partition("-")[0]


def _counted(*names: str) -> tuple[KeyPath, ...]:
    """The keys that define which nodes there are of the roles that these names begin with."""
    roles = dict.fromkeys(map(_role_of, names))
    return tuple((role, key) for role in roles for key in ("count", "first_id", "ids"))
