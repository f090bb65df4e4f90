"""When what is wrong in an image came about: who names a cause for it has to show that it was there then."""

from collections.abc import Collection
from urllib.parse import quote

from pytest_kmigrate.checkers.controllers.znode_changes import writes_to
from pytest_kmigrate.checkers.metadata.changes import has_failed
from pytest_kmigrate.checkers.metadata.wrong import Wrong
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.workloads import MetadataChanged
from pytest_kmigrate.model.history import History

_TOPIC_FAMILIES = ("topics", "partitions")
_FOLDERS = {"topic": "topics", "broker": "brokers"}
_ENTITIES = {"user": "users", "client-id": "clients", "ip": "ips"}
"""Kinds of entities that have quotas, as the znodes above them are called."""
DEFAULT = "<default>"
_LONG_AGO_NS = -(1 << 60)


def made_ns(history: History, wrong: Wrong) -> list[int]:
    """When what one place lacks was made: the last acknowledged change of each value, or ZooKeeper's first write of it.

    Empty where both sides have something there: what differs then, such as a leader, no client changed. Empty also
    where nothing is known of it.
    """
    lost = lost_ns(wrong)
    if lost:
        return lost
    if not all(_is_one_sided(history, wrong.lost, *place) for place in wrong.places):
        return []
    return [at_ns for place in wrong.places for at_ns in _changed_ns(history, *place)]


def lost_ns(wrong: Wrong) -> list[int]:
    """When the acknowledged changes were made that do not hold."""
    return [changed_ns(each.state.last) for each in wrong.all_lost]


def changed_ns(change: Recorded[MetadataChanged]) -> int:
    """When a change was acknowledged; that of an earlier run on the same cluster is older than anything in this one."""
    return _LONG_AGO_NS if change.what.inherited else change.at_ns


def _is_one_sided(history: History, labels: Collection[str], family: str, key: str) -> bool:
    held = [key in getattr(history.images[label], family) for label in labels]
    return any(held) and not all(held)


def _changed_ns(history: History, family: str, key: str) -> list[int]:
    path, subject = znode_of(history, family, key)
    changes = [each for each in history.of(MetadataChanged) if each.what.subject == subject]
    acknowledged = [changed_ns(each) for each in changes if not has_failed(each)]
    return acknowledged[-1:] or [each.at_ns for each, _ in writes_to(history, path)][:1]


def znode_of(history: History, family: str, key: str) -> tuple[str, str]:
    """The path of what is at a place, and the subject of changes to it; the path is empty for other families."""
    if family in _TOPIC_FAMILIES:
        topics = {each for image in history.images.values() for each in image.topics}
        topic = key if family == "topics" or key in topics else key.rpartition("-")[0]
        return f"/brokers/topics/{topic}", topic
    if family == "configs":
        kind, _, name = key.partition(":")
        return f"/config/{_FOLDERS.get(kind, kind)}/{name or DEFAULT}", key
    if family == "scram":
        return f"/config/users/{quote(key.rpartition(':')[0], safe='')}", key
    return (znode_of_quota(key) if family == "quotas" else "", key)


def znode_of_quota(entity: str) -> str:
    """The znode that holds the quotas of an entity, such as "user=a b,client-id=<default>"."""
    names = [
        (_ENTITIES.get(kind, kind), name if name == DEFAULT else quote(name, safe=""))
        for kind, name in parts_of(entity)
    ]
    return "/config/" + "/".join(f"{folder}/{name}" for folder, name in names)


def parts_of(entity: str) -> list[tuple[str, str]]:
    """Kind and name of a quota's entity, which may be a user and a client of his."""
    user, comma, client = entity.rpartition(",client-id=")
    kind, _, name = (user if comma else entity).partition("=")
    return [(kind, name), *([("client-id", client)] if comma else [])]
