"""Check of dual commit: ZooKeeper has no offset that Kafka did not take before."""

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import client_of
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.lives import lives
from pytest_kmigrate.documents.kip_125.evidence.writes import EVIDENCE, OFFSET, group_writes, has_writes, sessions
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Verdict

_ROW = "K125-OFF-dual-commit-order"
_SLACK_NS = 500_000_000
"""ZooKeeper logs milliseconds, and members report an answer at about the time they go on. A broker that stands still
makes the difference seconds."""


@checker(_ROW, in_every_run=has_writes, needs=[Capability.ZOOKEEPER_LOG])
def zookeeper_offsets_follow_kafkas(history: History) -> Verdict:
    """While a broker stands still, members with migration write to ZooKeeper only what Kafka has taken before.

    The offset at which a member begins to read needs no commit. At other times both stores are written within
    milliseconds, so that their order does not show.
    """
    rows = ByRequirement("zookeeper_offsets_follow_kafkas", _ROW)
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
    rows.looked_at(_ROW, len(stood_still))
    text = f"{counted(count, 'offset')} written to ZooKeeper while a broker stood still, each taken by Kafka before"
    return rows.verdict(text, "no broker stood still while members committed", writes=count)


def _stood_still(history: History) -> list[tuple[int, int]]:
    """When a broker stood still."""
    resumed = [event for event in history.of(EventKind.NODE_RESUMED) if str(event.node).startswith("broker")]
    return [
        (event.at_ns, min((each.at_ns for each in resumed if each.at_ns > event.at_ns), default=FOREVER))
        for event in history.of(EventKind.NODE_PAUSED)
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
        (client_of(event), int(number), int(position))
        for event in history.of(EventKind.MEMBER_OWNS)
        for _, number, position in event.data["partitions"]  # type: ignore[attr-defined]
    }
