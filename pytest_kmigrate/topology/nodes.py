"""Which nodes a topology file comes to, and the rules of what names them.

Whether a name is a node's depends on what is said of its role, so a wrong count of another role hides no mistake here.
"""

from collections.abc import Iterator

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.format import LinkTable, NumberedTable, TopologyFile
from pytest_kmigrate.topology.mistakes import KeyPath, Mistake, did_you_mean, shown


def role_tables(file: TopologyFile) -> list[tuple[Role, NumberedTable]]:
    """The tables of the roles that the file has, in the order of a topology."""
    tables = ((Role.ZOOKEEPER, file.zookeeper), (Role.BROKER, file.broker), (Role.CONTROLLER, file.controller))
    return [(role, table) for role, table in tables if table is not None]


def node_names(file: TopologyFile) -> list[str]:
    """The names of all nodes, in the order of a topology."""
    return [
        f"{role}-{node_id}"
        for role, table in role_tables(file)
        for node_id in range(table.first_id, table.first_id + table.count)
    ]


def overrides_name_nodes(file: TopologyFile) -> Iterator[Mistake]:
    """Every [[node]] is about one node that there is."""
    names = node_names(file)
    seen: set[str] = set()
    for number, node in enumerate(file.node):
        path = ("node", number, "name")
        if node.name not in names:
            text = f"expected one of {', '.join(names)}; got {shown(node.name)}{did_you_mean(node.name, names)}"
            yield Mistake(path, text, reads=_counted(node.name))
        elif node.name in seen:
            yield Mistake(path, f"expected one [[node]] for each node, got a second for {shown(node.name)}: merge them")
        elif node.mode and not node.name.startswith("broker-"):
            yield Mistake(("node", number, "mode"), f"expected a mode for brokers only, got {shown(node.mode)}")
        elif node.start and node.name.startswith("zookeeper-"):
            text = f"expected a start for brokers and controllers only, got {shown(node.start)}"
            yield Mistake(("node", number, "start"), text)
        seen.add(node.name)


def links_join_nodes(file: TopologyFile) -> Iterator[Mistake]:
    """Every [[link]] has two ends of which one dials the other, and does something."""
    names = node_names(file)
    known = [*(role.value for role, _ in role_tables(file)), *names]
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


def _dialled(link: LinkTable, names: list[str]) -> bool:
    """Whether a link selects any pair of nodes that really talk."""
    sources = [name for name in names if link.source in (name, name.split("-")[0])]
    destinations = [name for name in names if link.destination in (name, name.split("-")[0])]
    return any(
        source != destination and (destination.startswith("zookeeper-") or not source.startswith("zookeeper-"))
        for source in sources
        for destination in destinations
    )


def _counted(*names: str) -> tuple[KeyPath, ...]:
    """The keys that say which nodes there are of the roles that these names begin with."""
    roles = dict.fromkeys(name.partition("-")[0] for name in names)
    return tuple((role, key) for role in roles for key in ("count", "first_id"))
