"""Events of the members of a consumer group under test. The records they read are in ``operations/``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pytest_kmigrate.model.event import EventData, EventKind


@dataclass(frozen=True)
class MemberStarted(EventData):
    """A member was constructed; it is about to join its group."""

    event_kind: ClassVar = EventKind.MEMBER_STARTED
    member: str
    """Name of the member, for example ``MEZKCC-1``."""
    client: int
    """Its number in ``operations/``; a member that is started again has another one."""
    member_kind: str
    """Kind of the member, as the document calls it."""
    group: str
    """Consumer group."""
    consumer_id: str
    """The id that it registers with, as it reported it."""
    topics: Mapping[str, int]
    """Number of streams by topic that it subscribes to."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


HowEnded = Literal["stopped", "killed", "refused", "died"]


@dataclass(frozen=True)
class MemberEnded(EventData):
    """The process of a member is gone."""

    event_kind: ClassVar = EventKind.MEMBER_ENDED
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    how: HowEnded
    """``stopped`` (in order), ``killed`` (by a test), ``refused`` (status 2, before it was constructed) or ``died``."""
    status: int
    """Exit status; below 0 the signal that ended it."""
    said: str
    """The last line that it wrote to stderr; empty if it wrote none."""


@dataclass(frozen=True)
class MemberPaused(EventData):
    """A member was stopped by SIGSTOP."""

    event_kind: ClassVar = EventKind.MEMBER_PAUSED
    member: str
    """Name of the member."""


@dataclass(frozen=True)
class MemberResumed(EventData):
    """A paused member goes on."""

    event_kind: ClassVar = EventKind.MEMBER_RESUMED
    member: str
    """Name of the member."""


@dataclass(frozen=True)
class MemberOwns(EventData):
    """A member reported that it owns partitions from now on, before their first record."""

    event_kind: ClassVar = EventKind.MEMBER_OWNS
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    partitions: Sequence[Sequence[object]]
    """Topic, partition and the first offset to read (-1: unknown) of each."""
    source: str
    """What assigned them: ``zookeeper``, ``kafka``, or empty."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class MemberReleased(EventData):
    """A member reported that it handed over the last record of partitions."""

    event_kind: ClassVar = EventKind.MEMBER_RELEASED
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    partitions: Sequence[Sequence[object]]
    """Topic and partition of each."""
    why: str
    """Its reason."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class MemberAssigned(EventData):
    """Kafka's coordinator assigned partitions to a member, or took them away, whether or not it follows that."""

    event_kind: ClassVar = EventKind.MEMBER_ASSIGNED
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    what: str
    """``assigned``, ``revoked`` or ``lost``."""
    partitions: Sequence[Sequence[object]]
    """Topic and partition of each."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class MemberMode(EventData):
    """A member follows another system of coordination, or reported for the first time which one it follows."""

    event_kind: ClassVar = EventKind.MEMBER_MODE
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    mode: str
    """``kafka`` or ``zookeeper``."""
    why: str
    """Its reason."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class MemberGauges(EventData):
    """A member's gauges changed, or were reported for the first time."""

    event_kind: ClassVar = EventKind.MEMBER_GAUGES
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    gauges: Mapping[str, float]
    """Values by full object name."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class MemberReported(EventData):
    """A member reported something else: a warning, or that a callback of its user was called."""

    event_kind: ClassVar = EventKind.MEMBER_REPORTED
    member: str
    """Name of the member."""
    client: int
    """Its number."""
    what: str
    """Name of the line, for example ``warning``."""
    content: Mapping[str, object]
    """The other keys of the line."""
    member_ns: int
    """When, in nanoseconds since the run began, by the member's own monotonic clock."""


@dataclass(frozen=True)
class GroupDescribed(EventData):
    """The coordinator described a group."""

    event_kind: ClassVar = EventKind.GROUP_DESCRIBED
    group: str
    """Consumer group."""
    state: str
    """Its state, for example ``STABLE``."""
    assignor: str
    """The assignor that its members agreed on; empty if there is none."""
    members: Mapping[str, Sequence[Sequence[object]]]
    """By client id of each member, topic and partition of what it is assigned."""
    asked_ns: int
    """When it was asked, in nanoseconds since the run began."""


@dataclass(frozen=True)
class ZnodeWritten(EventData):
    """The test wrote a znode, as an operator does."""

    event_kind: ClassVar = EventKind.ZNODE_WRITTEN
    path: str
    """Path of the znode."""
    data: str | None
    """Its new content as text; null if the test deleted it."""


ByMember = MemberStarted | MemberOwns | MemberReleased | MemberAssigned | MemberMode | MemberGauges | MemberReported
"""What a member itself reported, with the time by its own clock."""

OfMember = ByMember | MemberEnded
"""What is about one life of a member, which ``client`` numbers."""

AboutMember = OfMember | MemberPaused | MemberResumed
"""What names a member."""

WithPartitions = MemberOwns | MemberReleased | MemberAssigned
"""What lists partitions: topic, partition, and more."""
