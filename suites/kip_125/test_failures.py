"""Members and servers that fail: partitions are taken over in time, and never read by two."""

import pytest

from pytest_kmigrate import Cut, Kill, Pause, Role, targets
from pytest_kmigrate.documents.kip_125.kinds import (
    IDS,
    MIGRATING,
    NEW,
    PLAIN_ROUND_ROBIN,
    ROUND_ROBIN,
    SESSION_S,
    WITH,
    WITHOUT,
)

pytestmark = pytest.mark.topology("zk1-broker1")

TAKEN_OVER_S = SESSION_S + 3.0
"""Sessions are over within 1.5 s more on a machine that is quiet; a busy one takes its time."""
FAILED_OVER_S = 30.0
"""Another broker becomes the coordinator once the session of the one that crashed is over."""


@pytest.mark.requirement("K125-FAIL-kill-zk-mode", "K125-OWN-full-coverage")
def test_partitions_of_a_member_killed_in_zookeeper_mode_are_taken_over(group, inject, verify_group):
    """The others own its partitions after a session of ZooKeeper, and it gets its share when it is back."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    group.flow(1500)
    with inject(Kill(targets.member("MEZKCC-2"))):
        group.await_owned()
        group.await_followed("zookeeper")
        group.flow(500)
    group.await_owned(members)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.sample
@pytest.mark.requirement("K125-FAIL-kill-kafka-mode", "K125-OWN-full-coverage")
def test_partitions_of_a_member_killed_in_kafka_mode_are_taken_over(group, inject, verify_group):
    """The others own its partitions after the longer of both sessions, and the mode stays Kafka."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    group.toggle("kafka")
    group.flow(1500)
    with inject(Kill(targets.member("MEZKCC-2"))):
        group.await_owned()
        group.await_followed("kafka")
        group.flow(500)
    group.await_owned(members)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.requirement("K125-FAIL-freeze", "K125-OWN-exactly-one")
@pytest.mark.parametrize("mode", ["zookeeper", pytest.param("kafka", marks=pytest.mark.sample)])
def test_a_member_that_stood_still_reads_nothing_that_others_own(mode, group, inject, verify_group):
    """A member stands still for longer than its sessions; when it goes on, others own what it had."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    group.toggle(mode)
    group.flow(1000)
    with inject(Pause(targets.member("MEZKCC-3"))):
        group.await_owned_without(members[2])
        group.flow(1000)
    group.await_owned(members)
    group.flow(500)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.requirement("K125-FAIL-freeze", "K125-OWN-exactly-one")
def test_a_member_without_migration_that_stood_still_reads_nothing_either(group, inject, verify_group):
    """It stands still for longer than its session among members with migration, which take over what it had."""
    (older,) = group.join(WITHOUT)
    members = group.join(WITH, 2)
    group.await_owned([older, *members])
    group.flow(1000)
    with inject(Pause(targets.member("MDZKCC-1"))):
        group.await_owned_without(older)
        group.flow(1000)
    group.await_owned([older, *members])
    group.await_followed("zookeeper")
    group.flow(500)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.requirement("K125-FAIL-ekc-evicted")
def test_an_evicted_member_gives_way_to_plain_consumers(group, inject, verify_group):
    """A member with migration stands still beside a plain consumer, which takes over what it had in Kafka mode."""
    members = group.join(WITH, 2, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(2)
    group.toggle("kafka")
    group.await_owned(group.join(NEW, **PLAIN_ROUND_ROBIN))
    with inject(Pause(targets.member("MEZKCC-2"))):
        group.await_owned_without(members[1])
        group.flow(500)
    group.await_owned(members)
    group.flow(500)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.topology(zookeepers=1)
@pytest.mark.requirement("K125-FAIL-zk-outage-kafka-mode")
@pytest.mark.parametrize("stands_still_s", [2.8, pytest.param(1.0, marks=pytest.mark.sample)])
def test_nothing_is_passed_over_while_zookeeper_stands_still(stands_still_s, group, inject, verify_group):
    """Leases may run out while sessions survive: what was fetched meanwhile is read when ZooKeeper is back."""
    group.await_owned(group.join(WITH, 3, **ROUND_ROBIN))
    group.await_stable(3)
    group.toggle("kafka")
    group.flow(500)
    with inject(Pause(targets.node("zookeeper-1"))):
        group.flow(int(500 * stands_still_s))
    group.await_owned()
    group.flow(1500)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.requirement("K125-FAIL-zk-session-expiry", "K125-ZN-ids-ephemeral", "K125-ZN-registration-atomic")
def test_a_member_registers_anew_when_its_session_expired(group, zookeeper, expect, verify_group):
    """Its partitions change hands, and it is in both directories again with one new session."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    entries = [f"{each}/{members[0].consumer_id}" for each in (IDS, MIGRATING)]
    before = zookeeper.owner(entries[0])
    zookeeper.expire_session(before)
    expect(
        "both entries belong to one new session",
        lambda: [zookeeper.owner(each) not in (None, before) for each in entries],
        equals=[True, True],
        within_s=10,
        requirements=["K125-FAIL-zk-session-expiry"],
    )
    group.await_followed("zookeeper")
    group.flow(1000)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.topology(brokers=1)
