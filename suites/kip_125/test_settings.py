"""Settings of a connector, and what it does with them."""

import pytest

from pytest_kmigrate import Kill, checks, targets
from pytest_kmigrate.documents.kip_125.bystanders import in_kafka, reactions_s
from pytest_kmigrate.documents.kip_125.kinds import IDS, MIGRATION, ROUND_ROBIN, SESSION_S, WITH, WITHOUT

pytestmark = pytest.mark.topology("zk1-broker1")

LONG_SESSION = {"coordination_migration_session_timeout_ms": "60000"}
LATER_S = 2 * SESSION_S
LATER_IN_ZOOKEEPER = {"zookeeper_session_timeout_ms": str(int(LATER_S * 1000))}
AUTO_COMMIT = {
    "coordination_migration_enable_auto_commit": "true",
    "coordination_migration_auto_commit_interval_ms": "100",
}
STALLED_MS = "6000"
QUICK = {
    "coordination_migration_poll_interval_ms": "100",
    "coordination_migration_heartbeat_interval_ms": "100",
}
TRIES = 10


@pytest.mark.requirement("K125-CFG-enabled-default", "K125-MEM-zk-rebalance-triggers")
def test_a_consumer_without_the_setting_takes_no_part(group, zookeeper, expect, verify_group):
    """Nothing of it is below ``migration`` or in Kafka's group; ZooKeeper's changes move partitions as ever."""
    row, triggers = "K125-CFG-enabled-default", "K125-MEM-zk-rebalance-triggers"
    members = group.join(WITHOUT, 2)
    group.await_owned(members)
    group.flow(500)
    expect("nothing is below migration", lambda: zookeeper.get(MIGRATION), equals=None, requirements=[row])
    expect("Kafka's group has no member", lambda: len(group.describe().members), equals=0, requirements=[row])
    moves = group.moves()
    group.write_mode("kafka")
    group.flow(1000)
    expect("partitions that the mode moved", lambda: group.moves() - moves, equals=0, requirements=[row])
    (third,) = group.join(WITHOUT)
    expect("a join: it owns a share", lambda: group.share(third), equals=4, within_s=10, requirements=[triggers])
    third.stop()
    expect("a leave: no partition is left", group.unowned, equals=0, within_s=10, requirements=[triggers])
    group.add_partitions(14)
    expect("new partitions: each has an owner", group.unowned, equals=0, within_s=10, requirements=[triggers])
    before = group.moves()
    zookeeper.expire_session(zookeeper.owner(f"{IDS}/{members[0].consumer_id}"))
    expect("a new session: it owns a share", lambda: group.moves() > before, equals=True, requirements=[triggers])
    expect("no partition is left by it", group.unowned, equals=0, within_s=10, requirements=[triggers])

    verify_group(owned_within_s=SESSION_S + 5)


@pytest.mark.requirement("K125-CFG-passthrough", "K125-FAIL-kill-zk-mode")
def test_prefixed_settings_are_the_embedded_consumers(group, inject, expect, verify_group):
    """Of two that are killed the coordinator waits a minute for the one that asked for it, and for the other 3 s.

    ZooKeeper expects both for longer: when it gives up, the member that is left waits for the coordinator already.
    """
    row = ["K125-CFG-passthrough"]
    both = ROUND_ROBIN | LATER_IN_ZOOKEEPER
    members = [*group.join(WITH, 2, **both), *group.join(WITH, **both, **LONG_SESSION)]
    group.await_owned(members)
    described = group.await_stable(3)
    expect("the assignor", lambda: described.assignor, equals="roundrobin", requirements=row)
    group.flow(500)
    left = sorted(each.consumer_id for each in (members[0], members[2]))
    with inject(Kill(targets.member("MEZKCC-2"))), inject(Kill(targets.member("MEZKCC-3"))):
        group.await_owned()
        known = lambda: sorted(group.describe().members)  # noqa: E731
        expect("who is a member yet", known, equals=left, within_s=20, requirements=row)
        group.flow(500)

    verify_group(owned_within_s=LATER_S + 1.5)


@pytest.mark.requirement(
    "K125-CFG-poll-interval-default", "K125-CFG-poll-interval-effect", "K125-MEM-dedicated-poll-thread"
)
def test_the_embedded_consumer_is_polled_whatever_the_application_does(group, cluster, claim, expect, verify):
    """The application reads nothing for longer than the poll timeout: the member stays, and rebalances are in time."""
    stalled = {"coordination_migration_max_poll_interval_ms": STALLED_MS}
    members = group.join(WITH, **stalled)
    members += group.join(WITH, coordination_migration_poll_interval_ms="4000", **stalled)
    group.await_owned(members)
    group.await_stable(2)
    interval = members[0].effective.get("poll.interval.ms")
    claim("the interval by default", interval, 1000, "K125-CFG-poll-interval-default")
    for each in members:
        each.order("pause-reading")
    decided = group.decisions()
    group.flow(4000)
    row = "K125-MEM-dedicated-poll-thread"
    expect("decisions about them", lambda: group.decisions() - decided, equals=0, requirements=[row])
    expect("they are members yet", lambda: len(group.describe().members), equals=2, requirements=[row])
    rows = ["K125-CFG-poll-interval-effect", "K125-CFG-poll-interval-default"]
    with in_kafka(cluster.client_connection()):
        expect(
            "a rebalance reaches both in time",
            lambda: group.decisions() - decided,
            equals=2,
            within_s=10,
            requirements=rows,
        )
    for each in members:
        each.order("resume-reading")
    group.flow(500)

    verify(checks.no_record_passed_over())


@pytest.mark.requirement("K125-CFG-poll-interval-effect")
def test_a_short_interval_brings_decisions_sooner(group, cluster, claim, expect, verify):
    """With an interval of 0.1 s, and heartbeats as often, most decisions reach a member in less than the default."""
    row = "K125-CFG-poll-interval-effect"
    (member,) = group.join(WITH, **QUICK)
    group.await_owned([member])
    group.await_stable(1)
    claim("the interval that was asked for", member.effective.get("poll.interval.ms"), 100, row)
    took_s = reactions_s(group, cluster.client_connection(), TRIES)
    expect(
        f"whether eight of ten decisions reached it within 0.5 s ({took_s})",
        lambda: took_s[TRIES * 8 // 10 - 1] <= 0.5,
        equals=True,
        requirements=[row],
    )
    group.flow(500)

    verify(checks.no_record_passed_over())


@pytest.mark.requirement("K125-CFG-ekc-no-autocommit")
def test_the_embedded_consumer_commits_no_position_of_its_own(group, offsets, expect, expect_to_stay, verify):
    """Though its auto commit is asked for, Kafka's offsets are those that were read, and never go back."""
    row = ["K125-CFG-ekc-no-autocommit"]
    group.await_owned(group.join(WITH, 2, **AUTO_COMMIT))
    group.await_stable(2)
    group.flow(1000)
    expect_to_stay("offsets that went back", offsets.gone_back, equals={}, for_s=5, requirements=row)
    ends = offsets.ends()
    expect("what was read is committed", lambda: offsets.behind(ends), equals=[], within_s=10, requirements=row)

    verify(checks.no_record_passed_over())
