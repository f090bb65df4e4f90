"""KIP-866, ZooKeeper unavailable: the data plane goes on, the log is caught up with when ZooKeeper is back.

One scene: the tests that begin with the same metadata share a cluster, which has caught up when each of them ends.
"""

import pytest

from pytest_kmigrate import (
    Cut,
    ExpireSession,
    Forbid,
    Kill,
    Kind,
    MetadataChange,
    Pause,
    Phase,
    Role,
    Stream,
    checks,
    moves,
    raw_admin,
    targets,
)
from pytest_kmigrate.documents.kip_866 import expectations

pytestmark = pytest.mark.scene

SOON_GIVING_UP = {"zookeeper.connection.timeout.ms": "3000"}
LONGER_THAN_A_SESSION = 13_000
"""Acknowledged writes of 26 s at least; a controller's session is 18 s, and ZooKeeper ends it within 2 s more."""
RATES = [float(1_000_000 + number) for number in range(300)]


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-FAIL-zk-heal-catch-up", "K866-METRIC-ZkWriteBehindLag-outage")
def test_controller_cut_from_zookeeper_catches_up(workload, cluster_metadata, inject, verify_clients):
    """What is acknowledged while the active controller cannot reach ZooKeeper is in ZooKeeper soon after it can."""
    with (
        cluster_metadata.changing("after", per_s=2),
        inject(Cut(targets.active_controller(), targets.every(Role.ZOOKEEPER))),
    ):
        workload.await_acked(3000)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
        checks.zookeeper_lag_grows_and_falls_back(),
    )


@pytest.mark.topology(zookeepers=1)
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-FAIL-zk-down-data-plane", "K866-TEST-zk-unavailable")
def test_clients_are_served_while_zookeeper_is_down(workload, cluster_metadata, inject, verify_clients):
    """ZooKeeper goes down and comes back in dual write; clients notice nothing, and what changed meanwhile arrives."""
    with cluster_metadata.changing("after", per_s=2):
        with inject(Kill(targets.zookeeper_leader())):
            workload.await_acked(3000)
            workload.await_consumed(1000)
            cluster_metadata.await_acknowledged()
        workload.await_acked(1000)

    verify_clients(
        checks.longest_time_without_acked_write(at_most_s=30),
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


@pytest.mark.known_bug("kmigrate-14")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-FAIL-zk-heal-catch-up", "K866-TEST-zk-unavailable")
def test_dual_write_goes_on_after_a_session_expired(workload, cluster_metadata, inject, verify_clients):
    """ZooKeeper ends the active controller's session in dual write; what changes from then on is on both sides."""
    with cluster_metadata.changing("after", per_s=2), inject(ExpireSession(targets.active_controller())) as expired:
        expired.await_bitten(within_s=30)
        workload.await_acked(1000)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


@pytest.mark.known_bug("kmigrate-7")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement(
    "K866-FAIL-zk-heal-catch-up", "K866-TEST-zk-unavailable", "K866-METRIC-ZkWriteBehindLag-outage"
)
def test_dual_write_goes_on_after_an_answer_of_zookeeper_was_lost(workload, cluster_metadata, inject, verify_clients):
    """ZooKeeper does what a controller asks for, and its answer never arrives; both sides agree once it can."""
    lost = Cut(targets.active_controller(), targets.every(Role.ZOOKEEPER), stream=Stream.BACK)
    with cluster_metadata.changing("after", per_s=2), inject(lost):
        workload.await_acked(2000)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
        checks.zookeeper_lag_grows_and_falls_back(),
    )


@pytest.mark.spoils
@pytest.mark.known_bug("kmigrate-7")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-FAIL-zk-heal-catch-up", "K866-DW-full-parity")
def test_what_an_acl_refused_is_written_when_it_is_allowed(workload, cluster_metadata, inject, verify_clients):
    """ZooKeeper takes no config of another topic for a while; what changes then, and afterwards, is on both sides."""
    workload.await_acked(500)
    with inject(Forbid("/config/topics")):
        cluster_metadata.make(
            MetadataChange("create-topic", "refused", {"partitions": 3, "replication": 3}),
            MetadataChange("alter-config", "topic:refused", {"retention.ms": "86400000"}),
        )
        workload.await_acked(500)
    cluster_metadata.make(MetadataChange("create-topic", "allowed", {"partitions": 3, "replication": 3}))
    workload.await_acked(500)
    cluster_metadata.settle("after", within_s=25)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


@pytest.mark.spoils
@pytest.mark.known_bug("kmigrate-35")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement(
    "K866-FAIL-zk-heal-catch-up", "K866-TEST-zk-unavailable", "K866-ZNODE-controller-every-election"
)
def test_a_controller_whose_session_has_expired_takes_over_when_it_is_elected(
    workload, cluster_metadata, migration, inject, in_control, expect, verify_clients
):
    """Controllers are cut off from ZooKeeper for longer than their sessions, and another one is elected meanwhile."""
    workload.await_acked(500)
    with inject(Pause(targets.active_controller())):
        with inject(Cut(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER))):
            successor = migration.await_new_active_controller()
            workload.await_acked(LONGER_THAN_A_SESSION)
        expect(
            expectations.CONTROLLER_HELD,
            in_control,
            equals=successor,
            within_s=20,
            kind=Kind.LIVENESS,
            requirements=["K866-ZNODE-controller-every-election", "K866-TEST-zk-unavailable"],
        )
        cluster_metadata.settle("after", within_s=10)
    workload.await_acked(500)

    verify_clients(checks.metadata_equivalent("after-log", "after-zookeeper"))


