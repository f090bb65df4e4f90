"""Lives of members: each start of a member's process, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import client_of
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.kinds import PLAIN, WITH
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import History


@dataclass(frozen=True)
class Life:
    """One process of a member."""

    client: int
    member: str
    kind: str
    consumer_id: str
    group: str
    streams: Mapping[str, int]
    began_ns: int
    ended_ns: int
    """FOREVER: it had not ended."""
    how: str
    """``stopped``, ``killed``, ``died``, or empty while it lives."""

    @property
    def is_migrating(self) -> bool:
        """Whether it has migration enabled."""
        return self.kind == WITH

    @property
    def is_of_zookeeper(self) -> bool:
        """Whether it registers in ZooKeeper."""
        return self.kind not in PLAIN


def has_members(history: History) -> bool:
    """Whether a group was under test in this run."""
    return bool(history.of(EventKind.MEMBER_STARTED))


def lives(history: History) -> dict[int, Life]:
    """By client number, every life of a member that was constructed."""
    ends = {client_of(event): event for event in history.of(EventKind.MEMBER_ENDED)}
    return {
        client_of(event): _life(event, ends.get(client_of(event))) for event in history.of(EventKind.MEMBER_STARTED)
    }


def _life(began: Event, ended: Event | None) -> Life:
    data = began.data
    topics = data.get("topics")
    return Life(
        client_of(began),
        str(data["member"]),
        str(data["member_kind"]),
        str(data["consumer_id"]),
        str(data["group"]),
        {str(topic): int(streams) for topic, streams in topics.items()} if isinstance(topics, Mapping) else {},
        began.at_ns,
        ended.at_ns if ended else FOREVER,
        str(ended.data["how"]) if ended else "",
    )


def horizon_ns(history: History) -> int:
    """Until when members were at work: what follows is the orderly end of all of them."""
    ends = [event.at_ns for event in history.of(EventKind.WORKLOAD_ENDED)]
    return min(ends, default=max((event.at_ns for event in history.events), default=0))
