"""What ZooKeeper logged of the group: who wrote which znode, and when."""

import re
from collections.abc import Iterator

from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members
from pytest_kmigrate.documents.kip_125.kinds import IDS, OFFSETS, ROOT
from pytest_kmigrate.model.history import History, Transaction, Write

EVIDENCE = "zookeeper/transactions.jsonl"
OFFSET = re.compile(rf"{OFFSETS}/[^/]+/\d+")
"""The path of an offset."""


def has_writes(history: History) -> bool:
    """Whether members wrote to ZooKeeper in this run."""
    return has_members(history) and any(True for _ in group_writes(history))


def group_writes(history: History) -> Iterator[tuple[Transaction, Write]]:
    """Each change of a znode of the group that the harness did not make, in order."""
    for each in history.transactions:
        if not each.error:
            yield from ((each, write) for write in each.changes if write.path.startswith(f"{ROOT}/"))


def sessions(history: History, known: dict[int, Life]) -> dict[int, Life]:
    """By session, the member that registered with it."""
    by_path = {f"{IDS}/{life.consumer_id}": life for life in known.values() if life.is_of_zookeeper}
    return {
        each.session: by_path[write.path]
        for each, write in group_writes(history)
        if write.operation == "create" and write.path in by_path
    }
