"""Lives of members: each start of a member's process, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.documents.kip_125.kinds import PLAIN, WITH
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.members import MemberEnded, MemberReleased, MemberStarted
from pytest_kmigrate.model.events.workloads import ClientsEnded, MetadataWorkloadEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.keeping import kept

_LEAVES_WITHIN_NS = 10_000_000_000
"""A member that is asked to stop ends within this time; what it released before is no sign of its leaving."""


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
    left_ns: int
    """When it left: if it was stopped, its last release; its process ends later, most of all on a loaded machine."""
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
    return bool(history.of(MemberStarted))


@kept
def lives(history: History) -> dict[int, Life]:
    """By client number, every life of a member that was constructed."""
    ends = {client_of(event): event for event in history.of(MemberEnded)}
    released = {client_of(event): happened_ns(event) for event in history.of(MemberReleased)}
    begun = {client_of(event): event for event in history.of(MemberStarted)}
    return {client: _life(event, ends.get(client), released.get(client, 0)) for client, event in begun.items()}


def _life(began: Recorded[MemberStarted], ended: Recorded[MemberEnded] | None, released_ns: int) -> Life:
    member = began.what
    ended_ns, how = (ended.at_ns, ended.what.how) if ended else (FOREVER, "")
    has_left = how == "stopped" and ended_ns - _LEAVES_WITHIN_NS < released_ns < ended_ns
    return Life(
        member.client,
        member.member,
        member.member_kind,
        member.consumer_id,
        member.group,
        dict(member.topics),
        happened_ns(began),
        ended_ns,
        released_ns if has_left else ended_ns,
        how,
    )


@kept
def horizon_ns(history: History) -> int:
    """Until when members were at work: what follows is the orderly end of all of them."""
    ends = [event.at_ns for event in history.of(ClientsEnded, MetadataWorkloadEnded)]
    return min(ends, default=max((event.at_ns for event in history.events), default=0))