@pytest.mark.requirement("K125-RBK-toggle-back", "K125-OFF-dual-commit-order")
def test_the_way_back_needs_no_coordinator(group, inject, expect, expect_to_stay, verify_group):
    """The mode is toggled back while the broker stands still: members follow ZooKeeper at once, and commit nothing."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    group.toggle("kafka")
    group.flow(500)
    with inject(Pause(targets.node("broker-0"))):
        group.write_mode("zookeeper")
        modes = lambda: sorted({group.modes()[each.client] for each in members})  # noqa: E731
        row = ["K125-RBK-toggle-back"]
        expect("what members follow", modes, equals=["zookeeper"], within_s=5, requirements=row)
        expect_to_stay("what they follow on", modes, equals=["zookeeper"], for_s=2, requirements=row)
    group.await_followed("zookeeper")
    group.flow(1000)

    verify_group(owned_within_s=SESSION_S + 5)


@pytest.mark.requirement("K125-FAIL-kill-during-toggle")
def test_a_member_is_killed_while_the_mode_changes(group, inject, verify_group):
    """Whenever it is killed after the write, the others own everything after the longer of both sessions."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    for mode, member, after in (("kafka", 1, 1), ("zookeeper", 2, 20), ("kafka", 3, 60), ("zookeeper", 1, 150)):
        group.write_mode(mode)
        group.flow(after)
        with inject(Kill(targets.member(f"MEZKCC-{member}"))):
            group.await_owned()
        group.await_owned(members)
        group.await_followed(mode)

    verify_group(owned_within_s=TAKEN_OVER_S)


@pytest.mark.topology("zk1-broker3")
@pytest.mark.requirement("K125-FAIL-coordinator-failover")
def test_a_group_survives_the_loss_of_its_coordinator(group, inject, expect, verify_group):
    """In ZooKeeper mode no partition moves; in Kafka mode the group goes on with the next coordinator."""
    row = "K125-FAIL-coordinator-failover"
    group.await_owned(group.join(WITH, 3, **ROUND_ROBIN))
    group.await_stable(3)
    group.toggle("zookeeper")
    moves = group.moves()
    with inject(Kill(targets.node(group.coordinator()))):
        group.flow(2000)
        expect("partitions that moved", lambda: group.moves() - moves, equals=0, requirements=[row])
        group.await_stable(3)
    group.toggle("kafka")
    with inject(Kill(targets.node(group.coordinator()))):
        group.flow(2000)
        group.await_stable(3)
        group.await_followed("kafka")
        group.flow(500)

    verify_group(owned_within_s=FAILED_OVER_S)


@pytest.mark.requirement("K125-MODE-missed-notification")
def test_a_toggle_that_a_member_missed_is_obeyed_later(group, inject, verify_group):
    """One member is cut off ZooKeeper for longer than its session while the mode changes, in both directions."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    for mode in ("kafka", "zookeeper"):
        with inject(Cut(targets.member("MEZKCC-2"), targets.every(Role.ZOOKEEPER))):
            group.flow(250)
            group.write_mode(mode)
            group.flow(2500)
        group.await_followed(mode)
        group.await_owned(members)
        group.flow(500)

    verify_group(owned_within_s=SESSION_S + 5)
