"""From what was found to the draft of a topology: roles, ids, release, disks, security and properties."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_kmigrate.model.errors import TopologyError
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.carried import stands_for, why_left
from pytest_kmigrate.topology.importing.clusters import chroot, ids_of, must_be_one, servers, voters
from pytest_kmigrate.topology.importing.disks import disks_of
from pytest_kmigrate.topology.importing.draft import Draft, Wish
from pytest_kmigrate.topology.importing.found import Found, FoundNode, Setting
from pytest_kmigrate.topology.importing.names import parts
from pytest_kmigrate.topology.importing.protecting import protect
from pytest_kmigrate.topology.importing.versions import DEFAULT, nearest, numbers, of_kafka
from pytest_kmigrate.topology.values import VOTERS

_DYNAMIC_FROM = (3, 9)
_QUORUM = "quorum"
_PROTOCOL_FROM = (3, 4)
_CONTROLLERS_ASSUMED = 3
_FIRST_CONTROLLER = 3000
_TOO_MANY = f"a topology has {', '.join(map(str, VOTERS))} of them"
_KAFKA = (Role.BROKER, Role.COMBINED, Role.CONTROLLER)


def drafted(found: Found, wish: Wish) -> Draft:
    """The draft of a topology; TopologyError when the nodes are not those of one cluster."""
    if not found.of(Role.BROKER, Role.COMBINED):
        text = "expected the file of a broker beside it, got none: give those of the brokers, too"
        raise TopologyError(found.nodes[0].origin.file, [text])
    must_be_one(found)
    draft = Draft(found, wish)
    draft.notes.left += found.left
    draft.notes.assumed += found.assumed
    draft.document["name"] = wish.name
    draft.document["purpose"] = f"A cluster as {found.kind} files describe it, for a rehearsal."
    ids = {role: ids_of(found.of(role), draft.notes) for role in Role}
    ids_of(found.of(*_KAFKA), draft.notes)
    has_zookeeper = any(not node.is_kraft for node in found.of(Role.BROKER))
    _release(draft, has_zookeeper=has_zookeeper)
    if has_zookeeper:
        _zookeeper(draft, ids[Role.ZOOKEEPER])
    _numbered(draft, Role.BROKER, ids[Role.BROKER])
    _numbered(draft, Role.COMBINED, ids[Role.COMBINED])
    _controllers(draft, ids, has_zookeeper=has_zookeeper)
    _quorum(draft, has_zookeeper=has_zookeeper)
    disks_of(draft, ids, has_zookeeper=has_zookeeper)
    _properties(draft, ids, has_zookeeper=has_zookeeper)
    _drop_what_is_of_no_node(draft)
    protect(draft, has_zookeeper=has_zookeeper)
    _note_the_rest(draft)
    return draft


def _release(draft: Draft, *, has_zookeeper: bool) -> None:
    """The release of most nodes; ``[[node]]`` has those of others."""
    nodes = draft.found.of(*_KAFKA)
    releases = [node.release for node in nodes if node.release]
    if draft.wish.kafka:
        draft.document["kafka"] = draft.wish.kafka
        for each in releases:
            draft.notes.leave(each.origin, "the release was given by --kafka")
        return
    chosen = {}
    for each in releases:
        chosen[each.value], why = nearest(each.value, has_zookeeper=has_zookeeper)
        if why:
            draft.notes.assume("kafka", f"{chosen[each.value]} taken, as {why}")
    if releases:
        common = Counter(chosen[each.value] for each in releases).most_common(1)[0][0]
        draft.take("kafka", *releases)
    else:
        common = _by_level(draft, has_zookeeper=has_zookeeper)
    draft.document["kafka"] = common
    level = draft.found.metadata_version
    if level and not has_zookeeper:
        draft.document["metadata_version"] = level.value
        draft.take("metadata_version", level)
    elif level:
        draft.notes.leave(level.origin, "brokers in ZooKeeper mode have no metadata.version")
    for node in nodes:
        if node.release and chosen[node.release.value] != common and node.node_id:
            draft.node(f"{node.role}-{node.node_id.value}")["kafka"] = chosen[node.release.value]


def _by_level(draft: Draft, *, has_zookeeper: bool) -> str:
    """The release that the brokers' protocol leads to; the default where it shows none."""
    levels = draft.found.settings(names.PROTOCOL_VERSION)
    levels += [draft.found.metadata_version] if draft.found.metadata_version else []
    release = of_kafka(levels[0].value) if levels else None
    if release and numbers(release) >= _PROTOCOL_FROM:
        release, _ = nearest(".".join(release.split(".")[:2]), has_zookeeper=has_zookeeper)
        draft.notes.assume("kafka", f"{release} taken, the last one of its protocol, as no file names a release")
        return release
    draft.notes.assume("kafka", f"{DEFAULT} taken, as no file names a release; --kafka chooses another")
    return DEFAULT


