"""Groups whose members report one thing and do another: what they read, and what ZooKeeper held, decides."""

import pytest

from pytest_kmigrate.documents.kip_125.checks.coordination.gauges import ACTIVE, gauges_show_what_members_do
from pytest_kmigrate.documents.kip_125.checks.coordination.membership import kafka_members_are_the_connectors
from pytest_kmigrate.documents.kip_125.checks.coordination.mode import (
    consumption_follows_the_chosen_system,
    mode_agreed_within,
)
from pytest_kmigrate.documents.kip_125.checks.ownership.coverage import no_needless_release
from pytest_kmigrate.documents.kip_125.checks.ownership.one_owner import one_owner_at_a_time
from pytest_kmigrate.documents.kip_125.checks.ownership.reading import partitions_are_read_within
from pytest_kmigrate.documents.kip_125.checks.znodes.layout import members_write_only_their_places
from pytest_kmigrate.documents.kip_125.checks.znodes.owners import partitions_are_read_under_owner_nodes
from pytest_kmigrate.documents.kip_125.checks.znodes.registration import (
    members_deregister_together,
    members_register_as_their_kind,
)
from pytest_kmigrate.documents.kip_125.kinds import NEW, OLD, TOPIC, WITH, WITHOUT
from pytest_kmigrate.model.event import Event, EventKind
from pytest_kmigrate.model.history import Transaction, Write
from pytest_kmigrate.model.verdict import Kind, Outcome, Verdict
from tests.unit.checkers.histories import event, history
from tests.unit.documents.kip_125.groups import (
    acked,
    assigned,
    closed,
    described,
    disowned,
    ended,
    follows,
    gauges,
    ids,
    joined,
    logged,
    member,
    migrating,
    owner,
    owns,
    paused,
    read,
    released,
    resumed,
    worked_until,
    wrote,
)

MINUTE = worked_until(60_000)


def violated(verdict: Verdict) -> list[str]:
    """The requirements that a verdict finds violated."""
    return [each.requirement for each in verdict.about if each.outcome is Outcome.VIOLATES]


def conforming(verdict: Verdict) -> set[str]:
    """The requirements that it finds fulfilled."""
    return {each.requirement for each in verdict.about if each.outcome is Outcome.CONFORMS}


# --- reading


def test_an_owner_that_reads_nothing_is_seen() -> None:
    """It is alive and owns the partition for a minute; that it reports to own it reads no record."""
    events = [member(1), owns(1, 10, 0), MINUTE]
    sent = [*acked(100, 1), *acked(30_000, 2), *acked(59_000, 3)]
    idle = partitions_are_read_within.judge(history(sent, events), at_most_s=4)
    assert (idle.outcome, idle.kind) == (Outcome.VIOLATES, Kind.LIVENESS)
    assert "no reader for 59.9 s, though MEZKCC-1 owned it" in idle.violations[0].observed
    reads = [*read(1, 150, 1), *read(1, 30_100, 2)]
    assert partitions_are_read_within.judge(history([*sent, *reads], events), at_most_s=4).outcome is Outcome.CONFORMS


def test_a_member_that_reads_only_in_one_mode_is_seen() -> None:
    """It owns the partition by Kafka's word from the toggle on, and goes on reading after the next one."""
    events = [member(1), owns(1, 10, 0), wrote(10_000, "kafka"), wrote(30_000, "zookeeper"), MINUTE]
    rows = [*acked(100, 1), *acked(15_000, 2), *read(1, 150, 1), *read(1, 31_000, 2)]
    verdict = partitions_are_read_within.judge(history(rows, events), at_most_s=4)
    assert verdict.facts["longest_s"] == 16
    assert verdict.outcome is Outcome.VIOLATES


