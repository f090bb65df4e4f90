"""The whole way: from members of an old build to plain KafkaConsumers, and back, while the group reads."""

import os

import pytest

from pytest_kmigrate import Role, Slow, checks, targets
from pytest_kmigrate.documents.kip_125.kinds import JAVA, MIGRATING, NEW, OLD, WITH, WITHOUT

pytestmark = pytest.mark.topology("zk1-broker1")

SOAK_S = int(os.environ.get("KMIGRATE_SOAK_S", "600"))
"""How long a canary is left alone at night."""
OLD_JOINED_S = 4.5
"""A claim that an old consumer misses costs it ``rebalance.backoff.ms``, 2 s, and a new rebalance."""
OLD_READ_S = 10.0
"""A JVM that has just started is slow with what was sent before."""
JOINED_S = 2.5
"""A member of a Kafka group learns of a rebalance by its next heartbeat, up to a second later, and then joins anew."""


@pytest.mark.requirement(
    "K125-PLAN-e2e",
    "K125-OWN-mixed-roll",
    "K125-OWN-kc-roll",
    "K125-AVL-no-downtime-roll",
    "K125-OFF-handover-forward",
    "K125-CFG-ekc-client-id",
    "K125-CFG-ekc-group-id",
    "K125-MEM-dual-participation",
)
def test_a_group_migrates_without_a_pause(group, expect, verify_group):
    """Real old consumers are replaced one by one, the mode is toggled, and no record is missed or read by two."""
    old = group.join(OLD)
    group.await_owned(old)
    group.flow(1000)  # its offsets are stored by then: this tool begins otherwise where it finds none
    old += group.join(OLD, 2)
    group.await_owned(old)
    for member in old:
        group.await_owned(group.join(WITH))
        member.stop()
    group.await_followed("zookeeper")
    group.await_stable(3)
    group.toggle("kafka")
    for member in group.alive(WITH):
        group.await_owned(group.join(NEW))
        group.describe()
        member.stop()
    group.await_owned(group.alive(NEW))
    group.await_stable(3)
    group.flow(1000)
    expect("no connector is left", lambda: len(group.alive(WITH)), equals=0, requirements=["K125-PLAN-e2e"])

    verify_group(owned_within_s=OLD_JOINED_S, read_within_s=OLD_READ_S)


@pytest.mark.requirement(
    "K125-RBK-e2e",
    "K125-RBK-kc-to-mezkcc",
    "K125-RBK-mezkcc-to-old",
    "K125-MODE-fallback-on-join",
    "K125-MODE-nonmezkcc-forces-zk",
    "K125-MODE-resume-on-leave",
    "K125-AVL-no-downtime-roll",
)
def test_a_group_goes_back_without_a_pause(group, zookeeper, expect, verify_group):
    """Plain consumers give way to members with migration, and these to real old ones, though the mode remains Kafka."""
    new = group.join(NEW, 2)
    group.await_owned(new)
    group.write_mode("kafka")
    for member in new:
        group.await_owned(group.join(WITH))
        member.stop()
    group.await_followed("kafka")
    (early,) = group.join(WITHOUT)
    group.await_followed("zookeeper")
    group.flow(1500)
    early.stop()
    group.await_followed("kafka")
    group.flow(500)
    for member in group.alive(WITH):
        group.await_owned(group.join(OLD))
        member.stop()
    group.await_owned(group.alive(OLD))
    row = ["K125-RBK-e2e"]
    expect("members that migrate", lambda: zookeeper.children(MIGRATING), equals=[], requirements=row)
    expect("members of Kafka's group", lambda: len(group.describe().members), equals=0, requirements=row)
    group.flow(1000)

    verify_group(owned_within_s=OLD_JOINED_S, read_within_s=OLD_READ_S)


@pytest.mark.requirement("K125-OWN-even-canary-mezkcc")
def test_a_canary_gets_its_share(group, verify_group):
    """One member with migration among three without it owns as many partitions as each of them."""
    group.await_owned(group.join(WITHOUT, 3))
    group.await_owned(group.join(WITH))
    group.await_followed("zookeeper")
    group.await_stable(1)
    group.flow(500)

    verify_group(checks.owners_are_even(), owned_within_s=JOINED_S)


@pytest.mark.requirement(
    "K125-OWN-even-canary-kc",
    "K125-KIND-kc-unmodified",
    "K125-KIND-one-ekc-per-connector",
    "K125-NG-no-zk-in-kafkaconsumer",
)
def test_a_plain_canary_gets_its_share(group, expect, verify_group):
    """One plain KafkaConsumer among three members with migration owns as many partitions as each of them."""
    first = group.join(WITH, 3)
    group.await_owned(first)
    group.await_stable(3)
    group.toggle("kafka")
    (plain,) = group.join(NEW)
    group.await_owned([plain])
    group.await_stable(4)
    group.await_followed("kafka")
    group.flow(500)
    row = ["K125-NG-no-zk-in-kafkaconsumer"]
    expect("its connections to ZooKeeper", lambda: plain.connections_to(2181), equals=0, requirements=row)
    expect("a connector's", lambda: first[0].connections_to(2181), equals=1, kind=None)

    verify_group(checks.owners_are_even(), owned_within_s=JOINED_S)


