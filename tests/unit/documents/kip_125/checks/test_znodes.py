"""Checks of what members write to ZooKeeper, each with a group that conforms and one with a planted defect."""

import pytest

from pytest_kmigrate.documents.kip_125.checks.znodes.commits import zookeeper_offsets_follow_kafkas
from pytest_kmigrate.documents.kip_125.checks.znodes.layout import (
    members_write_only_their_places,
    owners_and_offsets_are_as_before,
    zookeeper_offsets_never_run_backwards,
)
from pytest_kmigrate.documents.kip_125.checks.znodes.registration import (
    ids_payload_is_version_1,
    members_deregister_together,
    members_register_as_their_kind,
)
from pytest_kmigrate.documents.kip_125.kinds import MODE, ROOT, TOPIC, WITHOUT
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.verdict import Outcome, Verdict
from tests.unit.checkers.histories import committed, event, history
from tests.unit.documents.kip_125.groups import (
    ended,
    ids,
    joined,
    logged,
    member,
    migrating,
    offset,
    owner,
    owns,
    paused,
    read,
    released,
    wrote,
)


def violated(verdict: Verdict) -> list[str]:
    """The requirements that a verdict finds violated."""
    return [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES]


@pytest.mark.parametrize(
    ("transactions", "rows"),
    [
        (joined(1), []),
        ([logged(1, 1, 1, ids(1))], ["K125-ZN-ids-registration"]),
        ([logged(1, 1, 1, ids(1)), logged(2, 2, 1, migrating(1))], ["K125-ZN-registration-atomic"]),
        ([logged(1, 1, 1, migrating(1, is_ephemeral=False), ids(1))], ["K125-ZN-ids-ephemeral"]),
        ([logged(1, 1, 2, migrating(1)), logged(2, 2, 1, ids(1))], ["K125-ZN-ids-ephemeral"]),
    ],
)
def test_a_member_with_migration_is_in_both_directories(transactions: list[Transaction], rows: list[str]) -> None:
    """Both entries go with one session, and it is never in ids alone."""
    verdict = members_register_as_their_kind.judge(history(events=[member(1)], transactions=transactions))
    assert violated(verdict) == rows


def test_a_member_without_migration_is_in_ids_alone() -> None:
    """One that pretends to follow the mode would keep the group from noticing it."""
    for transactions, outcome in (([logged(1, 1, 1, ids(1))], Outcome.CONFORMS), (joined(1), Outcome.VIOLATES)):
        run = history(events=[member(1, WITHOUT)], transactions=transactions)
        assert members_register_as_their_kind.judge(run).outcome is outcome


def test_a_member_leaves_both_directories_together() -> None:
    """One that leaves the directory of those that migrate first looks like an older member for a moment."""
    events = [member(1), ended(1, 100)]
    together = logged(9, 90, 1, ids(1, "delete", None), migrating(1, "delete"))
    run = history(events=events, transactions=[*joined(1), together])
    assert members_deregister_together.judge(run).outcome is Outcome.CONFORMS
    apart = [logged(9, 90, 1, migrating(1, "delete")), logged(10, 91, 1, ids(1, "delete", None))]
    run = history(events=events, transactions=[*joined(1), *apart])
    assert members_deregister_together.judge(run).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    "payload",
    [
        '{"version": 2}',
        "no JSON",
        '{"version": 1, "subscription": {}, "pattern": "static", "timestamp": "1", "mig": 1}',
    ],
)
def test_another_payload_is_seen(payload: str) -> None:
    """Members of older builds would not read it."""
    events = [member(1)]
    assert ids_payload_is_version_1.judge(history(events=events, transactions=joined(1))).outcome is Outcome.CONFORMS
    changed = [logged(1, 1, 1, ids(1, data=payload))]
    assert ids_payload_is_version_1.judge(history(events=events, transactions=changed)).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("write", "rows"),
    [
        (Write("create", MODE, "zookeeper"), ["K125-ZN-mode-values", "K125-ZN-mode-readonly-for-members"]),
        (Write("set-data", MODE, "zookeeper"), ["K125-ZN-mode-values", "K125-ZN-mode-readonly-for-members"]),
        (Write("create", f"{ROOT}/kafka-mode", ""), ["K125-ZN-parent"]),
        (Write("create", f"{ROOT}/migration", "", is_ephemeral=True), ["K125-ZN-parent"]),
        (owner(0, "c1-0"), []),
        (Write("set-acl", MODE, None), []),
    ],
)
def test_members_write_only_their_own_places(write: Write, rows: list[str]) -> None:
    """A fallback that is written into the mode node, and state elsewhere, are seen."""
    run = history(events=[member(1), wrote(5, "kafka")], transactions=[*joined(1), logged(7, 7, 1, write)])
    assert violated(members_write_only_their_places.judge(run)) == rows