def _zookeeper(draft: Draft, ids: list[int]) -> None:
    connects = draft.found.settings(names.ZOOKEEPER_CONNECT)
    named = max((len(servers(each.value)) for each in connects), default=0)
    table = draft.table("zookeeper")
    if len(ids) >= named and ids:
        _numbered(draft, Role.ZOOKEEPER, ids)
    else:
        table["count"] = _of_voters(draft, "zookeeper.count", max(named, 1))
        draft.take("zookeeper.count", *connects[:1])
        if not connects:
            draft.notes.assume("zookeeper.count", "one taken, as no file names any")
    paths = [each for each in connects if chroot(each.value)]
    if paths:
        table["chroot"] = chroot(paths[0].value)
        draft.take("zookeeper.chroot", *paths)


def _of_voters(draft: Draft, key: str, count: int) -> int:
    """The number of servers or controllers that a topology may have: as many, or the next below."""
    fit = max(each for each in VOTERS if each <= max(count, 1))
    if fit != count:
        draft.notes.assume(key, f"{fit} of {count} taken, as a topology has {', '.join(map(str, VOTERS))}")
    return fit


def _numbered(draft: Draft, role: Role, ids: Sequence[int]) -> None:
    if not ids:
        return
    kept = list(ids) if role is Role.BROKER else list(ids)[: _of_voters(draft, f"{role}.count", len(ids))]
    _write_ids(draft, role, kept)
    for node in draft.found.of(role)[: len(kept)]:
        draft.take(f"[{role}]", node.node_id or node.origin)
    for node in draft.found.of(role)[len(kept) :]:
        draft.notes.leave(node.node_id.origin if node.node_id else node.origin, _TOO_MANY)


def _write_ids(draft: Draft, role: Role, ids: Sequence[int]) -> None:
    table, ordered = draft.table(role), sorted(ids)
    if ordered == list(range(ordered[0], ordered[0] + len(ordered))):
        table["count"], table["first_id"] = len(ordered), ordered[0]
    else:
        table["ids"] = ordered