def test_nothing_could_be_read_where_nothing_was_sent() -> None:
    """Nor is anything judged without a bound, or of records below the first position, or before the first owner."""
    events = [member(1), owns(1, 20_000, 0), MINUTE]
    assert partitions_are_read_within.judge(history(events=events), at_most_s=4).is_vacuous
    assert partitions_are_read_within.judge(history(acked(100, 1), events)).is_vacuous
    rows = [*acked(100, 1), *read(1, 20_100, 1)]
    assert partitions_are_read_within.judge(history(rows, events), at_most_s=4).outcome is Outcome.CONFORMS


# --- two owners


def owned_by(*more: Event) -> Verdict:
    """Two members own a partition from 10 s on; the first one reads it."""
    rows = [*read(1, 50, 1), *read(1, 20_000, 2), *read(1, 40_000, 3)]
    events = [member(1), member(2), owns(1, 10, 0), owns(2, 10_000, 0), *more, MINUTE]
    return one_owner_at_a_time.judge(history(rows, events))


def test_two_owners_are_seen_though_only_one_reads() -> None:
    """Unless the first gives it up at about the time at which the second begins."""
    assert "MEZKCC-1 and MEZKCC-2 owned it for 50.0 s" in owned_by().violations[0].observed
    assert owned_by(released(2, 30_000, 0)).outcome is Outcome.VIOLATES
    assert owned_by(released(2, 10_900, 0)).outcome is Outcome.CONFORMS


def test_a_member_that_stood_still_gives_its_claim_up_late() -> None:
    """So does one whose session ZooKeeper had closed; it must not read meanwhile."""
    late = [paused(1, 5000), resumed(1, 20_000), released(1, 20_100, 0)]
    rows = [*read(1, 50, 1), *read(2, 15_000, 2)]
    events = [member(1), member(2), owns(1, 10, 0), owns(2, 10_000, 0), MINUTE]
    assert one_owner_at_a_time.judge(history(rows, [*events, *late])).outcome is Outcome.CONFORMS
    assert one_owner_at_a_time.judge(history(rows, [*events, *late[2:]])).outcome is Outcome.VIOLATES
    gone = [*joined(1), closed(5, 9000, 1)]
    closing = history(rows, [*events, *late[2:]], transactions=gone)
    assert one_owner_at_a_time.judge(closing).outcome is Outcome.CONFORMS


def test_a_reader_that_claims_nothing_is_seen() -> None:
    """Also after it has given the partition up, and where no other member reads at that time."""
    events = [member(1), member(2), owns(1, 10, 0), released(1, 5000, 0), owns(2, 30_000, 0), MINUTE]
    rows = [*read(1, 50, 1), *read(2, 40_000, 3)]
    assert one_owner_at_a_time.judge(history(rows, events)).outcome is Outcome.CONFORMS
    for client, at_ms in ((1, 7000), (2, 20_000)):
        verdict = one_owner_at_a_time.judge(history([*rows, *read(client, at_ms, 2)], events))
        assert "reads orders-0 only while it reports to own it" in verdict.violations[0].expected


# --- modes

KAFKA = [member(1), member(2, NEW), wrote(1000, "kafka"), follows(1, 1020, "kafka")]
FLAP = [follows(1, 20_000, "zookeeper"), follows(1, 24_000, "kafka")]


def test_a_member_that_leaves_the_mode_for_a_moment_is_seen() -> None:
    """By its own report, though the node was not written, and it follows Kafka again after 4 s."""
    assert mode_agreed_within.judge(history(events=[*KAFKA, MINUTE])).outcome is Outcome.CONFORMS
    verdict = mode_agreed_within.judge(history(events=[*KAFKA, *FLAP, MINUTE]))
    assert {"K125-MODE-watch-create", "K125-MODE-kafka"} <= set(violated(verdict))
    early = mode_agreed_within.judge(history(events=[member(1), follows(1, 500, "kafka"), MINUTE]))
    assert violated(early) == ["K125-MODE-absent-is-zk"]