@pytest.mark.requirement(
    "K125-ZN-registration-atomic", "K125-ZN-deregistration-order", "K125-FAIL-toggle-during-rebalance"
)
def test_members_join_and_leave_without_a_change_of_mode(group, expect, verify_group):
    """Members that join or leave in Kafka mode leave the mode of the others alone; toggles meanwhile are obeyed."""
    first = group.join(WITH, 2)
    group.await_owned(first)
    group.await_stable(2)
    group.toggle("kafka")
    changes = len(group.mode_changes(first))
    for _ in range(4):
        (member,) = group.join(WITH)
        group.await_owned([member])
        member.stop()
        group.await_followed("kafka")
    expect(
        "changes of mode while members joined and left",
        lambda: len(group.mode_changes(first)) - changes,
        equals=0,
        requirements=["K125-ZN-registration-atomic", "K125-ZN-deregistration-order"],
    )
    for mode in ("zookeeper", "kafka"):
        joining = group.start(WITH)
        group.toggle(mode)
        joining.await_started()
        group.await_owned([joining])
        group.await_followed(mode)

    verify_group(owned_within_s=JOINED_S)


@pytest.mark.requirement("K125-KIND-kc-unmodified", "K125-CMP-mix-mig-kc", "K125-OWN-kc-roll")
def test_a_group_goes_over_to_the_java_client(group, verify_group):
    """Kafka's own VerifiableConsumer joins members with migration, and replaces one of them."""
    members = group.join(WITH, 2)
    group.await_owned(members)
    group.await_stable(2)
    group.toggle("kafka")
    (plain,) = group.join(JAVA)
    group.await_owned([plain])
    group.await_stable(3)
    group.flow(1000)
    members[0].stop()
    group.await_owned([plain, members[1]])
    group.flow(1000)

    verify_group(owned_within_s=2 * JOINED_S)


@pytest.mark.requirement("K125-OWN-kc-roll", "K125-MEM-rebalance-listener")
def test_a_plain_consumer_waits_until_a_member_has_released(group, inject, verify_group):
    """ZooKeeper's answers come late, and a release takes as long: Kafka's group goes on when it is over."""
    (member,) = group.join(WITH)
    group.await_owned([member])
    group.await_stable(1)
    group.toggle("kafka")
    group.flow(500)
    with inject(Slow(targets.member("MEZKCC-1"), targets.every(Role.ZOOKEEPER), latency_ms=400)):
        (plain,) = group.join(NEW)
        group.await_owned([member, plain])
        group.flow(250)
    group.flow(250)

    verify_group(checks.plain_consumers_wait_for_releases(), owned_within_s=2 * JOINED_S)


@pytest.mark.requirement(
    "K125-OWN-even-canary-kc", "K125-OWN-full-coverage", "K125-OWN-exactly-one", "K125-LSN-thread-split"
)
def test_a_group_of_several_topics_is_spread_by_topic(group_of, verify_group):
    """Members with two threads for each of two topics are toggled, and a plain consumer gets its share of both."""
    group = group_of(8, 500, "orders", "bills")
    members = group.join(WITH, 3, streams=2, has_listener=True)
    group.await_owned(members)
    group.await_stable(3)
    for mode in ("kafka", "zookeeper", "kafka"):
        group.toggle(mode)
        group.flow(500)
    (plain,) = group.join(NEW)
    group.await_owned([plain])
    group.await_stable(4)
    group.await_followed("kafka")
    group.flow(1000)

    verify_group(checks.owners_are_even(), owned_within_s=JOINED_S)


@pytest.mark.requirement("K125-PLAN-any-number")
def test_any_number_of_members_is_replaced_at_once(group, verify_group):
    """One, then three, then all four of a kind at the same time, on the way there and on the way back."""
    old = group.join(WITHOUT, 4)
    group.await_owned(old)
    group.replace(old[:1], WITH)
    group.replace(old[1:], WITH)
    group.await_followed("zookeeper")
    group.await_stable(4)
    group.toggle("kafka")
    group.replace(group.alive(WITH), NEW)
    group.flow(500)
    group.replace(group.alive(NEW), WITH)
    group.await_followed("kafka")
    group.replace(group.alive(WITH), WITHOUT)
    group.flow(500)

    verify_group(owned_within_s=2 * JOINED_S)


@pytest.mark.requirement("K125-OWN-canary-soak")
@pytest.mark.parametrize("alone_s", [15, pytest.param(SOAK_S, marks=pytest.mark.nightly, id="night")])
def test_a_canary_stays_where_it_is(alone_s, group, offsets, expect, verify_group):
    """For as long as the group is left alone no partition moves, nothing lags, and memory stays (longer at night)."""
    row = ["K125-OWN-canary-soak"]
    group.await_owned(group.join(WITHOUT, 2))
    (canary,) = group.join(WITH)
    group.await_owned([canary])
    group.await_followed("zookeeper")
    group.await_stable(1)
    group.flow(1000)
    moves, decided, memory = group.moves(), group.decisions(), canary.memory_mb()
    for _ in range(alone_s // 5):
        group.flow(2500)
    ends = offsets.ends()
    expect("partitions that moved", lambda: group.moves() - moves, equals=0, requirements=row)
    expect("decisions of Kafka", lambda: group.decisions() - decided, equals=0, requirements=row)
    expect("memory that it took", lambda: canary.memory_mb() - memory < 50, equals=True, requirements=row)
    expect("partitions that lag", lambda: offsets.stored_behind(ends), equals=[], within_s=10, requirements=row)

    verify_group(owned_within_s=JOINED_S)
