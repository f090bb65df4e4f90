"""What ZooKeeper held of the group, and since when: the ephemeral znodes of members, each until it was gone."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import Partition
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.documents.kip_125.evidence.writes import group_writes, sessions
from pytest_kmigrate.documents.kip_125.kinds import IDS, MIGRATING, OWNERS
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept


@dataclass(frozen=True)
class Held:
    """One ephemeral znode, from its creation to its end, by ZooKeeper's log."""

    path: str
    session: int
    began_ns: int
    ended_ns: int
    """FOREVER: it was there when the log ended."""
    was_deleted: bool
    """Whether a client deleted it; otherwise it went with its session."""


@kept
def held(history: History) -> tuple[Held, ...]:
    """All of a run that members created, in the order of their creation."""
    closed = sessions_closed(history)
    found: list[Held] = []
    open_: dict[str, int] = {}
    for each, write in group_writes(history):
        at = open_.pop(write.path, None) if write.operation in ("create", "delete") else None
        if at is not None and write.operation == "delete" and each.at_ns < found[at].ended_ns:
            begun = found[at]
            found[at] = Held(begun.path, begun.session, begun.began_ns, each.at_ns, was_deleted=True)
        if write.operation == "create" and write.is_ephemeral:
            open_[write.path] = len(found)
            ended_ns = closed.get(each.session, FOREVER)
            found.append(Held(write.path, each.session, each.at_ns, ended_ns, was_deleted=False))
    return tuple(found)


@kept
def sessions_closed(history: History) -> Mapping[int, int]:
    """By session of a member, when ZooKeeper closed it: the server logs that as a transaction without a write."""
    writers = {each.session for each, _ in group_writes(history)}
    wrote, found = set[int](), dict[int, int]()
    for each in history.transactions:
        if each.session in writers and not each.error:
            if each.writes:
                wrote.add(each.session)
            elif each.session in wrote:
                found.setdefault(each.session, each.at_ns)
    return found


@kept
def owner_nodes(history: History) -> Mapping[tuple[Partition, int], tuple[Held, ...]]:
    """By partition and client, the owner nodes that a member's sessions had."""
    known = sessions(history, lives(history))
    found: dict[tuple[Partition, int], list[Held]] = defaultdict(list)
    for each in held(history):
        if each.path.startswith(f"{OWNERS}/") and each.session in known:
            topic, _, number = each.path.removeprefix(f"{OWNERS}/").rpartition("/")
            found[(topic, int(number)), known[each.session].client].append(each)
    return {place: tuple(those) for place, those in found.items()}


def was_closed(history: History, client: int, since_ns: int, until_ns: int) -> bool:
    """Whether ZooKeeper closed a session of a member in this time."""
    closed = sessions_closed(history)
    mine = [session for session, life in sessions(history, lives(history)).items() if life.client == client]
    return any(since_ns <= closed[each] <= until_ns for each in mine if each in closed)


def older_registered(history: History) -> list[Held]:
    """The entries in ``ids`` of members that never registered among those that migrate."""
    created = {write.path for _, write in group_writes(history) if write.operation == "create"}
    mine = [each for each in held(history) if each.path.startswith(f"{IDS}/")]
    return [each for each in mine if each.path.replace(IDS, MIGRATING, 1) not in created]
