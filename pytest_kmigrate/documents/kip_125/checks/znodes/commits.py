"""Check of dual commit: ZooKeeper has no offset that Kafka did not take before."""

from collections.abc import Collection, Mapping

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import client_of
from pytest_kmigrate.checkers.evidence.spans import FOREVER, spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.documents.kip_125.evidence.writes import EVIDENCE, OFFSET, group_writes, has_writes, sessions
from pytest_kmigrate.documents.kip_125.kinds import COMMIT_EVERY_S
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.events.members import MemberOwns
from pytest_kmigrate.model.events.nodes import NodePaused, NodeResumed
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K125-OFF-dual-commit-order"
_SLACK_NS = 500_000_000
"""ZooKeeper logs milliseconds, and members report an answer at about the time they go on. A broker that stands still
makes the difference seconds."""

_INTERVAL_NS = int(1.5 * COMMIT_EVERY_S * 1e9)


@checker(_ROW, in_every_run=has_writes, needs=[Capability.ZOOKEEPER_LOG])
def zookeeper_offsets_follow_kafkas(history: History) -> Verdict:
    """While a broker stands still, members with migration write to ZooKeeper only what Kafka has taken before.

    The offset at which a member begins to read needs no commit. At other times both stores are written within
    milliseconds, so that their order does not show. It speaks for partitions of which a member had read more than it
    had committed when the broker stopped, and which it owned for longer than its commit interval then.
    """
    rows = ByRequirement(_ROW)
    known = {client: life for client, life in lives(history).items() if life.is_migrating}
    by_session = sessions(history, known)
    taken, begun = _taken(history), _begun(history)
    stood_still = _stood_still(history)
    count = 0
    for each, write in group_writes(history):
        life, data = by_session.get(each.session), write.data or ""
        is_in_time = any(began < each.at_ns < ended for began, ended in stood_still)
        if life is None or not is_in_time or not OFFSET.fullmatch(write.path) or not data.isdigit():
            continue
        count += 1
        place = (life.client, int(write.path.rpartition("/")[2]), int(data))
        if place not in begun and taken.get(place, each.at_ns + 2 * _SLACK_NS) > each.at_ns + _SLACK_NS:
            expected = f"{life.member} writes {data} to {write.path} after Kafka has taken it"
            observed = "Kafka took it later" if place in taken else "Kafka never took it from this member"
            rows.violated(_ROW, timed_violation(history, expected, observed, each.at_ns, EVIDENCE))
    # A broker that stands still takes nothing, so that members which commit in order write nothing either.
    could_fail = sum(_waiting(history, known, taken, *each) for each in stood_still)
    rows.looked_at(_ROW, could_fail)
    text = (
        f"{counted(count, 'offset')} written to ZooKeeper while a broker stood still, each taken by Kafka before; "
        f"{counted(could_fail, 'partition')} had records to commit"
    )
    return rows.verdict(text, "no broker stood still while members had something to commit", writes=count)


def _waiting(
    history: History, known: Collection[int], taken: Mapping[tuple[int, int, int], int], began_ns: int, ended_ns: int
) -> int:
    """In how many spans of ownership a member would have committed while a broker stood still."""
    reads = history.operations.of(OperationKind.CONSUME)
    found = 0
    for span in (each for those in spans(history).values() for each in those if each.client in known):
        shared_ns = min(span.ended_ns, ended_ns) - max(span.began_ns, began_ns)
        if span.began_ns >= began_ns or shared_ns < _INTERVAL_NS:
            continue
        mine = (reads.client == span.client) & (reads.partition == span.partition[1]) & (reads.ended_ns < began_ns)
        read = reads.offset[mine & (reads.ended_ns >= span.began_ns)]
        place = (span.client, span.partition[1])
        found += bool(len(read)) and int(read.max()) >= _committed(taken, place, began_ns)
    return found


def _committed(taken: Mapping[tuple[int, int, int], int], place: tuple[int, int], before_ns: int) -> int:
    """The highest offset that Kafka had taken from a client for a partition."""
    known = (offset for (*at, offset), at_ns in taken.items() if tuple(at) == place and at_ns < before_ns)
    return max(known, default=0)


def _stood_still(history: History) -> list[tuple[int, int]]:
    """When a broker stood still."""
    resumed = [event for event in history.of(NodeResumed) if str(event.node).startswith("broker")]
    return [
        (event.at_ns, min((each.at_ns for each in resumed if each.at_ns > event.at_ns), default=FOREVER))
        for event in history.of(NodePaused)
        if str(event.node).startswith("broker")
    ]


def _taken(history: History) -> dict[tuple[int, int, int], int]:
    """By client, partition and offset, when Kafka's answer to the first commit of it came."""
    commits = history.operations.of(OperationKind.COMMIT)
    found: dict[tuple[int, int, int], int] = {}
    for row in range(len(commits)):
        if commits.outcome[row] == OperationOutcome.OK:
            place = (int(commits.client[row]), int(commits.partition[row]), int(commits.offset[row]))
            found.setdefault(place, int(commits.ended_ns[row]))
    return found


def _begun(history: History) -> set[tuple[int, int, int]]:
    """Client, partition and offset of each beginning of ownership."""
    return {
        (client_of(event), int(str(number)), int(str(position)))
        for event in history.of(MemberOwns)
        for _, number, position in event.what.partitions
    }
