"""The operator toggles the mode, and the group goes on."""

import pytest

from pytest_kmigrate import Role, Slow, checks, targets
from pytest_kmigrate.documents.kip_125.bystanders import unreadable_mode
from pytest_kmigrate.documents.kip_125.kinds import IDS, MODE, ROUND_ROBIN, WITH

pytestmark = pytest.mark.topology("zk1-broker1")

NOT_KAFKA = ("", "KAFKA", "kafka\n", "kafka ", '{"mode": "kafka"}', b"\xff\xfe", b"k" * 500_000)

CREATED, CHANGED = "K125-MODE-watch-create", "K125-MODE-watch-change"
COMMITTED = "K125-OFF-commit-via-ekc"
LATE_S = 6.0
"""A release takes several round trips, each as late as the link is."""


@pytest.mark.requirement(
    "K125-MODE-watch-create",
    "K125-MODE-watch-change",
    "K125-MODE-watch-delete",
    "K125-MODE-dynamic-repeat",
    "K125-MODE-kafka",
    "K125-MODE-absent-is-zk",
    "K125-MODE-same-value-noop",
    "K125-AVL-no-downtime-toggle",
    "K125-MET-active-one",
    "K125-MET-active-zero",
    "K125-OFF-commit-via-ekc",
    "K125-OWN-full-coverage",
    "K125-OWN-exactly-one",
)
def test_members_follow_every_toggle(group, zookeeper, offsets, expect, verify_group):
    """Three members follow twenty toggles while they read, though both systems assign otherwise."""
    members = group.join(WITH, 3, **ROUND_ROBIN)
    group.await_owned(members)
    group.await_stable(3)
    group.flow(1000)
    sessions = {zookeeper.owner(f"{IDS}/{each.consumer_id}") for each in members}
    watching = lambda: zookeeper.watchers(MODE) & sessions  # noqa: E731
    expect("watches of a mode that is not there", watching, equals=sessions, within_s=5, requirements=[CREATED])
    for mode in ("kafka", "zookeeper") * 9:
        group.toggle(mode)
        group.flow(100)
    expect("watches after eighteen changes", watching, equals=sessions, within_s=5, requirements=[CHANGED])
    group.toggle("kafka")
    group.flow(1500)
    group.write_mode("kafka")
    group.flow(1500)
    group.describe()
    group.toggle(None)
    ends = offsets.ends()
    group.flow(1000)
    row = ["K125-OFF-commit-via-ekc"]
    expect(
        "partitions of which Kafka lacks commits",
        lambda: offsets.behind(ends),
        equals=[],
        within_s=10,
        requirements=row,
    )

    verify_group(checks.no_needless_release())


@pytest.mark.requirement("K125-MODE-unknown-is-zk")
def test_anything_but_kafka_means_zookeeper(group, verify_group):
    """Members survive any content of the mode node, and take only the exact word for Kafka's turn."""
    group.await_owned(group.join(WITH, 2, **ROUND_ROBIN))
    group.await_stable(2)
    for content in NOT_KAFKA:
        group.toggle("kafka")
        group.toggle(content)
    group.toggle("kafka")

    verify_group()


@pytest.mark.requirement("K125-MODE-unknown-is-zk", "K125-OWN-full-coverage")
def test_a_mode_that_members_may_not_read_means_zookeeper(group, cluster, expect, verify_group):
    """Members warn of it, go on with what ZooKeeper assigns, and follow the node again when they may read it."""
    warned = lambda: "mode-not-readable" in group.warnings()  # noqa: E731
    group.await_owned(group.join(WITH, 2, **ROUND_ROBIN))
    group.await_stable(2)
    group.toggle("kafka")
    group.flow(250)
    with unreadable_mode(group, cluster.zookeeper_servers):
        group.await_followed("zookeeper")
        group.flow(250)
        expect("whether members warn of it", warned, equals=True, within_s=10, requirements=["K125-MODE-unknown-is-zk"])
    group.await_followed("kafka")
    group.flow(250)

    verify_group(owned_within_s=LATE_S)


@pytest.mark.requirement("K125-MODE-watch-change", "K125-OWN-full-coverage")
def test_a_burst_of_toggles_ends_with_the_last_one(group, verify_group):
    """Of five writes within a moment only the last one counts."""
    group.await_owned(group.join(WITH, 3, **ROUND_ROBIN))
    group.await_stable(3)
    for last in ("kafka", "zookeeper"):
        for mode in ("kafka", "zookeeper", "kafka", "zookeeper", last):
            group.write_mode(mode)
        group.await_followed(last)
        group.flow(3000)

    verify_group()


@pytest.mark.requirement("K125-MODE-raw-zk-write-suffices")
def test_a_script_toggles_every_group(group, zookeeper, expect, verify):
    """Ten groups follow what is written to the mode nodes of all groups that ZooKeeper has; nothing else is done."""
    members = group.start_others(10)
    for each in members:
        each.await_started()
    modes = lambda: [group.modes().get(each.client) for each in members]  # noqa: E731
    expect("each group is registered", modes, equals=["zookeeper"] * 10, within_s=60, kind=None)
    for mode in ("kafka", "zookeeper", "kafka"):
        for name in zookeeper.children("/consumers"):
            zookeeper.set(f"/consumers/{name}/migration/mode", mode.encode())
        row = ["K125-MODE-raw-zk-write-suffices"]
        expect(f"{mode}: what they follow", modes, equals=[mode] * 10, within_s=10, requirements=row)

    verify()


@pytest.mark.requirement("K125-OWN-toggle-zk-to-kafka", "K125-OWN-toggle-kafka-to-zk")
def test_members_that_see_a_toggle_later_share_nothing(group, inject, verify_group):
    """One member's answers from ZooKeeper come late, so that it sees each toggle after the others."""
    group.await_owned(group.join(WITH, 3, **ROUND_ROBIN))
    group.await_stable(3)
    group.flow(500)
    with inject(Slow(targets.member("MEZKCC-2"), targets.every(Role.ZOOKEEPER), latency_ms=200)):
        for mode in ("kafka", "zookeeper", "kafka", "zookeeper"):
            group.toggle(mode)
            group.flow(250)

    verify_group(owned_within_s=LATE_S)
