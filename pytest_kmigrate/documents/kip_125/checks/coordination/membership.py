"""Checks of the embedded consumer's membership: one member of the same group for each connector, that commits."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.ownership import client_of, happened_ns
from pytest_kmigrate.checkers.evidence.spans import FOREVER
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.assignments import assigned_at
from pytest_kmigrate.documents.kip_125.evidence.committing import members_of, unanswered_ns
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, has_members, lives
from pytest_kmigrate.documents.kip_125.evidence.outages import stood_still
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.event import Recorded
from pytest_kmigrate.model.events.members import GroupDescribed, MemberAssigned, MemberOwns, MemberPaused
from pytest_kmigrate.model.events.nodes import NodePaused, NodeStopped
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.verdict import Verdict

_CLIENT_ID, _GROUP_ID = "K125-CFG-ekc-client-id", "K125-CFG-ekc-group-id"
_DUAL, _ONE, _KC = "K125-MEM-dual-participation", "K125-KIND-one-ekc-per-connector", "K125-KIND-kc-unmodified"
_COMMIT, _LISTENER = "K125-OFF-commit-via-ekc", "K125-MEM-rebalance-listener"
_NO_EKC = "K125-CFG-mdzkcc-no-ekc"
_ROWS = (_CLIENT_ID, _GROUP_ID, _DUAL, _ONE, _KC, _LISTENER, _NO_EKC)
_INFORMED_NS = 10_000_000_000
"""A poll interval of a test, a heartbeat and more."""
_JOINED_NS = 15_000_000_000
"""A member without any decision of the coordinator by then has not joined."""


@checker(*_ROWS, in_every_run=lambda history: bool(history.of(GroupDescribed)))
def kafka_members_are_the_connectors(history: History) -> Verdict:
    """A stable group of Kafka has one member for each live connector with migration, whose client id is its id.

    Plain KafkaConsumers are members by the client id that they were given; there is no other, and no partition is
    assigned twice. What a connector reports as assigned to it is what the coordinator describes, or soon will be.
    """
    rows = ByRequirement(*_ROWS)
    described = [event for event in history.of(GroupDescribed) if event.what.state == "STABLE"]
    count = 0
    for event in described:
        known = [each for each in lives(history).values() if each.began_ns < event.at_ns]
        count += 1
        _judge(history, rows, event, known)
    _informed(history, rows, described)
    text = f"{counted(count, 'description')} of a stable group, each with exactly the members that live"
    return rows.verdict(text, "the group was never described while it was stable")


def _judge(history: History, rows: ByRequirement, event: Recorded[GroupDescribed], known: list[Life]) -> None:
    described = members_of(event)
    alive = [each for each in known if event.at_ns < each.ended_ns]
    # The coordinator keeps a member that crashed until its session is over.
    crashed = {each.consumer_id for each in known if each.ended_ns <= event.at_ns and each.how != "stopped"}
    members = {client: those for client, those in described.items() if client not in crashed}
    asked_ns = event.what.asked_ns
    has_joined = [each for each in alive if _has_joined(history, each, asked_ns)]
    connectors = {each.consumer_id for each in has_joined if each.is_migrating}
    plain = {each.consumer_id for each in has_joined if not each.is_of_zookeeper}
    older = {each.consumer_id for each in alive if each.is_of_zookeeper and not each.is_migrating}
    assigned = [tuple(each) for those in members.values() for each in those]
    of_group = {each.consumer_id for each in alive} - older
    judged = {
        _CLIENT_ID: not connectors <= members.keys(),
        _DUAL: not connectors <= members.keys(),
        _GROUP_ID: bool(connectors and plain) and len(assigned) != len(set(assigned)),
        _ONE: bool(connectors) and not connectors | plain <= members.keys() <= of_group,
        _KC: not plain <= members.keys(),
    }
    rows.looked_at(_NO_EKC, int(bool(older)))
    if older and not members.keys() <= of_group:
        expected = f"{', '.join(sorted(older))}, without migration, has no member in Kafka's group"
        rows.violated(_NO_EKC, timed_violation(history, expected, f"it has {sorted(members)}", event.at_ns))
    for row, is_wrong in judged.items():
        if (plain if row == _KC else connectors) and (row != _GROUP_ID or plain):
            rows.looked_at(row)
        if is_wrong or (row == _CLIENT_ID and older & members.keys()):
            expected = f"Kafka's group has the members {sorted(connectors | plain)}, and no partition twice"
            rows.violated(row, timed_violation(history, expected, f"it has {sorted(members)}", event.at_ns))


def _informed(history: History, rows: ByRequirement, described: Sequence[Recorded[GroupDescribed]]) -> None:
    """A connector that the coordinator describes with other partitions than it reported, and still does later."""
    for life in (each for each in lives(history).values() if each.is_migrating):
        mine = [event for event in described if life.consumer_id in members_of(event)]
        for event in mine:
            until_ns = event.at_ns + _INFORMED_NS
            held = {(str(topic), int(str(number))) for topic, number in members_of(event)[life.consumer_id]}
            later = [e for e in mine if e.at_ns > until_ns and _same(e, event, life)]
            if not later or stood_still(history, life.member, event.at_ns, later[0].at_ns):
                continue
            if unanswered_ns(history, event.at_ns, later[0].at_ns):
                continue  # the next coordinator describes what it had read, until members have joined anew
            rows.looked_at(_LISTENER)
            reported = assigned_at(history, life.client, later[0].at_ns)
            if reported != held:
                expected = f"{life.member} is informed that the coordinator assigns it {sorted(held)}"
                observed = f"it reported {sorted(reported or ())}"
                rows.violated(_LISTENER, timed_violation(history, expected, observed, later[0].at_ns))


def _same(one: Recorded[GroupDescribed], other: Recorded[GroupDescribed], life: Life) -> bool:
    return list(members_of(one)[life.consumer_id]) == list(members_of(other)[life.consumer_id])


def _has_joined(history: History, life: Life, at_ns: int) -> bool:
    """Whether a member had joined Kafka's group: that takes a moment after it was constructed."""
    joined = history.of(MemberAssigned) if life.is_migrating else history.of(MemberOwns)
    reported = any(client_of(event) == life.client and happened_ns(event) < at_ns for event in joined)
    return reported or life.began_ns + _JOINED_NS < at_ns