@pytest.mark.parametrize("reported", [[], FLAP])
def test_what_it_reads_twice_meanwhile_is_no_unsupported_mix(reported: list[Event]) -> None:
    """Kafka decides all the time, whether or not the member reports that it follows ZooKeeper for a while."""
    reads = [row for at in range(20_100, 23_900, 200) for client in (1, 2) for row in read(client, at + client, at)]
    events = [*KAFKA, owns(1, 2000, 0), owns(2, 20_050, 0), *reported, MINUTE]
    verdict = one_owner_at_a_time.judge(history(reads, events))
    assert (verdict.outcome, verdict.facts["unsupported"]) == (Outcome.VIOLATES, 0)


def test_a_member_that_stood_still_reports_what_it_had_read() -> None:
    """And corrects itself when it goes on; of writes in quick succession it may report each."""
    still = [paused(1, 9000), wrote(10_000, "zookeeper"), wrote(17_000, "kafka"), resumed(1, 25_000)]
    corrected = [follows(1, 25_010, "zookeeper"), follows(1, 25_020, "kafka")]
    assert violated(mode_agreed_within.judge(history(events=[*KAFKA, *still, *corrected, MINUTE]))) == []
    burst = [wrote(10_000, "zookeeper"), wrote(10_010, "kafka"), wrote(10_020, "zookeeper"), wrote(10_030, "kafka")]
    each = [
        follows(1, at_ms, mode) for at_ms, mode in ((10_040, "zookeeper"), (10_050, "kafka"), (10_060, "zookeeper"))
    ]
    last = follows(1, 10_070, "kafka")
    assert violated(mode_agreed_within.judge(history(events=[*KAFKA, *burst, *each, last, MINUTE]))) == []


def test_an_older_member_counts_while_it_is_registered() -> None:
    """By ZooKeeper's log, not by the lines that it prints: it registers long after it was constructed."""
    older = [member(3, WITHOUT, 10_000), ended(3, 45_000, kind=WITHOUT)]
    log = [*joined(1), logged(8, 20_000, 3, ids(3)), logged(9, 40_000, 3, ids(3, "delete", None))]
    events = [*KAFKA, *older, follows(1, 20_050, "zookeeper"), follows(1, 40_050, "kafka"), MINUTE]
    assert violated(mode_agreed_within.judge(history(events=events, transactions=log))) == []
    never = [*KAFKA, *older, follows(1, 10_050, "zookeeper"), follows(1, 45_050, "kafka"), MINUTE]
    verdict = mode_agreed_within.judge(history(events=never, transactions=joined(1)))
    assert violated(verdict) == []  # nothing is logged of the older one: its lines are all there is


def test_what_is_read_follows_the_chosen_system_too() -> None:
    """Members claim what Kafka assigns, and read what ZooKeeper would."""
    mode = [wrote(1000, "kafka"), follows(1, 1020, "kafka"), follows(2, 1020, "kafka")]
    kafka = [assigned(1, 900, 1), assigned(2, 900, 0)]
    kafka += [owns(1, 1060, 1, source="kafka"), owns(2, 1060, 0, source="kafka")]
    events = [member(1), member(2), *kafka, *mode, MINUTE]
    right = [*read(1, 59_800, 5, partition=1), *read(2, 59_800, 5)]
    assert consumption_follows_the_chosen_system.judge(history(right, events)).outcome is Outcome.CONFORMS
    wrong = [*read(1, 59_800, 5), *read(2, 59_800, 5, partition=1)]
    verdict = consumption_follows_the_chosen_system.judge(history(wrong, events))
    assert violated(verdict) == ["K125-MODE-kafka", "K125-MET-active-one"]


