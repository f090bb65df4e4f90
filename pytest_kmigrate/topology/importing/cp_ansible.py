"""Reader of cp-ansible's inventories: groups of hosts, their variables, and cp-ansible's defaults for these."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.redaction import is_sensitive
from pytest_kmigrate.topology.importing.ansible_variables import Variables, translated
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Notes, Setting
from pytest_kmigrate.topology.importing.names import MIGRATION, NODE_ID, PROCESS_ROLES, ZOOKEEPER_CONNECT
from pytest_kmigrate.topology.importing.versions import of_confluent
from pytest_kmigrate.topology.importing.yaml_text import TEMPLATE, At, leaves

KIND = "cp-ansible"
_ZOOKEEPER, _BROKER, _CONTROLLER = "zookeeper", "kafka_broker", "kafka_controller"
_ROLES = {_ZOOKEEPER: Role.ZOOKEEPER, _BROKER: Role.BROKER, _CONTROLLER: Role.CONTROLLER}
_IDS = {_ZOOKEEPER: ("zookeeper_id",), _BROKER: ("node_id", "broker_id"), _CONTROLLER: ("node_id",)}
_FIRST_ID = {_ZOOKEEPER: 1, _BROKER: 1, _CONTROLLER: 9991}
"""What cp-ansible counts from where no host has an id."""
_RANGE = re.compile(r"\[(\d+):(\d+)\]")
_MOST_HOSTS = 200


def is_one(at: At) -> bool:
    """Whether a document has groups of hosts that cp-ansible installs."""
    return isinstance(at.value, dict) and any(_groups(at, name) for name in _ROLES)


def found_in(documents: Sequence[At]) -> Found:
    """The nodes of the groups; an inventory is one document."""
    if len(documents) != 1:
        raise TopologyError(documents[1].file, ["expected one inventory, got another: import each cluster by itself"])
    at, notes = documents[0], Notes()
    hosts = {name: list(_hosts(at, name)) for name in _ROLES}
    if not hosts[_BROKER]:
        raise TopologyError(at.file, [f"{_BROKER}.hosts: expected the hosts of brokers, got none"])
    common = _all(at).get("vars").table()
    is_kraft = bool(hosts[_CONTROLLER]) and not hosts[_ZOOKEEPER]
    nodes = [
        _node(name, number, host, {**common, **variables}, is_kraft=is_kraft, notes=notes)
        for name in _ROLES
        for number, (host, variables) in enumerate(hosts[name])
    ]
    if hosts[_ZOOKEEPER]:
        nodes = [_of_zookeeper(node, hosts[_ZOOKEEPER][0][0], migrates=bool(hosts[_CONTROLLER])) for node in nodes]
    _leave_others(at, notes)
    return Found(KIND, tuple(nodes), None, tuple(notes.left), tuple(notes.assumed))


def _node(name: str, number: int, host: At, variables: Variables, *, is_kraft: bool, notes: Notes) -> FoundNode:
    given = next((variables[key] for key in _IDS[name] if key in variables), None)
    if given is None:
        notes.assume(f"{name} ids", f"cp-ansible counts from {_FIRST_ID[name]} where hosts have no id")
        node_id = Setting(str(_FIRST_ID[name] + number), host.origin)
    else:
        node_id = Setting(str(given.number()), given.origin)
    properties = translated(name, variables, notes, has_controllers=is_kraft or name == _CONTROLLER)
    if name == _CONTROLLER or (name == _BROKER and is_kraft):
        properties[PROCESS_ROLES] = Setting(_ROLES[name].value, host.origin)
        properties[NODE_ID] = node_id
    return FoundNode(_ROLES[name], host.origin, properties, node_id, _release(variables))


def _of_zookeeper(node: FoundNode, place: At, *, migrates: bool) -> FoundNode:
    """The node with what ties it to the ensemble."""
    if node.role is Role.ZOOKEEPER:
        return node
    chroot = node.properties.get(ZOOKEEPER_CONNECT)
    more = {ZOOKEEPER_CONNECT: chroot or Setting("", place.origin)}
    if migrates:
        more[MIGRATION] = Setting("true", place.origin)
    return replace(node, properties={**node.properties, **more})


def _release(variables: Variables) -> Setting | None:
    version = variables.get("confluent_package_version")
    release = of_confluent(version.text()) if version else None
    return Setting(release, version.origin) if release and version else None


def _all(at: At) -> At:
    return at.get("all")


def _groups(at: At, name: str) -> list[At]:
    """The group of this name, wherever inventories have it."""
    places = (
        at.table().get(name),
        _all(at).get("children").table().get(name) if isinstance(_all(at).value, dict) else None,
    )
    return [each for each in places if each is not None and isinstance(each.value, dict)]


def _hosts(at: At, name: str) -> Iterator[tuple[At, Variables]]:
    for group in _groups(at, name):
        yield from _hosts_of(at, group, {}, 0)


def _hosts_of(at: At, group: At, above: Variables, depth: int) -> Iterator[tuple[At, Variables]]:
    """The hosts of a group and of its children, each with the variables of all that it is in."""
    variables = {**above, **group.get("vars").table()}
    for named in group.get("hosts").table().values():
        host = replace(named, short=f"{group.key}.hosts.*")
        for _ in range(_count(host)):
            yield host, {**variables, **host.table()}
    for name, child in group.get("children").table().items():
        if depth > 5:
            raise child.wrong("groups of at most five levels", "more")
        own = [child] if child else _groups(at, name)
        for each in own:
            yield from _hosts_of(at, each, variables, depth + 1)


def _count(host: At) -> int:
    """How many hosts a name stands for, as ``kafka[1:3]`` does for three."""
    if TEMPLATE in host.key:
        raise host.wrong("the name of a host", "a template", "print the inventory by `ansible-inventory --list --yaml`")
    number = 1
    for first, last in _RANGE.findall(host.key):
        number *= max(0, int(last) - int(first) + 1)
    if number > _MOST_HOSTS:
        raise host.wrong(f"at most {_MOST_HOSTS} hosts", str(number))
    return number


def _leave_others(at: At, notes: Notes) -> None:
    groups = {**at.table(), **_all(at).get("children").table()}
    for name, group in groups.items():
        if name not in (*_ROLES, "all"):
            notes.leave(group.origin, "no group of ZooKeeper, brokers or controllers")
        for each in leaves(group) if name not in (*_ROLES, "all") else ():
            if is_sensitive(each.key):
                notes.leave(each.origin, "secret")
