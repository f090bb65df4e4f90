"""A member takes part in both systems, and follows one of them."""

import pytest

from pytest_kmigrate import checks
from pytest_kmigrate.documents.kip_125.bystanders import in_kafka, in_zookeeper, owning
from pytest_kmigrate.documents.kip_125.kinds import IDS, NEW, PARTITIONS, PLAIN_ROUND_ROBIN, ROUND_ROBIN, WITH

pytestmark = pytest.mark.topology("zk1-broker1")

QUICK_METADATA = {"coordination_migration_metadata_max_age_ms": "1000"}
FOUND_WITHIN_S = 20


@pytest.mark.requirement("K125-OWN-inactive-decision-ignored", "K125-MET-kafka-owned-value")
def test_what_the_other_system_decides_is_ignored(group, cluster, zookeeper, expect, verify_group):
    """A member that joins one system only moves partitions where that system is followed, and nowhere else."""
    row = ["K125-OWN-inactive-decision-ignored"]
    group.await_owned(group.join(WITH, 3, **ROUND_ROBIN))
    group.await_stable(3)
    group.toggle("zookeeper")
    moves, decided = group.moves(), group.decisions()
    with in_kafka(cluster.client_connection(), partition_assignment_strategy="roundrobin"):
        group.flow(2000)  # long enough for gauges to be compared with what Kafka assigns, and no member owns
    group.await_stable(3)
    expect("Kafka decided otherwise", lambda: group.decisions() > decided, equals=True, kind=None)
    expect("partitions that moved by it", lambda: group.moves() - moves, equals=0, requirements=row)
    group.toggle("kafka")
    moves = group.moves()
    with in_zookeeper(zookeeper):
        group.flow(1500)
    expect("partitions that ZooKeeper moved", lambda: group.moves() - moves, equals=0, requirements=row)

    verify_group()


@pytest.mark.requirement("K125-MEM-dual-participation", "K125-CFG-ekc-client-id", "K125-CFG-ekc-group-id")
def test_members_are_in_both_systems_from_the_start(group, zookeeper, expect, verify):
    """By the same ids, in ZooKeeper and in Kafka's group of the same name, before anything is toggled."""
    members = group.join(WITH, 2)
    group.await_owned(members)
    names = sorted(each.consumer_id for each in members)
    rows = ["K125-MEM-dual-participation", "K125-CFG-ekc-client-id", "K125-CFG-ekc-group-id"]
    expect("who is in ZooKeeper", lambda: sorted(zookeeper.children(IDS)), equals=names, requirements=rows)
    known = lambda: sorted(group.describe().members)  # noqa: E731
    expect("who is in Kafka's group", known, equals=names, within_s=30, requirements=rows)

    verify()


@pytest.mark.requirement("K125-MEM-ekc-never-fetches")
def test_the_embedded_consumer_never_fetches(group, zookeeper, expect_to_stay, verify):
    """Members that may own nothing, though Kafka has assigned everything to them, send no Fetch request."""
    with owning(zookeeper, PARTITIONS):
        group.join(WITH)
        group.await_stable(1)
        members = group.join(WITH)
        group.await_stable(2)
        group.write_mode("kafka")
        group.await_mode("kafka")
        expect_to_stay(
            "Fetch requests that reached the broker",
            lambda: group.requests("Fetch"),
            equals=group.requests("Fetch"),
            for_s=4,
            requirements=["K125-MEM-ekc-never-fetches"],
        )
    group.await_owned(members)
    group.flow(500)

    verify(checks.no_record_passed_over())


@pytest.mark.requirement("K125-MEM-partition-add-both")
def test_new_partitions_are_owned_in_both_modes(group, expect, verify_group):
    """Both systems learn of them: each is owned and read, and Kafka assigns every one of them."""
    row = ["K125-MEM-partition-add-both"]
    group.await_owned(group.join(WITH, 2, **QUICK_METADATA))
    group.await_stable(2)
    for mode, total in (("zookeeper", 14), ("kafka", 16)):
        group.write_mode(mode)
        group.await_mode(mode)
        group.add_partitions(total)
        expect(f"{mode}: all are owned", group.unowned, equals=0, within_s=FOUND_WITHIN_S, requirements=row)
        expect(f"{mode}: Kafka assigns all", group.assigned, equals=total, within_s=FOUND_WITHIN_S, requirements=row)
        group.flow(500)

    verify_group(owned_within_s=5)


@pytest.mark.requirement(
    "K125-LSN-before-release",
    "K125-LSN-before-start",
    "K125-LSN-describe-groups",
    "K125-LSN-client-id-match",
    "K125-LSN-thread-split",
    "K125-LSN-consistent",
    "K125-LSN-kc-member",
)
def test_listeners_get_the_global_assignment(group, expect, verify_group):
    """In Kafka mode members describe the group for it, with two threads each and a plain consumer beside them."""
    members = group.join(WITH, 3, streams=2, has_listener=True, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    before = group.requests("DescribeGroups")
    group.toggle("kafka")
    row = ["K125-LSN-describe-groups"]
    expect("they ask", lambda: group.requests("DescribeGroups") - before >= 3, equals=True, requirements=row)
    (plain,) = group.join(NEW, **PLAIN_ROUND_ROBIN)
    group.await_owned([plain])
    group.flow(1000)
    plain.stop()
    group.await_followed("kafka")
    group.toggle("zookeeper")
    group.flow(500)

    verify_group(owned_within_s=5)