@pytest.mark.topology(zookeepers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-DW-bounded-lag", "K866-FAIL-zk-down-stop-log", "K866-FAIL-zk-down-controller-restart")
def test_changes_stop_and_the_quorum_stays_while_zookeeper_is_down(
    workload, cluster, cluster_metadata, migration, inject, quorum_leader, admin_of, may_end, expect, verify_clients
):
    """A quota is changed 300 times while ZooKeeper is away; then a controller that does not lead is restarted."""
    leader = quorum_leader()
    follower = next(node.name for node in cluster.nodes(Role.CONTROLLER) if node.name != leader)
    workload.await_acked(500)
    with inject(Kill(targets.zookeeper_leader())):
        answers = [_set_rate(admin_of("broker-0"), rate) for rate in RATES]
        expect(
            "whether the last of 300 changes was accepted",
            lambda: answers[-1] == "NONE",
            equals=False,
            within_s=0,
            requirements=["K866-DW-bounded-lag"],
        )
        expect(
            "whether the metadata log holds the last of 300 changes",
            lambda: RATES[-1] in _rates(cluster_metadata.seen("log")),
            equals=False,
            within_s=0,
            requirements=["K866-FAIL-zk-down-stop-log"],
        )
        with may_end(follower):
            migration.make("restart-a-follower", moves.Roll(follower, SOON_GIVING_UP))
            workload.await_acked(3000)  # by then it has given up on ZooKeeper
        expect(
            "the controller that leads, and those that are down besides the restarted one",
            lambda: (quorum_leader(), _down(cluster, besides=follower)),
            equals=(leader, []),
            within_s=0,
            requirements=["K866-FAIL-zk-down-controller-restart"],
        )
        workload.await_acked(500)
        workload.await_consumed(500)
    migration.make("start-it-again", moves.Roll(follower))
    cluster_metadata.settle("after")

    verify_clients(checks.metadata_equivalent("after-log", "after-zookeeper"))


@pytest.mark.known_bug("kmigrate-24")
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-FAIL-zk-heal-catch-up", "K866-DW-topic-create")
def test_a_topic_that_is_half_sent_when_zookeeper_is_lost_is_whole(
    workload, cluster_metadata, migration, inject, verify_clients
):
    """Ten requests about it are in flight, as many as are allowed, and more wait; the last must not come first."""
    # No record without a cause: the position would be written, and the topic wait for that.
    migration.make("write-no-idle-records", moves.Roll("controller-3000", {"metadata.max.idle.interval.ms": "0"}))
    workload.await_committed(3)
    cluster_metadata.settle("before")

    with inject(Cut(targets.active_controller(), targets.every(Role.ZOOKEEPER), stream=Stream.FORWARD)):
        cluster_metadata.make(MetadataChange("create-topic", "wide", {"partitions": 12, "replication": 3}))
        workload.await_acked(500)
    workload.await_acked(500)
    cluster_metadata.settle("after", within_s=15)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


@pytest.mark.known_bug("elections-wait-for-zookeeper")
@pytest.mark.topology("zk1-broker3-controller1", zookeepers=1, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-FAIL-zk-down-elections")
def test_partitions_of_a_dead_broker_get_leaders_while_zookeeper_is_down(
    workload, inject, led_by, expect, verify_clients
):
    """A broker in ZooKeeper mode dies while ZooKeeper is away; the others, in that mode too, lead what it led."""
    workload.await_acked(500)

    with inject(Kill(targets.partition_leader("orders"))) as dead, inject(Kill(targets.zookeeper_leader())):
        expect(
            "partitions of orders that are led by the dead broker, as another reports it",
            lambda: led_by(dead.targets[0], "orders"),
            equals=[],
            within_s=20,  # a broker's session is 9 s
            kind=Kind.LIVENESS,
        )
    workload.await_acked(500)

    verify_clients()


@pytest.mark.sample
@pytest.mark.topology("zk3-broker3-controller3")
@pytest.mark.requirement("K866-TEST-zk-unavailable", "K866-FAIL-zk-heal-catch-up")
def test_dual_write_outlives_the_leader_of_the_ensemble(workload, cluster_metadata, migration, inject, verify_clients):
    """Two of three ZooKeeper servers elect another leader; dual write goes on there while the former one is away."""
    cluster_metadata.fill()
    migration.advance_to(Phase.HYBRID)

    with inject(Kill(targets.zookeeper_leader())), cluster_metadata.changing("without-it", per_s=2):
        workload.await_acked(1000)

    verify_clients(
        checks.longest_time_without_acked_write(at_most_s=30),
        checks.metadata_equivalent("without-it-log", "without-it-zookeeper"),
        checks.acknowledged_metadata_changes_present("without-it-zookeeper"),
    )


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-TEST-broker-failures")
def test_expired_session_in_preparation_does_not_stop_the_migration(workload, migration, inject, verify_clients):
    """A broker loses its ZooKeeper session while the quorum waits; it registers again and the migration goes on."""
    migration.advance_to(Phase.PREPARING)

    with inject(ExpireSession(targets.broker_besides_controller())):
        workload.await_acked(1000)
    migration.advance_to(Phase.HYBRID)

    verify_clients(checks.phase_reached(Phase.HYBRID))


def _set_rate(peer, rate):
    return raw_admin.alter_quota_at(peer, {"user": "limited"}, {"producer_byte_rate": rate})


def _rates(image):
    return [quota.get("producer_byte_rate") for quota in image.quotas.values()]


def _down(cluster, besides):
    return [node.name for node in cluster.nodes(Role.CONTROLLER) if not node.alive and node.name != besides]
