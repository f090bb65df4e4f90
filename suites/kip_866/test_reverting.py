"""KIP-866, Rollback to ZK: until it is finalized, a migration can be undone from wherever it stands."""

import pytest

from pytest_kmigrate import Hold, Kind, Phase, Role, Slow, Stop, checks, crash_points, procedure, raw_admin, targets
from pytest_kmigrate.documents.kip_866 import expectations


@pytest.mark.requirement("K866-RB-any-point", "K866-RB-provisioned", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_migration_is_undone_before_it_began(workload, cluster_metadata, migration, verify_clients):
    """The quorum was only provisioned: without it ZooKeeper stays in charge, and nothing is lost."""
    cluster_metadata.fill()
    migration.advance_to(Phase.PREPARING)
    workload.await_acked(500)

    migration.revert()

    _goes_on_with_zookeeper(workload, cluster_metadata, verify_clients)


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-RB-any-point", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_migration_is_undone_in_hybrid_mode(workload, cluster_metadata, migration, verify_clients):
    """ZooKeeper is in charge again, and has what was there before and what was changed in dual write."""
    cluster_metadata.fill(families=("topic-configs",), again=True)
    with cluster_metadata.changing("dual-write", per_s=2):
        workload.await_acked(500)

    migration.revert()

    _goes_on_with_zookeeper(workload, cluster_metadata, verify_clients)


@pytest.mark.topology(brokers=3)
@pytest.mark.requirement("K866-RB-any-point", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_migration_is_undone_in_mid_copy(workload, cluster_metadata, migration, inject, verify_clients):
    """The controllers have taken over and are still copying when the operator calls it off."""
    cluster_metadata.fill()
    migration.advance_to(Phase.PREPARING)

    with inject(Hold(crash_points.LONG_COPY)) as long_copy:
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        long_copy.await_bitten()
        migration.revert()

    _goes_on_with_zookeeper(workload, cluster_metadata, verify_clients, checks.phase_not_reached(Phase.HYBRID))


@pytest.mark.sample
@pytest.mark.known_bug("kmigrate-5")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-RB-clean-shutdown-flush", "K866-RB-metadata-kept")
def test_what_waits_for_zookeeper_is_written_before_the_quorum_ends(
    workload, cluster_metadata, migration, inject, verify_clients
):
    """ZooKeeper answers late and dual write lags behind when the controllers are stopped, each in its turn."""
    cluster_metadata.fill(families=("topics", "topic-configs", "quotas", "scram", "acls"))  # 3.5 makes no tokens here
    cluster_metadata.settle("written")

    with inject(Slow(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER), latency_ms=700)):
        cluster_metadata.change(per_s=5)
        cluster_metadata.await_acknowledged(25)
        cluster_metadata.stop()
        migration.revert()
    cluster_metadata.settle("reverted", sides=("zookeeper", "brokers"))

    verify_clients(checks.acknowledged_metadata_changes_present("reverted-zookeeper"))


@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-RB-forceful-may-lose")
def test_what_killed_controllers_left_half_written_is_whole_under_zookeeper(
    workload, cluster, cluster_metadata, migration, inject, admin_of, zookeeper, expect, verify_clients
):
    """All controllers are killed as ZooKeeper has a topic and few of its 120 partitions; a broker is elected then."""
    workload.await_acked(500)
    before = set(cluster_metadata.seen("zookeeper").topics)
    with inject(Slow(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER), latency_ms=300)):
        raw_admin.create_topics_at(admin_of("broker-0"), ["wide", "later"], partitions=120, replication=1)
        half_written = "/brokers/topics/wide"
        expect("whether ZooKeeper has wide", lambda: zookeeper.get(half_written) is not None, equals=True, kind=None)
        for controller in cluster.nodes(Role.CONTROLLER):
            controller.kill()
        workload.await_acked(500)
    expect(
        expectations.PARTITIONS_WRITTEN.of(topic="wide"),
        lambda: len(zookeeper.children(f"{half_written}/partitions")),
        equals=0,
        within_s=0,
        kind=None,
    )
    migration.revert()

    expect(
        "topics that were there before and are not",
        lambda: sorted(before - cluster_metadata.seen("zookeeper").topics.keys()),
        equals=[],
    )
    expect(
        "partitions of wide that have a leader",
        lambda: sum(each.leader >= 0 for each in _partitions(admin_of("broker-0"), "wide")),
        equals=120,
        kind=Kind.LIVENESS,
    )
    _goes_on_with_zookeeper(workload, cluster_metadata, verify_clients)


