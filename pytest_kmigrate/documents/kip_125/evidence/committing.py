"""What became of a member's commits of one partition: taken, refused, or not answered."""

from collections.abc import Mapping, Sequence

from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import Span
from pytest_kmigrate.documents.kip_125.evidence.held import owner_nodes, was_closed
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, lives
from pytest_kmigrate.documents.kip_125.evidence.outages import BROKER, ZOOKEEPER, outages, stood_still
from pytest_kmigrate.documents.kip_125.evidence.writes import group_writes, sessions
from pytest_kmigrate.documents.kip_125.kinds import OFFSETS
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.members import GroupDescribed, MemberAssigned
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations

_ANSWER_NS = 15_000_000_000
"""The answer to the commit of a release may come after it."""
_LOGGED_NS = 50_000_000
"""ZooKeeper logs milliseconds, and a member's lines are its own."""


def committed_by(history: History, span: Span, reader: Life) -> int:
    """The offset up to which a member had committed when it gave a partition up, in a store that ``reader`` reads.

    What ZooKeeper logged; where a plain KafkaConsumer takes part, what Kafka answered; 0: nothing.
    """
    is_plain = not (reader.is_of_zookeeper and lives(history)[span.client].is_of_zookeeper)
    if not is_plain:
        mine = sessions(history, lives(history))
        path = f"{OFFSETS}/{span.partition[0]}/{span.partition[1]}"
        written = [
            int(write.data or 0)
            for each, write in group_writes(history)
            if write.path == path
            and (write.data or "").isdigit()
            and span.began_ns <= each.at_ns <= span.ended_ns - _LOGGED_NS
            and each.session in mine
            and mine[each.session].client == span.client
        ]
        return max(written, default=0)
    if reader.is_of_zookeeper and not reader.is_migrating:
        return 0
    taken = _commits(history, span)
    taken = taken.where((taken.outcome == OperationOutcome.OK) & (taken.ended_ns <= span.ended_ns))
    return int(taken.offset.max()) if len(taken) else 0


def is_released(history: History, span: Span) -> bool:
    """Whether a member gave a partition up by itself, so that nothing kept it from committing first.

    ZooKeeper's log decides where it has the owner node: a node that goes with its session is no release.
    """
    life = lives(history)[span.client]
    if not span.is_orderly or stood_still(history, life.member, span.began_ns, span.ended_ns):
        return False
    if was_closed(history, span.client, span.began_ns, span.ended_ns):
        return False
    nodes = owner_nodes(history).get((span.partition, span.client), ())
    mine = [each for each in nodes if each.began_ns <= span.ended_ns and span.began_ns - _LOGGED_NS <= each.ended_ns]
    return not mine or mine[-1].was_deleted


def refusals(history: History, span: Span, since_ns: int) -> int:
    """How many commits of a partition were refused since an instant, or answered after it was given up."""
    mine = _commits(history, span)
    mine = mine.where((mine.ended_ns >= since_ns) & (mine.ended_ns <= span.ended_ns + _ANSWER_NS))
    return int(((mine.outcome != OperationOutcome.OK) | (mine.ended_ns > span.ended_ns)).sum())


def unanswered_ns(history: History, since_ns: int, until_ns: int) -> int:
    """How long a broker or ZooKeeper did not answer in this time, because a test had stopped it."""
    known = [each for role in (BROKER, ZOOKEEPER) for each in outages(history, role)]
    return sum(
        min(each.ended_ns, until_ns) - max(each.began_ns, since_ns)
        for each in known
        if each.overlaps(since_ns, until_ns)
    )


def before_first_ns(history: History, span: Span, since_ns: int) -> int:
    """How long since an instant no other member had an answer to any commit: a new group waits for its coordinator.

    The first answer must have come while the member owned the partition: where others had nothing to commit, that none
    had an answer says nothing.
    """
    rows = history.operations.of(OperationKind.COMMIT)
    others = rows.where((rows.client != span.client) & (rows.outcome == OperationOutcome.OK))
    first_ns = int(others.ended_ns.min()) if len(others) else span.ended_ns
    return max(0, first_ns - since_ns) if first_ns < span.ended_ns else 0


def rebalanced_ns(history: History, span: Span, since_ns: int) -> int:
    """How long Kafka's group rebalanced since an instant, and refused the commits of a member.

    By the member's reports; a description of the group as stable ends it, too.
    """
    mine = [event for event in history.of(MemberAssigned) if client_of(event) == span.client]
    name = lives(history)[span.client].consumer_id
    stable = [
        event.at_ns
        for event in history.of(GroupDescribed)
        if event.what.state == "STABLE" and name in members_of(event)
    ]
    total = 0
    for event in (each for each in mine if each.what.what != "assigned"):
        began_ns = happened_ns(event)
        over = [happened_ns(each) for each in mine if each.what.what == "assigned"]
        ended_ns = min((at_ns for at_ns in (*over, *stable, span.ended_ns) if at_ns >= began_ns), default=began_ns)
        total += max(0, min(ended_ns, span.ended_ns) - max(began_ns, since_ns))
    return total


def members_of(described: Recorded[GroupDescribed]) -> Mapping[str, Sequence[Sequence[object]]]:
    """By client id, what a description of the group has as assigned to it."""
    return described.what.members


def _commits(history: History, span: Span) -> Operations:
    rows = history.operations.of(OperationKind.COMMIT)
    is_of_partition = (rows.topic == span.partition[0]) & (rows.partition == span.partition[1])
    return rows.where(is_of_partition & (rows.client == span.client))