@checker(_COMMIT, in_every_run=has_members)
def commits_are_those_of_members(history: History) -> Verdict:
    """A connector commits to Kafka as a member: also for partitions that its embedded consumer is not assigned.

    A commit without membership is refused as UNKNOWN_MEMBER_ID while the group has members. The group may go on without
    members that stood still, and without those that did not reach its coordinator while that was down: these are left
    out.
    """
    rows = ByRequirement(_COMMIT)
    stood_still = {event.what.member for event in history.of(MemberPaused)}
    known = lives(history).values()
    migrating = {each.client for each in known if each.is_migrating and each.member not in stood_still}
    commits = history.operations.of(OperationKind.COMMIT)
    down = history.of(NodeStopped, NodePaused)
    lost_ns = min((event.at_ns for event in down if str(event.node).startswith("broker")), default=FOREVER)
    foreign = 0
    for row in range(len(commits)):
        client, at_ns = int(commits.client[row]), int(commits.ended_ns[row])
        if client not in migrating or at_ns > lost_ns:
            continue
        if commits.outcome[row] == OperationOutcome.FAILED and commits.error[row] == "UNKNOWN_MEMBER_ID":
            expected, observed = "a connector commits as a member of the group", "a commit met UNKNOWN_MEMBER_ID"
            rows.violated(_COMMIT, timed_violation(history, expected, observed, at_ns))
        assigned = assigned_at(history, client, at_ns)
        partition = (str(commits.topic[row]), int(commits.partition[row]))
        foreign += commits.outcome[row] == OperationOutcome.OK and assigned is not None and partition not in assigned
    rows.looked_at(_COMMIT, foreign)
    text = f"{counted(foreign, 'commit')} of partitions that the embedded consumer did not hold, all accepted"
    return rows.verdict(text, "no connector committed a partition that its embedded consumer did not hold")
