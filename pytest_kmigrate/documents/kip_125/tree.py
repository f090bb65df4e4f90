"""The shape of a group's tree in ZooKeeper: what a member leaves there, without what differs from one to the next."""

import json

from pytest_kmigrate.documents.kip_125.kinds import ROOT
from pytest_kmigrate.model.peer import Znodes


def shape(znodes: Znodes, consumer_id: str) -> list[str]:
    """Every znode below the group, with its kind and the kind of its content; ``consumer_id`` is replaced by ``ID``.

    How a member names its subscription is its own: its keys count.
    """
    return sorted(_below(znodes, ROOT, consumer_id))


def _below(znodes: Znodes, path: str, consumer_id: str) -> list[str]:
    kind = "persistent" if znodes.owner(path) is None else "ephemeral"
    content = _content((znodes.get(path) or b"").decode("utf-8", "replace"), consumer_id)
    found = [f"{path.replace(consumer_id, 'ID')}: {kind}, {content}"]
    for name in znodes.children(path):
        found += _below(znodes, f"{path}/{name}", consumer_id)
    return found


def _content(text: str, consumer_id: str) -> str:
    if text.isdigit():
        return "a number"
    try:
        return f"JSON with {', '.join(sorted(json.loads(text)))}"
    except (ValueError, TypeError):
        return text.replace(consumer_id, "ID") or "nothing"
