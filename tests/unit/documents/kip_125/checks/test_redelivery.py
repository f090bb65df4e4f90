"""What may be read again at a handover: nothing if it was orderly, and otherwise what was not committed."""

import pytest

from pytest_kmigrate.documents.kip_125.checks.ownership.redelivery import redelivery_bounded_by_commit
from pytest_kmigrate.documents.kip_125.kinds import NEW, OLD, WITH
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Transaction
from pytest_kmigrate.model.verdict import Outcome, Verdict
from tests.unit.checkers.histories import Row, event, history
from tests.unit.documents.kip_125.groups import (
    answered,
    assigned,
    closed,
    described,
    disowned,
    ended,
    follows,
    joined,
    logged,
    member,
    offset,
    owner,
    owns,
    paused,
    read,
    released,
    wrote,
)

KILLED = [member(1), member(2), owns(1, 10, 0), ended(1, 15_000, "killed"), owns(2, 18_000, 0)]


def orderly(kind: str = WITH, after: str = WITH) -> list[Event]:
    """The first member released its partition, and the second owns it."""
    return [member(1, kind), member(2, after), owns(1, 10, 0), released(1, 15_000, 0), owns(2, 15_100, 0)]


def repeats(since_ms: int) -> list[Row]:
    """What was read from this time on is read again by the second member."""
    return [*read(1, 100, 1), *read(1, since_ms, 2), *read(1, 14_990, 3), *read(2, 18_200, 2, 3, 4)]


def judged(rows: list[Row], events: list[Event], transactions: list[Transaction] | None = None) -> Verdict:
    """The verdict about a handover."""
    return redelivery_bounded_by_commit.judge(history(rows, events, transactions=transactions or []))


def test_an_orderly_handover_repeats_nothing() -> None:
    """Not even what was read within the last commit interval: a release commits first."""
    apart = [*read(1, 100, 1), *read(1, 14_990, 2), *read(2, 15_200, 3)]
    assert judged(apart, orderly()).outcome is Outcome.CONFORMS
    verdict = judged(repeats(13_100), orderly())
    assert verdict.outcome is Outcome.VIOLATES
    assert "though it was released in order" in verdict.violations[0].observed
    assert judged(repeats(13_100), orderly()[:4]).is_vacuous


def test_a_crash_repeats_no_more_than_a_commit_interval() -> None:
    """And a second for a commit that was under way."""
    verdict = judged(repeats(13_100), KILLED)
    assert (verdict.outcome, verdict.facts["repeated"]) == (Outcome.CONFORMS, 2)
    assert judged(repeats(12_900), KILLED).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("since_ms", "commits", "outcome"),
    [
        (13_100, [answered(1, 14_995, 4, "ILLEGAL_GENERATION")], Outcome.CONFORMS),
        (13_100, [answered(1, 15_050, 4)], Outcome.CONFORMS),  # its answer came when the release was over
        (13_100, [answered(1, 14_995, 4)], Outcome.VIOLATES),
        (13_100, [answered(1, 9000, 2, "ILLEGAL_GENERATION")], Outcome.VIOLATES),  # refused before they were read
        (12_100, [answered(1, 14_995, 4, "ILLEGAL_GENERATION")], Outcome.CONFORMS),
        (10_100, [answered(1, 14_995, 4, "ILLEGAL_GENERATION")], Outcome.VIOLATES),  # others were not refused
    ],
)
def test_a_refused_commit_is_a_reason(since_ms: int, commits: list[Row], outcome: Outcome) -> None:
    """For what was read in the intervals whose commits were refused, or not answered in time."""
    assert judged([*repeats(since_ms), *commits], orderly()).outcome is outcome


def test_a_decision_of_kafka_is_no_reason_by_itself() -> None:
    """The group of the former owner had a decision since, and took its commits all the same."""
    events = [*orderly(), assigned(1, 14_000, 0), assigned(1, 14_500, 0)]
    assert judged(repeats(2000), events).outcome is Outcome.VIOLATES
    killed = [*KILLED, assigned(1, 14_000, 0)]
    assert judged(repeats(2000), killed).outcome is Outcome.VIOLATES


