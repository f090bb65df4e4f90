"""The disks of a draft: how many log directories a node has, and where its metadata log is."""

from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.topology.importing import names
from pytest_kmigrate.topology.importing.draft import Draft
from pytest_kmigrate.topology.importing.found import FoundNode, Setting
from pytest_kmigrate.topology.importing.names import parts
from pytest_kmigrate.topology.importing.versions import numbers

_DISKS_MIGRATE_FROM = (3, 7)
_LOG_DIRS, _METADATA_DISK = "log_dirs", "metadata_disk"


def disks_of(draft: Draft, ids: dict[Role, list[int]], *, has_zookeeper: bool) -> None:
    """Write ``log_dirs`` of roles, or of nodes where those of a role differ, and ``metadata_disk``."""
    release = numbers(str(draft.document["kafka"]))
    is_too_old = has_zookeeper and () < release < _DISKS_MIGRATE_FROM
    for role in (Role.BROKER, Role.COMBINED, Role.CONTROLLER):
        nodes = draft.found.of(role)
        is_left = is_too_old and role is Role.BROKER
        counts = [_count(draft, f"{role}.{_LOG_DIRS}", _disks(node), is_too_old=is_left) for node in nodes]
        if len(set(counts)) == 1 and counts[0] > 1 and role in draft.document:
            draft.table(role)[_LOG_DIRS] = counts[0]
        elif len(set(counts)) > 1:
            for node_id, count in zip(ids[role], counts, strict=True):
                if count > 1:
                    draft.node(f"{role}-{node_id}")[_LOG_DIRS] = count
        _metadata_disk(draft, role, nodes)


def _disks(node: FoundNode) -> Setting | None:
    return node.properties.get(names.LOG_DIRS) or node.properties.get(names.LOG_DIR)


def _count(draft: Draft, key: str, disks: Setting | None, *, is_too_old: bool) -> int:
    """How many log directories a node gets."""
    count = max(1, len(parts(disks.value))) if disks else 1
    if disks and count > 1 and is_too_old:
        draft.notes.leave(disks.origin, "Kafka takes several disks along in a migration from 3.7 on")
        return 1
    if disks and count > 1:
        draft.take(key, disks)
    elif disks:
        draft.notes.leave(disks.origin, "one disk, of the node itself")
    return count


def _metadata_disk(draft: Draft, role: Role, nodes: tuple[FoundNode, ...]) -> None:
    """All nodes of a role have a directory for the metadata log alone, or none has."""
    own = []
    for node in nodes:
        setting, disks = node.properties.get(names.METADATA_DIR), _disks(node)
        if setting is None:
            continue
        if role is Role.BROKER:
            draft.notes.leave(setting.origin, "brokers here have the metadata log in their first log directory")
        elif setting.value in (parts(disks.value) if disks else ()):
            draft.notes.leave(setting.origin, "the metadata log shares a log directory")
        else:
            own.append(setting)
    if not own or role not in draft.document:
        return
    draft.table(role)[_METADATA_DISK] = True
    draft.take(f"{role}.{_METADATA_DISK}", *own)
    if len(own) < len(nodes):
        draft.notes.assume(f"{role}.{_METADATA_DISK}", "all nodes of the role have one, as some do")
