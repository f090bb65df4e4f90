"""What the members of the group have reported so far."""

import re
import time
from collections.abc import Collection, Iterable

from pytest_kmigrate.checkers.evidence.ownership import Partition, happened_ns, owners
from pytest_kmigrate.documents.kip_125.kinds import BYSTANDER, TOPIC
from pytest_kmigrate.model.event import EventKind, is_a
from pytest_kmigrate.model.events.members import (
    GroupDescribed,
    MemberAssigned,
    MemberEnded,
    MemberGauges,
    MemberMode,
    MemberOwns,
    MemberReported,
)
from pytest_kmigrate.model.protocols import Scene
from pytest_kmigrate.waiting import NotYet
from pytest_kmigrate.workloads.members.member import RunningMember


class GroupReports:
    """Reads the history of one run as it grows."""

    def __init__(self, scene: Scene, partitions: int, topics: Iterable[str] = (TOPIC,)) -> None:
        """``partitions``: how many each of the topics has."""
        self.partitions = {(topic, number) for topic in topics for number in range(partitions)}
        self._scene = scene

    def owners(self) -> dict[Partition, str]:
        """By partition, the name of the member that owns it."""
        return owners(list(self._scene.recorder.events))

    def unowned(self) -> int:
        """How many partitions have no owner."""
        return len(self.partitions - self.owners().keys())

    def share(self, member: RunningMember) -> int:
        """How many partitions a member owns."""
        return list(self.owners().values()).count(member.name)

    def moves(self) -> int:
        """How often members have reported so far to own partitions, or to own them no more."""
        kinds = (EventKind.MEMBER_OWNS, EventKind.MEMBER_RELEASED)
        return sum(e.kind in kinds for e in self._scene.recorder.events)

    def decisions(self, what: str = "assigned") -> int:
        """How often Kafka's coordinator has decided so of members with migration."""
        events = [e for e in self._scene.recorder.events if is_a(e, MemberAssigned)]
        return sum(e.what.what == what for e in events)

    def revoked_after_s(self, at_ns: int) -> float | NotYet:
        """How long after an instant of the monotonic clock Kafka's next decision reached a member, by its report."""
        since_ns = at_ns - (time.monotonic_ns() - self._scene.recorder.now_ns())
        events = [e for e in self._scene.recorder.events if is_a(e, MemberAssigned)]
        later = [happened_ns(e) for e in events if e.what.what == "revoked" and happened_ns(e) >= since_ns]
        return (min(later) - since_ns) / 1e9 if later else NotYet("no decision")

    def first_positions(self, member: RunningMember) -> dict[int, int]:
        """By partition of the one topic, the offset at which a member first began to read."""
        found: dict[int, int] = {}
        for event in self._scene.recorder.events:
            if is_a(event, MemberOwns) and event.what.client == member.client:
                for _, number, position in event.what.partitions:
                    found.setdefault(int(str(number)), int(str(position)))
        return found

    def warnings(self) -> set[str]:
        """The codes of all warnings of members so far."""
        reported = [e for e in self._scene.recorder.events if is_a(e, MemberReported)]
        return {str(e.what.content["code"]) for e in reported if e.what.what == "warning"}

    def gauge_names(self) -> set[str]:
        """The names of all gauges that members have reported, without what comes before and after them."""
        gauges = [e.what.gauges for e in self._scene.recorder.events if is_a(e, MemberGauges)]
        return {re.sub(r".*,name=([^,]+).*", r"\1", name) for each in gauges for name in each}

    def mode_changes(self, members: Iterable[RunningMember]) -> list[str]:
        """Every mode that these members have reported so far."""
        clients = {each.client for each in members}
        events = [e for e in self._scene.recorder.events if is_a(e, MemberMode)]
        return [e.what.mode for e in events if e.what.client in clients]

    def modes(self) -> dict[int, str]:
        """By client number, the mode that a member reported last."""
        events = list(self._scene.recorder.events)
        return {e.what.client: e.what.mode for e in events if is_a(e, MemberMode)}

    def refusal(self, member: RunningMember) -> str:
        """The key that a member with wrong settings named when it refused them; empty if it did not end so."""
        ends = [e for e in self._scene.recorder.events if is_a(e, MemberEnded)]
        said = [e.what.said for e in ends if e.what.member == member.name and e.what.how == "refused"]
        return said[-1].partition(":")[0] if said else ""


def has_formed(described: GroupDescribed, count: int, own: Collection[str]) -> bool:
    """Whether a group is stable and has so many members of those that a test started; ``own``: their client ids.

    One that no test started is for the checks to judge: it would be waited for in vain to leave.
    """
    started = described.members.keys() & {*own, BYSTANDER}
    return (described.state, len(started)) == ("STABLE", count)