@pytest.mark.parametrize(
    ("write", "rows"),
    [
        (owner(0, "c1-0"), []),
        (owner(0, "c2-0"), ["K125-ZN-owners-layout"]),
        (owner(0, "c1-0", is_ephemeral=False), ["K125-ZN-owners-layout"]),
        (offset(0, "17"), []),
        (offset(0, '{"offset": 17}'), ["K125-ZN-offsets-layout"]),
    ],
)
def test_owners_and_offsets_are_as_older_members_have_them(write: Write, rows: list[str]) -> None:
    """A node that names no thread of its session's member, and an offset that is no decimal text, are seen."""
    run = history(events=[member(1)], transactions=[*joined(1), logged(7, 7, 1, write)])
    assert violated(owners_and_offsets_are_as_before.judge(run)) == rows


def test_a_former_owner_does_not_set_the_offset_back() -> None:
    """It is looked at in every run; it speaks for those in which a member stood still."""
    forth = [*joined(1), logged(7, 7, 1, offset(0, "17")), logged(8, 8, 2, offset(0, "30"))]
    stood_still = [member(1), paused(1, 5)]
    run = history(events=stood_still, transactions=forth)
    assert zookeeper_offsets_never_run_backwards.judge(run).outcome is Outcome.CONFORMS
    assert zookeeper_offsets_never_run_backwards.judge(history(events=[member(1)], transactions=forth)).is_vacuous
    back = [*forth, logged(9, 9, 1, offset(0, "20"))]
    run = history(events=stood_still, transactions=back)
    assert zookeeper_offsets_never_run_backwards.judge(run).outcome is Outcome.VIOLATES


@pytest.mark.parametrize(
    ("answered_ms", "outcome"), [(2990, Outcome.CONFORMS), (9000, Outcome.VIOLATES), (None, Outcome.VIOLATES)]
)
def test_an_offset_in_zookeeper_that_kafka_has_not_taken_is_seen(answered_ms: int | None, outcome: Outcome) -> None:
    """Kafka answers later, or never; the offset at which a member begins needs no answer."""
    events = [member(1), owns(1, 20, 0), event(EventKind.NODE_PAUSED, 3000, "broker-0")]
    rows = read(1, 2500, 7, 8)
    rows += [committed(7, answered_ms, client=1, topic=TOPIC, partition=0)] if answered_ms else []
    transactions = [*joined(1), logged(2, 15, 1, offset(0, "0")), logged(3, 5000, 1, offset(0, "7"))]
    run = history(rows, events, transactions=transactions)
    assert zookeeper_offsets_follow_kafkas.judge(run).outcome is outcome


STILL = [event(EventKind.NODE_PAUSED, 4000, "broker-0"), event(EventKind.NODE_RESUMED, 6000, "broker-0")]


@pytest.mark.parametrize(
    ("events", "committed_offset", "is_vacuous"),
    [
        ([], None, True),  # no broker stands still: both stores are written within milliseconds, in whichever order
        (STILL, None, False),
        (STILL, 7, False),  # 8 is read, and not committed
        (STILL, 9, True),  # nothing is left to commit
        ([*STILL, released(1, 4500, 0)], None, True),  # given up before the next commit is due
        ([STILL[0], event(EventKind.NODE_RESUMED, 4500, "broker-0")], None, True),
    ],
)
def test_dual_commit_is_judged_where_a_member_would_commit(
    events: list[Event], committed_offset: int | None, is_vacuous: bool
) -> None:
    """It had read more than it had committed when the broker stopped, and owned it for an interval after that."""
    rows = read(1, 3500, 7, 8)
    rows += [committed(committed_offset, 3600, client=1, topic=TOPIC, partition=0)] if committed_offset else []
    run = history(rows, [member(1), owns(1, 20, 0), *events], transactions=joined(1))
    verdict = zookeeper_offsets_follow_kafkas.judge(run)
    assert verdict.is_vacuous is is_vacuous
    assert verdict.outcome is (Outcome.INCONCLUSIVE if is_vacuous else Outcome.CONFORMS)