def test_what_is_read_while_the_group_rebalances_is_not_committed() -> None:
    """Until the member is assigned something, or the coordinator describes the group as stable."""
    revoked = assigned(1, 10_000, 0, what="revoked")
    assert judged(repeats(8100), [*KILLED, revoked]).outcome is Outcome.CONFORMS
    assert judged(repeats(7900), [*KILLED, revoked]).outcome is Outcome.VIOLATES
    assert judged(repeats(8100), [*KILLED, revoked, assigned(1, 11_000, 0)]).outcome is Outcome.VIOLATES
    stable = described(11_000, {"c1": [["orders", 0]]})
    assert judged(repeats(8100), [*KILLED, revoked, stable]).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("since_ms", "commits", "outcome"),
    [
        (11_100, [answered(2, 13_000, 9)], Outcome.CONFORMS),
        (11_100, [answered(2, 13_000, 9), answered(2, 11_200, 8)], Outcome.VIOLATES),  # it answered before
        (10_900, [answered(2, 12_800, 9), answered(1, 5000, 1)], Outcome.VIOLATES),  # and more than may be
        (11_100, [answered(2, 13_000, 9, "NOT_COORDINATOR")], Outcome.VIOLATES),  # no first one
        (11_100, [answered(2, 19_000, 9)], Outcome.VIOLATES),  # when the other had something to commit
        (11_100, [answered(1, 13_000, 1)], Outcome.VIOLATES),  # its own is no sign of others
    ],
)
def test_the_coordinator_of_a_new_group_is_waited_for(since_ms: int, commits: list[Row], outcome: Outcome) -> None:
    """Until it answered a first commit of another member, none of a member that was killed could be taken."""
    assert judged([*repeats(since_ms), *commits], KILLED).outcome is outcome


def test_a_server_that_did_not_answer_is_a_reason() -> None:
    """For as long as it did not."""
    down = [event(EventKind.NODE_PAUSED, 9000, "broker-0"), event(EventKind.NODE_RESUMED, 14_000, "broker-0")]
    assert judged(repeats(8100), [*orderly(), *down]).outcome is Outcome.CONFORMS
    assert judged(repeats(7900), [*orderly(), *down]).outcome is Outcome.VIOLATES
    assert judged(repeats(13_100), [*orderly(), paused(1, 14_000)]).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(("written_ms", "outcome"), [(14_000, Outcome.VIOLATES), (14_999, Outcome.CONFORMS)])
def test_what_was_committed_is_not_read_again(written_ms: int, outcome: Outcome) -> None:
    """By ZooKeeper's log for members that begin there, though a crash may repeat as old ones; not at the very end."""
    written = [*joined(1), logged(5, written_ms, 1, offset(0, "3"))]
    assert judged(repeats(13_100), KILLED, written).outcome is outcome


def test_what_kafka_took_is_not_read_again_by_a_plain_consumer() -> None:
    """It begins at Kafka's offset."""
    killed = [member(1), member(2, NEW), wrote(1, "kafka"), follows(1, 2, "kafka"), *KILLED[2:]]
    assert judged([*repeats(13_100), answered(1, 14_000, 2)], killed).outcome is Outcome.CONFORMS
    assert judged([*repeats(13_100), answered(1, 14_000, 3)], killed).outcome is Outcome.VIOLATES


def test_a_node_that_goes_with_its_session_is_no_release() -> None:
    """Whatever the member reports: ZooKeeper closed its session, and nothing could be committed first."""
    own = [*joined(1), logged(3, 10, 1, owner(0, "c1-0"))]
    gone = [*own, closed(5, 14_995, 1)]
    assert judged(repeats(13_100), orderly(), gone).outcome is Outcome.CONFORMS
    deleted = [*own, logged(5, 15_010, 1, disowned(0))]
    assert judged(repeats(13_100), orderly(), deleted).outcome is Outcome.VIOLATES


def test_a_consumer_of_an_older_build_reads_the_offset_before_it_claims() -> None:
    """So that an orderly handover to it, or from it, may repeat a commit interval, and one more."""
    for kinds in ((OLD, WITH), (WITH, OLD)):
        assert judged(repeats(12_100), orderly(*kinds)).outcome is Outcome.CONFORMS
        assert judged(repeats(11_900), orderly(*kinds)).outcome is Outcome.VIOLATES