def _controllers(draft: Draft, ids: dict[Role, list[int]], *, has_zookeeper: bool) -> None:
    """The controllers: of files, of the quorum that brokers name, or those that a migration needs."""
    of_files = ids[Role.CONTROLLER]
    named = draft.found.settings(names.VOTERS)
    of_quorum = voters(named[0].value) if named else []
    bootstraps = draft.found.settings(names.BOOTSTRAP_CONTROLLERS)
    known = {*ids[Role.BROKER], *ids[Role.COMBINED]}
    missing = [each for each in of_quorum if each not in of_files and each not in known]
    if of_files or missing:
        kept = [*of_files, *missing][: _of_voters(draft, "controller.count", len(of_files) + len(missing))]
        _write_ids(draft, Role.CONTROLLER, kept)
        for node in draft.found.of(Role.CONTROLLER)[: len(kept)]:
            draft.take("[controller]", node.node_id or node.origin)
        for node in draft.found.of(Role.CONTROLLER)[len(kept) :]:
            draft.notes.leave(node.node_id.origin if node.node_id else node.origin, _TOO_MANY)
        if missing:
            draft.take("[controller]", named[0])
    elif not ids[Role.COMBINED]:
        count = _assumed(draft, bootstraps, has_zookeeper=has_zookeeper)
        if not count:
            return
        highest = max(known, default=0)
        first = _FIRST_CONTROLLER if highest < _FIRST_CONTROLLER else (highest // 1000 + 1) * 1000
        _write_ids(draft, Role.CONTROLLER, range(first, first + count))
    if Role.CONTROLLER in draft.document:
        draft.table(Role.CONTROLLER)["start"] = "later" if has_zookeeper else "at-once"


def _quorum(draft: Draft, *, has_zookeeper: bool) -> None:
    """Voters are in the quorum's log where no node names them."""
    bootstraps = draft.found.settings(names.BOOTSTRAP_CONTROLLERS)
    why = ""
    if draft.found.settings(names.VOTERS):
        why = f"{names.VOTERS} names the voters, so the quorum is a fixed one"
    elif has_zookeeper:
        why = "in a migration each node names the voters"
    elif any(() < numbers(each)[:2] < _DYNAMIC_FROM for each in _releases(draft)):
        why = f"voters are in the log of the quorum from {'.'.join(map(str, _DYNAMIC_FROM))} on"
    elif bootstraps:
        draft.document[_QUORUM] = "dynamic"
        draft.take(_QUORUM, *bootstraps)
        return
    for each in bootstraps:
        draft.notes.leave(each.origin, why)


def _releases(draft: Draft) -> list[str]:
    return [
        str(draft.document["kafka"]),
        *(each["kafka"] for each in draft.document.get("node", []) if "kafka" in each),
    ]


def _assumed(draft: Draft, bootstraps: Sequence[Setting], *, has_zookeeper: bool) -> int:
    """How many controllers no file has, and yet are needed."""
    wanted = draft.wish.controllers
    if wanted is not None:
        return wanted if has_zookeeper else max(wanted, 1)
    count = len(parts(bootstraps[0].value)) if bootstraps and not has_zookeeper else _CONTROLLERS_ASSUMED
    why = "a migration needs them, and no file has any" if has_zookeeper else "no file of a controller was given"
    draft.notes.assume("controller.count", f"{count} taken, as {why}; --controllers chooses another number")
    return _of_voters(draft, "controller.count", count)


def _properties(draft: Draft, ids: dict[Role, list[int]], *, has_zookeeper: bool) -> None:
    """Properties that all nodes of a role share go into its table, others into those of the nodes."""
    for role in Role:
        if role is Role.ZOOKEEPER and not has_zookeeper:
            continue
        nodes = draft.found.of(role)
        kept = [_kept(draft, node) for node in nodes]
        for name in dict.fromkeys(each for properties in kept for each in properties):
            values = [properties[name].value if name in properties else None for properties in kept]
            settings = [properties[name] for properties in kept if name in properties]
            if role in draft.document and len(set(values)) == 1:
                draft.table(role, "properties")[name] = values[0]
                draft.take(f"{role}.properties", *settings)
            else:
                for node_id, value in zip(ids[role], values, strict=True):
                    if value is not None:
                        draft.node(f"{role}-{node_id}").setdefault("properties", {})[name] = value
                draft.take("[[node]] properties", *settings)


def _drop_what_is_of_no_node(draft: Draft) -> None:
    """Tables of single nodes go where a topology cannot have as many of them."""
    if "node" not in draft.document:
        return
    kept = {f"{role}-{node_id}" for role in Role if role in draft.document for node_id in _ids(draft.table(role))}
    draft.document["node"] = [each for each in draft.document["node"] if each["name"] in kept]


def _ids(table: Mapping[str, Any]) -> Iterable[int]:
    first = int(table.get("first_id", 1))
    return list(table.get("ids", ())) or range(first, first + int(table.get("count", 0)))


def _kept(draft: Draft, node: FoundNode) -> dict[str, Setting]:
    kept = {}
    for name, setting in node.properties.items():
        why = why_left(name, setting, node.role)
        if not why and name == names.PROTOCOL_VERSION:
            why = _why_protocol(draft, node, setting)
        if why:
            draft.notes.leave(setting.origin, why)
        elif not stands_for(name):
            kept[name] = setting
    return kept


def _note_the_rest(draft: Draft) -> None:
    """Note each property that a key of the topology stands for, and that no step has mentioned."""
    mentioned = {each.origin for each in draft.taken} | {each.origin for each in draft.notes.left}
    for node in draft.found.nodes:
        for name, setting in node.properties.items():
            if stands_for(name) and setting.origin not in mentioned:
                draft.take(stands_for(name), setting)


def _why_protocol(draft: Draft, node: FoundNode, setting: Setting) -> str:
    if node.is_kraft:
        return "Kafka ignores it in KRaft mode"
    release = of_kafka(setting.value)
    if release is None or numbers(release) < _PROTOCOL_FROM:
        return f"a migration needs {'.'.join(map(str, _PROTOCOL_FROM))}, so it is raised before"
    if numbers(release)[:2] > numbers(str(draft.document["kafka"]))[:2] > ():
        return "the release that is taken does not have it"
    return ""