@pytest.mark.known_bug("kmigrate-12")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-RB-remove-controller-znodes")
def test_brokers_follow_who_is_elected_when_both_znodes_of_the_controller_were_removed(
    workload, migration, admin_of, in_control, tellers, expect, verify_clients
):
    """The operator removes /controller and, as the document has it, /controller_epoch; a broker takes over."""
    migration.revert(removing=["/controller_epoch"], leaving=False)

    raw_admin.create_topics_at(admin_of(in_control()), ["newcomer"], partitions=1, replication=3, within_s=2)

    expect(
        expectations.LATER_TOPIC_KNOWN,
        lambda: tellers("newcomer"),
        equals=[0, 1, 2],
        within_s=15,
        kind=Kind.LIVENESS,
    )
    workload.await_acked(500)
    verify_clients()


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement("K866-RB-retry-migration", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_reverted_migration_can_be_done_again(workload, cluster_metadata, migration, verify_clients):
    """Back from ALL_KRAFT to ZooKeeper without losing anything; the second migration copies and finalizes."""
    with cluster_metadata.changing("all-kraft", per_s=2):
        workload.await_acked(500)
    migration.revert()
    cluster_metadata.settle("reverted", sides=("zookeeper", "brokers"))
    workload.await_acked(500)
    migration.advance_to(Phase.HYBRID)
    cluster_metadata.settle("copied-again")
    migration.advance_to(Phase.FINALIZED)
    workload.await_acked(500)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.acknowledged_metadata_changes_present("reverted-zookeeper"),
        checks.acknowledged_metadata_changes_present("copied-again-log"),
        checks.metadata_equivalent("copied-again-log", "copied-again-zookeeper"),
    )


@pytest.mark.known_bug("KAFKA-17146")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-RB-retry-migration")
def test_second_migration_begins_with_what_zookeeper_has(
    workload, cluster_metadata, migration, join, expect, verify_clients
):
    """The operator forgot to delete /migration when the first one was undone; ZooKeeper is copied all the same."""
    migration.revert(forgetting=["/migration"])
    topics = sorted(cluster_metadata.seen("zookeeper").topics)
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)
    join("broker-2")

    expect(
        expectations.TOPICS_COPIED,
        lambda: sorted(cluster_metadata.seen("log").topics),
        equals=topics,
        within_s=20,
    )
    verify_clients()


@pytest.mark.topology("zk1-broker3-controller1-tls", brokers=3, controllers=1)
@pytest.mark.requirement("K866-FWD-channel-selection")
def test_brokers_reach_each_kind_of_controller_by_its_own_listener(
    workload, migration, inject, in_sync, expect, verify_clients
):
    """KRaft controllers speak TLS, brokers do not. A broker restarts before, in and after KRaft's reign."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)
    _expect_a_broker_back_in_sync("before the take-over", workload, inject, in_sync, expect)
    migration.advance_to(Phase.HYBRID)
    _expect_a_broker_back_in_sync("in dual write", workload, inject, in_sync, expect)
    migration.revert()
    _expect_a_broker_back_in_sync("after the way back", workload, inject, in_sync, expect)
    verify_clients()


def _expect_a_broker_back_in_sync(when, workload, inject, in_sync, expect):
    with inject(Stop(targets.node("broker-1"))):
        workload.await_acked(500)
    expect(
        f"in-sync replicas of orders, {when}",
        lambda: in_sync("orders"),
        equals=[[0, 1, 2]] * 3,
        kind=Kind.LIVENESS,
    )


def _goes_on_with_zookeeper(workload, cluster_metadata, verify_clients, *more):
    with cluster_metadata.changing("reverted", per_s=2, sides=("zookeeper", "brokers")):
        workload.await_acked(500)

    verify_clients(
        checks.acknowledged_metadata_changes_present("reverted-zookeeper"),
        checks.metadata_equivalent("reverted-zookeeper", "reverted-brokers"),
        *more,
    )


def _partitions(peer, topic):
    return raw_admin.describe_topic_at(peer, topic).partitions.values()