def test_a_gauge_that_never_had_to_change_is_not_judged() -> None:
    """A constant conforms to it; it is wrong all the same where it shows another value."""
    shown = {ACTIVE: 0.0}
    still = [member(1), follows(1, 10, "zookeeper"), gauges(1, 30, shown), MINUTE]
    assert "K125-MET-active-zero" not in conforming(gauges_show_what_members_do.judge(history(events=still)))
    toggled = [*still, wrote(20_000, "kafka"), follows(1, 20_010, "kafka"), gauges(1, 20_020, {ACTIVE: 1.0})]
    verdict = gauges_show_what_members_do.judge(history(events=toggled))
    assert {"K125-MET-active-zero", "K125-MET-active-one"} <= conforming(verdict)
    constant = [*still, wrote(20_000, "kafka"), follows(1, 20_010, "kafka"), gauges(1, 20_020, shown)]
    assert "K125-MET-active-one" in violated(gauges_show_what_members_do.judge(history(events=constant)))


def test_a_member_that_reports_another_assignment_than_the_coordinator_is_seen() -> None:
    """What Kafka's coordinator describes counts; the member has a poll interval to learn of it."""
    events = [member(1), assigned(1, 1000, 0), MINUTE]
    same, other = {"c1": [[TOPIC, 0]]}, {"c1": [[TOPIC, 0], [TOPIC, 1]]}
    right = [*events, described(2000, same), described(20_000, same)]
    verdict = kafka_members_are_the_connectors.judge(history(events=right))
    assert "K125-MEM-rebalance-listener" in conforming(verdict)
    wrong = [*events, described(2000, other), described(20_000, other)]
    assert violated(kafka_members_are_the_connectors.judge(history(events=wrong))) == ["K125-MEM-rebalance-listener"]
    down = [event(EventKind.NODE_STOPPED, 9000, "broker-0", how="killed"), *wrong]
    assert violated(kafka_members_are_the_connectors.judge(history(events=down))) == []
    soon = [*events, described(2000, other), described(8000, other)]
    assert violated(kafka_members_are_the_connectors.judge(history(events=soon))) == []


def test_a_member_without_migration_has_no_member_in_kafkas_group() -> None:
    """By the coordinator's description: what it registers in ZooKeeper does not show an embedded consumer."""
    events = [member(1), member(2, WITHOUT), assigned(1, 1000, 0), MINUTE]
    alone = kafka_members_are_the_connectors.judge(history(events=[*events, described(2000, {"c1": [[TOPIC, 0]]})]))
    assert "K125-CFG-mdzkcc-no-ekc" in conforming(alone)
    for other in ("c2", "unknown"):
        both = described(2000, {"c1": [[TOPIC, 0]], other: []})
        assert "K125-CFG-mdzkcc-no-ekc" in violated(
            kafka_members_are_the_connectors.judge(history(events=[*events, both]))
        )


def test_a_change_of_the_mode_that_no_owner_meets_is_not_judged() -> None:
    """Nothing can be released needlessly where nothing is owned."""
    events = [member(1), wrote(1000, "kafka"), owns(1, 20_000, 0), MINUTE]
    assert no_needless_release.judge(history(events=events)).is_vacuous
    assert conforming(no_needless_release.judge(history(events=[*events, wrote(30_000, "zookeeper")])))


def test_state_outside_of_the_group_is_seen() -> None:
    """A member with migration that keeps its state elsewhere in ZooKeeper."""
    log = [*joined(1), logged(7, 7, 1, Write("create", "/kip125/c1", ""))]
    verdict = members_write_only_their_places.judge(history(events=[member(1), MINUTE], transactions=log))
    assert violated(verdict) == ["K125-ZN-parent"]
    parents = [*joined(1), logged(7, 7, 1, Write("create", "/consumers", ""))]
    assert not violated(members_write_only_their_places.judge(history(events=[member(1)], transactions=parents)))


# --- owner nodes


