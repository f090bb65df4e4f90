"""What a fault of a schedule is aimed at that cannot be: in this topology, in this state, or at all."""

from collections.abc import Iterator

from pytest_kmigrate.faults.disks import FailLogDir
from pytest_kmigrate.faults.effect import Fault
from pytest_kmigrate.faults.links import Isolate, Partition
from pytest_kmigrate.faults.schedules.contradictions import Walkable
from pytest_kmigrate.faults.schedules.schedule import Happening, Schedule
from pytest_kmigrate.faults.schedules.space import ARROW, aim_of
from pytest_kmigrate.faults.schedules.spelling import Act, Mistake, kind_of, spelled, wrong
from pytest_kmigrate.faults.targets import EVERY, every
from pytest_kmigrate.model.topology import Role, Topology

_ROLES = {
    "quorum-leader": Role.CONTROLLER,
    "follower-controller": Role.CONTROLLER,
    "zookeeper-leader": Role.ZOOKEEPER,
    "random-broker": Role.BROKER,
    "broker-besides-controller": Role.BROKER,
    **EVERY,
}
"""Which nodes a target chooses among; ``active-controller`` is a broker or a controller."""
_ONE_OF = {Role.CONTROLLER: "follower-controller", Role.ZOOKEEPER: "zookeeper-leader", Role.BROKER: "random-broker"}
_HOLD = "hold"
_LEADER, _OWNER = "leader-of(", "owner-of("


def misplaced(schedule: Schedule, topology: Topology, there: Walkable) -> Iterator[Mistake]:
    """What a schedule aims at that is not in its topology, and what its document says cannot be."""
    if unfit := list(_unfit(topology, there)):
        yield from unfit
        return
    for number, each in enumerate(schedule.happenings):
        if isinstance(each.fault, Act):
            continue
        key = f"happenings[{number}]"
        found = [*_absent(f"{key}.fault", each.fault, topology), *_no_link(f"{key}.fault", each.fault, topology)]
        found += _no_directory(f"{key}.fault", each.fault, topology)
        found += _no_other(f"{key}.fault", each.fault, topology)
        yield from found or _impossible(key, each, topology, there)


def _unfit(topology: Topology, there: Walkable) -> Iterator[Mistake]:
    """A cluster that the document is not about: it walks nowhere, or nothing of it would be judged."""
    known = {role for node in topology.nodes for role in (node.role, *node.role.parts)}
    lacking = sorted(role.value for role in set(there.roles) - known)
    others = sorted({node.mode.value for node in topology.nodes if node.mode} - {each.value for each in there.modes})
    if lacking:
        yield wrong("topology", f"one with {' and '.join(lacking)}, as {there.document} is about those", topology.name)
    elif there.modes and others:
        modes = " or ".join(sorted(each.value for each in there.modes))
        yield wrong(
            "topology", f"brokers that begin in mode {modes}, as {there.document} is about those", topology.name
        )


def _named(fault: Fault) -> Iterator[tuple[str, str]]:
    """By its key, each target of a fault."""
    data = spelled(fault)
    yield from ((name, data[name]) for name in ("target", "source", "destination") if name in data)
    yield from ((f"groups[{number}]", each) for number, each in enumerate(data.get("groups", ())))


def _role(aim: str, topology: Topology) -> Role | None:
    """Which nodes an aim means; None where several roles may be meant."""
    if aim in {node.name for node in topology.nodes}:
        return topology.node(aim).role
    return Role.BROKER if aim.startswith(_LEADER) else _ROLES.get(aim)


def _absent(key: str, fault: Fault, topology: Topology) -> Iterator[Mistake]:
    for name, aim in _named(fault):
        if aim.startswith(_OWNER):
            yield wrong(f"{key}.{name}", "a node: only acts have members of a group", aim)
        role = _role(aim, topology)
        if role is not None and not any(role in (node.role, *node.role.parts) for node in topology.nodes):
            there = ", ".join(sorted({node.role.value for node in topology.nodes}))
            yield wrong(f"{key}.{name}", f"nodes that {topology.name} has ({there})", aim)


def _no_link(key: str, fault: Fault, topology: Topology) -> Iterator[Mistake]:
    """A node has no link to itself, and a server of ZooKeeper opens no connection to Kafka."""
    aims = dict(_named(fault))
    source, destination = aims.get("source"), aims.get("destination")
    if source is None or destination is None:
        return
    if source == destination and source not in EVERY:
        yield wrong(f"{key}.destination", "another node than the source", destination)
    elif _role(source, topology) is Role.ZOOKEEPER and _role(destination, topology) is not Role.ZOOKEEPER:
        yield wrong(
            f"{key}.source",
            "a node that connects to the destination; ZooKeeper's servers connect to each other alone",
            source,
        )


def _no_other(key: str, fault: Fault, topology: Topology) -> Iterator[Mistake]:
    """Whom nothing is cut off from: no node has these roles, or all of a group are in one before."""
    there = {role for node in topology.nodes for role in (node.role, *node.role.parts)}
    if isinstance(fault, Isolate) and not fault.from_clients and not there & set(fault.from_roles):
        listed = ", ".join(sorted({node.role.value for node in topology.nodes}))
        got = [each.value for each in fault.from_roles]
        yield wrong(f"{key}.from_roles", f"roles of nodes that {topology.name} has ({listed})", got)
    groups = [str(each) for each in fault.groups] if isinstance(fault, Partition) else []
    for number, each in enumerate(groups):
        role = _role(each, topology)
        if role and str(every(role)) in groups[:number] and each not in groups[:number]:
            yield wrong(f"{key}.groups[{number}]", f"nodes that are not in {every(role)}, which is before it", each)


def _no_directory(key: str, fault: Fault, topology: Topology) -> Iterator[Mistake]:
    most = max((node.log_dirs for node in topology.of_role(Role.BROKER)), default=1)
    if isinstance(fault, FailLogDir) and most == 1:
        yield wrong(f"{key}.kind", f"brokers with several log directories, which {topology.name} lacks", kind_of(fault))
    elif isinstance(fault, FailLogDir) and fault.number > most:
        yield wrong(f"{key}.number", f"a log directory of a broker of {topology.name} (1 to {most})", fault.number)


def _impossible(key: str, happening: Happening, topology: Topology, there: Walkable) -> Iterator[Mistake]:
    """What the document declares that cannot be; a node that is named is one of its role."""
    assert not isinstance(happening.fault, Act), "acts are aimed at nothing"
    effect, aim, state = kind_of(happening.fault), aim_of(spelled(happening.fault)), happening.begin.state or ""
    tried = [("fault", effect, aim), ("fault", effect, _of_its_role(aim, topology))]
    tried += [("begin.at", _HOLD, happening.begin.at)] if happening.begin.at else []
    for where, of, each in tried:
        if because := there.cannot(of, state, each):
            got = each if where == "begin.at" else f"{effect}({aim})"
            yield Mistake(
                f"{key}.{where}", f"expected what can be{f' in {state}' if state else ''}; got {got}: {because}"
            )
            return


def _of_its_role(aim: str, topology: Topology) -> str:
    """The aim as documents declare it: a target that one node of its role is, or links from and to all of a role."""
    source, arrow, destination = aim.partition(ARROW)
    if not arrow:
        role = _role(aim, topology)
        return _ONE_OF.get(role, aim) if role and aim not in EVERY else aim
    return ARROW.join(_all_of(each, topology) for each in (source, destination))


def _all_of(aim: str, topology: Topology) -> str:
    role = _role(aim, topology)
    return str(every(role)) if role else aim
