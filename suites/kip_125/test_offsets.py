"""Offsets in two stores: where a member begins, what it writes where, and what the broker takes from whom."""

import pytest

from pytest_kmigrate import Pause, targets
from pytest_kmigrate.documents.kip_125.kinds import NEW, OLD, WITH, WITHOUT

pytestmark = pytest.mark.topology("zk1-broker1")

FIRST = {0: (40, 10), 1: (10, 40), 2: (25, None), 3: (None, 25), 4: (15, 15)}
"""By partition, the offset in ZooKeeper and the one in Kafka: the larger one counts."""
IN_ZOOKEEPER = {number: 5 + number for number in range(12)}


@pytest.mark.sample
@pytest.mark.requirement("K125-OFF-fetch-max", "K125-OFF-simple-commit-rejected")
def test_a_member_begins_at_the_larger_offset(group, offsets, expect, verify):
    """Whichever store has it; and Kafka takes commits of others only while the group has no member."""
    group.flow(1000)
    offsets.store({each: stored for each, (stored, _) in FIRST.items() if stored is not None})
    given = {each: committed for each, (_, committed) in FIRST.items() if committed is not None}
    row = ["K125-OFF-simple-commit-rejected"]
    expect("a commit while the group is empty", lambda: offsets.commit(given), equals="", requirements=row)
    (member,) = group.join(WITH)
    group.await_owned([member])
    begun = {each: max(offset for offset in pair if offset is not None) for each, pair in FIRST.items()}
    expect(
        "where it begins",
        lambda: {each: group.first_positions(member)[each] for each in FIRST},
        equals=begun,
        requirements=["K125-OFF-fetch-max"],
    )
    group.await_stable(1)
    expect("a commit beside a member", lambda: offsets.commit(given), equals="UNKNOWN_MEMBER_ID", requirements=row)
    expect("it had no effect", lambda: offsets.behind(begun), equals=[], within_s=10, requirements=row)

    verify()


@pytest.mark.topology(brokers=1)
@pytest.mark.requirement("K125-OFF-fetch-max")
def test_a_member_begins_without_a_coordinator(group, offsets, inject, expect, verify):
    """While the coordinator does not answer, ZooKeeper's offsets count, after a bounded wait."""
    group.flow(1000)
    offsets.store(IN_ZOOKEEPER)
    with inject(Pause(targets.node("broker-0"))):
        (member,) = group.join(WITH)
        expect("where it begins", lambda: group.first_positions(member), equals=IN_ZOOKEEPER, within_s=15)

    verify()


@pytest.mark.requirement("K125-OFF-rollback-stale-zk")
def test_older_members_go_on_where_plain_consumers_were(group, offsets, expect, verify_group):
    """A real old consumer reads nothing again of partitions that brought nothing since the group had migrated."""
    row = ["K125-OFF-rollback-stale-zk"]
    old = group.join(WITHOUT, 2)
    group.await_owned(old)
    group.flow(1000)
    for member in old:
        member.stop()
    new = group.join(WITH)
    group.await_owned(new)
    group.await_stable(1)
    group.toggle("kafka")
    plain = group.join(NEW)
    group.await_owned(plain)
    new[0].stop()
    group.await_owned(plain)
    group.flow(1000)
    group.stop_sending()
    expect("all is read and committed", lambda: offsets.behind(offsets.ends()), equals=[], within_s=20)
    ends = offsets.ends()
    back = group.join(WITH)
    group.await_owned(back)
    plain[0].stop()
    group.await_owned(back)
    group.await_followed("kafka")
    expect("ZooKeeper has the group's position", offsets.stored, equals=ends, within_s=10, requirements=row)
    (older,) = group.join(OLD)
    group.await_owned([older])
    back[0].stop()
    group.await_owned([older])
    expect("where it begins", lambda: group.first_positions(older), equals=ends, requirements=row)

    verify_group(owned_within_s=5, read_within_s=10)