@pytest.mark.parametrize(
    ("created_ms", "deleted_ms", "outcome"),
    [
        (1900, 30_100, Outcome.CONFORMS),
        (12_000, 30_100, Outcome.VIOLATES),  # 10 s after the first record
        (1900, 20_000, Outcome.VIOLATES),  # 10 s before the last
    ],
)
@pytest.mark.parametrize("kind", [WITH, WITHOUT, OLD])
def test_a_partition_is_read_under_its_owner_node(
    kind: str, created_ms: int, deleted_ms: int, outcome: Outcome
) -> None:
    """Not only claimed: a member that creates the node later, or deletes it earlier, reads without it."""
    events = [member(1, kind), owns(1, 2000, 0), released(1, 30_050, 0), MINUTE]
    rows = [*read(1, 2100, 1), *read(1, 15_000, 2), *read(1, 30_000, 3)]
    own = [logged(4, created_ms, 1, owner(0, "c1-0")), logged(9, deleted_ms, 1, disowned(0))]
    run = history(rows, events, transactions=[*joined(1), *own])
    assert partitions_are_read_under_owner_nodes.judge(run).outcome is outcome


def test_an_owner_node_is_gone_with_its_session() -> None:
    """A member that reads on for longer than it takes to learn of it is seen; another session is the same member's."""
    own = [*joined(1), logged(4, 1900, 1, owner(0, "c1-0")), closed(5, 10_000, 1)]
    events = [member(1), owns(1, 2000, 0), MINUTE]
    rows = [*read(1, 2100, 1), *read(1, 10_500, 2)]
    assert (
        partitions_are_read_under_owner_nodes.judge(history(rows, events, transactions=own)).outcome is Outcome.CONFORMS
    )
    late = history([*rows, *read(1, 12_000, 3)], events, transactions=own)
    assert partitions_are_read_under_owner_nodes.judge(late).outcome is Outcome.VIOLATES
    again = [*own, logged(6, 11_000, 7, migrating(1), ids(1)), logged(7, 11_100, 7, owner(0, "c1-0"))]
    run = history([*rows, *read(1, 12_000, 3)], events, transactions=again)
    assert partitions_are_read_under_owner_nodes.judge(run).outcome is Outcome.CONFORMS


def test_owner_nodes_are_not_asked_for_while_kafka_decides() -> None:
    """The document asks for them where ZooKeeper does, from when members must have agreed on that."""
    events = [member(1), owns(1, 2000, 0), wrote(1000, "kafka"), follows(1, 1010, "kafka")]
    rows = [*read(1, 2100, 1), *read(1, 30_000, 2)]
    run = history(rows, [*events, MINUTE], transactions=joined(1))
    assert partitions_are_read_under_owner_nodes.judge(run).is_vacuous
    back = history(rows, [*events, wrote(20_000, "zookeeper"), MINUTE], transactions=joined(1))
    assert partitions_are_read_under_owner_nodes.judge(back).outcome is Outcome.VIOLATES


# --- registration


@pytest.mark.parametrize(
    ("again", "rows"),
    [
        ([logged(8, 20_000, 7, migrating(1), ids(1))], []),
        ([logged(8, 20_000, 7, ids(1)), logged(9, 20_500, 7, migrating(1))], ["K125-ZN-registration-atomic"]),
        ([logged(8, 20_000, 7, ids(1))], ["K125-ZN-ids-ephemeral"]),
    ],
)
def test_a_member_registers_anew_as_it_did_first(again: list[Transaction], rows: list[str]) -> None:
    """When its session has expired, too: in both directories at once."""
    log = [*joined(1), closed(5, 10_000, 1), *again]
    verdict = members_register_as_their_kind.judge(history(events=[member(1), MINUTE], transactions=log))
    assert violated(verdict) == rows


def test_a_member_leaves_both_directories_together_each_time() -> None:
    """Also if it is not its last time, and nothing ordered it to."""
    apart = [logged(5, 10_000, 1, migrating(1, "delete")), logged(6, 10_500, 1, ids(1, "delete", None))]
    rejoined = [logged(8, 20_000, 7, migrating(1), ids(1))]
    together = [logged(9, 30_000, 7, ids(1, "delete", None), migrating(1, "delete"))]
    log: list[Transaction] = [*joined(1), *apart, *rejoined, *together]
    run = history(events=[member(1), ended(1, 31_000), MINUTE], transactions=log)
    assert members_deregister_together.judge(run).outcome is Outcome.VIOLATES
