"""KIP-866, Controller Crashes: what must still hold when the active controller goes away, wherever it stood."""

import json

import pytest

from pytest_kmigrate import (
    Cut,
    Isolate,
    Kill,
    Kind,
    MetadataChange,
    Partition,
    Pause,
    Phase,
    Role,
    Slow,
    Tamper,
    checks,
    crash_points,
    procedure,
    raw_admin,
    targets,
    triggers,
)
from pytest_kmigrate.documents.kip_866 import expectations

TAKEN, KEPT = "ann:SCRAM-SHA-256", "bob:SCRAM-SHA-256"  # in the order in which a map of Java's has them
TAKEN_BACK = ("topic-configs", "broker-configs", "default-broker-config", "quotas", "scram", "acls")
ADDED = (
    MetadataChange("set-quota", "client-id=added", {"producer_byte_rate": 1048576.0}),
    MetadataChange("set-quota", "user=added,client-id=added", {"consumer_byte_rate": 1048576.0}),
    MetadataChange("set-quota", "user=added", {"producer_byte_rate": 1048576.0}),
    MetadataChange("set-scram", "added:SCRAM-SHA-256", {"iterations": 4096}),
    MetadataChange("set-acl", "Topic:LITERAL:added", {"binding": "User:added|*|Read|Allow"}),
    MetadataChange("set-acl", "Group:PREFIXED:filled", {"binding": "User:added|*|Read|Allow"}),
    MetadataChange("alter-config", "topic:filled-grown", {"retention.ms": "86400000"}),
)
PENDING = [f"pending-{number}" for number in range(10)]
WHEN_A_CONTROLLER_IS_DOWN = pytest.mark.since("3.7.0")  # before, those that are left copy nothing meanwhile


@pytest.mark.sample
@WHEN_A_CONTROLLER_IS_DOWN
@pytest.mark.requirement(
    "K866-FAIL-crash-during-copy", "K866-PROC-single-transaction", "K866-PROC-transaction-invisible"
)
def test_crash_in_mid_copy_is_copied_anew(workload, cluster_metadata, migration, inject, verify_clients):
    """The controller dies with all of ZooKeeper in its log but the copy not ended; its successor copies again."""
    cluster_metadata.fill()
    migration.advance_to(Phase.PREPARING)
    # A while later, so that others have seen these records and still show nothing of them.
    in_long_copy = triggers.in_turn(triggers.at_crash_point(crash_points.LONG_COPY), triggers.after_operations(1000))
    with inject(Kill(targets.quorum_leader()), at=in_long_copy):
        migration.advance_to(Phase.HYBRID)
    workload.await_acked(200)
    cluster_metadata.settle("copied")

    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper"), checks.copy_shows_only_when_ended())


@WHEN_A_CONTROLLER_IS_DOWN
@pytest.mark.known_bug("kmigrate-1")
@pytest.mark.topology(brokers=3)
@pytest.mark.requirement("K866-FAIL-crash-during-copy")
def test_broker_that_came_up_during_the_copy_survives_its_crash(
    workload, migration, inject, in_sync, expect, verify_clients
):
    """The copy begins with the last broker's registration; what else happens to that broker meanwhile must stay."""
    migration.advance_to(Phase.PREPARING)
    in_long_copy = triggers.in_turn(triggers.at_crash_point(crash_points.LONG_COPY), triggers.after_operations(2000))
    with inject(Kill(targets.quorum_leader()), at=in_long_copy):
        migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    expect(
        "in-sync replicas of every partition of orders",
        lambda: in_sync("orders"),
        equals=[[0, 1, 2]] * 3,
        within_s=15,
        kind=Kind.LIVENESS,
    )
    with inject(Kill(targets.node("broker-2"))):
        workload.await_acked(200)
    verify_clients()


@pytest.mark.scene
@pytest.mark.starts_at("HYBRID", filled=True)
class TestDualWrite:
    """The controller in charge goes away in one way after the other, and comes back: the next test finds all nodes."""

    @pytest.mark.known_bug("kmigrate-22")
    @pytest.mark.topology(brokers=3)
    @pytest.mark.requirement(
        "K866-FAIL-crash-in-migration", "K866-ZNODE-controller-every-election", "K866-TEST-controller-failures"
    )
    @pytest.mark.parametrize(
        "fault",
        [
            Kill(targets.active_controller()),
            pytest.param(Isolate(targets.active_controller(), from_roles=(Role.CONTROLLER,)), marks=pytest.mark.sample),
            Pause(targets.active_controller()),
        ],
        ids=str,
    )
    def test_another_controller_takes_over_in_dual_write(
        self,
        fault,
        workload,
        cluster_metadata,
        migration,
        inject,
        in_control,
        admin_of,
        tellers,
        expect,
        verify_clients,
    ):
        """A successor claims /controller, writes to both sides, and brokers hear from it; no change is lost."""
        with cluster_metadata.changing("after", per_s=2), inject(fault):
            successor = migration.await_new_active_controller()
            expect(
                expectations.CONTROLLER_HELD,
                in_control,
                equals=successor,
                requirements=["K866-ZNODE-controller-every-election"],
            )
            newcomer = f"newcomer-to-{workload.topic}"
            raw_admin.create_topics_at(admin_of(successor), [newcomer], partitions=1, replication=3)
            expect(
                expectations.SUCCESSOR_KNOWN,
                lambda: tellers(newcomer),
                equals=[0, 1, 2],
                within_s=30,
                kind=Kind.LIVENESS,
                requirements=["K866-FAIL-crash-in-migration"],
            )
            workload.await_acked(500)

        verify_clients(
            checks.metadata_equivalent("after-log", "after-zookeeper"),
            checks.acknowledged_metadata_changes_present("after-log"),
            checks.acknowledged_metadata_changes_present("after-zookeeper"),
        )


@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement("K866-FAIL-crash-after-all-kraft", "K866-FAIL-failover-with-pending-writes")
def test_another_controller_takes_over_when_all_brokers_run_kraft(
    workload, cluster_metadata, migration, inject, verify_clients
):
    """With every broker in KRaft mode the migration can still be finalized after a crash.

    What was taken away or added when no controller could write it any more is written by the one that takes over.
    """
    with inject(Kill(targets.active_controller()), at=triggers.after_operations(1500)):
        with inject(Cut(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER))):
            cluster_metadata.take_back(families=TAKEN_BACK)
            cluster_metadata.make(*ADDED)
            migration.await_new_active_controller()
        workload.await_acked(500)
    with cluster_metadata.changing("after", per_s=2):
        workload.await_acked(500)
    migration.advance_to(Phase.FINALIZED)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )


@pytest.mark.known_bug("kmigrate-2")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-DW-partitions-add", "K866-FAIL-crash-in-migration", "K866-FAIL-zk-heal-catch-up")
def test_partitions_added_before_a_takeover_reach_zookeeper(
    workload, migration, inject, zookeeper, expect, verify_clients
):
    """What the former controller could not write any more its successor does, and goes on with dual write."""
    workload.await_consumed(500)  # by then brokers know the topic of groups, which they learn of by dual write
    # It stays away, too: it must not catch up itself.
    with inject(Kill(targets.active_controller()), at=triggers.after_operations(1500)):
        with inject(Cut(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER))):
            workload.add_partitions("orders", 6)
            migration.await_new_active_controller()
        expect(
            expectations.PARTITION_STATE.of(partition="orders-5"),
            lambda: zookeeper.get("/brokers/topics/orders/partitions/5/state") is not None,
            equals=True,
            within_s=20,
            requirements=["K866-DW-partitions-add", "K866-FAIL-crash-in-migration", "K866-FAIL-zk-heal-catch-up"],
        )
    verify_clients()


@pytest.mark.known_bug("kmigrate-2")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-DW-atomic-crash", "K866-FAIL-failover-with-pending-writes")
def test_what_was_half_written_or_not_at_all_is_whole_after_a_takeover(
    workload, migration, inject, admin_of, zookeeper, expect, verify_clients
):
    """The controller dies as ZooKeeper has a topic, and neither its 100 partitions yet nor ten other topics."""
    workload.await_consumed(500)
    with inject(Kill(targets.active_controller()), at=triggers.on_znode_change("/brokers/topics")) as crash:
        with inject(Slow(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER), latency_ms=300)):
            raw_admin.create_topics_at(admin_of("broker-0"), ["wide"], partitions=100, replication=1)
            raw_admin.create_topics_at(admin_of("broker-0"), PENDING, partitions=1, replication=3)
            crash.await_bitten()
            expect("states that ZooKeeper has", lambda: _states_of_wide(zookeeper), equals=0, within_s=0, kind=None)
            migration.await_new_active_controller()
        expect(
            expectations.LATER_TOPICS_WRITTEN,
            lambda: sorted(set(PENDING) & set(zookeeper.children("/brokers/topics"))),
            equals=PENDING,
            requirements=["K866-FAIL-failover-with-pending-writes"],
        )
        expect(
            expectations.ALL_STATES_WRITTEN.of(first="wide-0", last="wide-99"),
            lambda: _states_of_wide(zookeeper) == 100,
            equals=True,
            within_s=15,
            requirements=["K866-DW-atomic-crash"],
        )
    verify_clients()


@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-ZNODE-controller-epoch-field-informational")
def test_nothing_depends_on_the_epoch_in_the_controller_znode(
    workload, migration, inject, zookeeper, in_control, expect, verify
):
    """The field is taken away, then raised to 1000; each time another controller takes over.

    Where it is taken away the znode denies by isKRaft, the field of the draft, that KRaft is in charge.
    """
    workload.await_acked(500)
    held = json.loads(zookeeper.get("/controller")) | {"isKRaft": False}
    without = json.dumps({key: value for key, value in held.items() if key != "kraftControllerEpoch"})
    with inject(Tamper("/controller", without)), inject(Kill(targets.active_controller())):
        successor = migration.await_new_active_controller()
        expect("the node that /controller names, after one without an epoch", in_control, equals=successor)

    raised = json.dumps(json.loads(zookeeper.get("/controller")) | {"kraftControllerEpoch": 1000})
    with inject(Tamper("/controller", raised)), inject(Kill(targets.active_controller())):
        successor = migration.await_new_active_controller()
        expect("the node that /controller names, after epoch 1000", in_control, equals=successor, within_s=10)
    workload.await_acked(500)
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.known_bug("kmigrate-10")
@pytest.mark.since("3.7.0")  # KIP-714
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-DW-other-config-types", "K866-FAIL-crash-in-migration")
def test_dual_write_goes_on_beside_what_zookeeper_cannot_hold(
    workload, migration, admin_of, inject, zookeeper, expect, verify_clients
):
    """A subscription to client metrics, which only KRaft has, does not keep a new controller from dual write."""
    migration.begin(procedure.ROLL_TO_KRAFT, moves=1)  # a broker that knows of such subscriptions
    peer = admin_of("broker-0")
    expect(
        "broker-0 accepts a subscription",
        lambda: raw_admin.alter_config_at(peer, raw_admin.CLIENT_METRICS_RESOURCE, "clients", {"interval.ms": "60000"}),
        equals="NONE",
        requirements=["K866-DW-other-config-types"],
    )

    with inject(Kill(targets.active_controller())):
        migration.await_new_active_controller()

    expect(
        expectations.CONFIG_ACCEPTED.of(broker="broker-0"),
        lambda: raw_admin.alter_broker_config_at(peer, 0, {"log.cleaner.backoff.ms": "20000"}),
        equals="NONE",
        requirements=["K866-FAIL-crash-in-migration"],
    )
    expect(
        expectations.CONFIG_WRITTEN.of(kind="brokers", name="0"),
        lambda: zookeeper.get("/config/brokers/0") is not None,
        equals=True,
        within_s=15,
        requirements=["K866-DW-other-config-types"],
    )
    workload.await_acked(500)
    verify_clients()


@pytest.mark.known_bug("kmigrate-11")
@pytest.mark.topology(controllers=3)
@pytest.mark.requirement("K866-ZNODE-controller-epoch-monotonic")
def test_no_partition_gets_an_epoch_that_zookeeper_has_not_reached(
    workload, cluster_metadata, migration, inject, zookeeper, expect, verify_clients
):
    """The quorum was long without a leader and has a high epoch, which ZooKeeper never received as one of its own."""
    migration.advance_to(Phase.PREPARING)
    workload.await_acked(3000)  # every controller is registered by then; one that is cut off meanwhile may never be
    with inject(Partition(tuple(targets.node(f"controller-300{number}") for number in range(3)))):
        workload.await_acked(8000)  # each asks for votes in vain, every time in a higher epoch
    migration.advance_to(Phase.HYBRID)
    cluster_metadata.settle("hybrid")

    expect(
        "partitions of orders that a later ZooKeeper controller could take for those of its successor",
        lambda: _written_in_later_epochs(zookeeper),
        equals=[],
        within_s=5,
        requirements=["K866-ZNODE-controller-epoch-monotonic"],
    )
    workload.await_acked(500)
    verify_clients(checks.metadata_equivalent("hybrid-log", "hybrid-zookeeper"))


@pytest.mark.since("3.5.0")  # of credentials in KRaft mode
@pytest.mark.known_bug("KAFKA-20774")
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-DW-scram", "K866-TEST-controller-failures")
def test_a_credential_outlives_the_restart_of_the_controller(workload, cluster_metadata, inject, verify_clients):
    """Another one was taken away before: the controller reads of both in its log when it starts again."""
    workload.await_acked(500)  # producers have their ids, which they get of a controller
    cluster_metadata.make(*(MetadataChange("set-scram", each, {"iterations": 4096}) for each in (TAKEN, KEPT)))
    cluster_metadata.make(MetadataChange("remove-scram", TAKEN))
    cluster_metadata.settle("before")
    with inject(Kill(targets.active_controller())):
        workload.await_acked(500)
    with cluster_metadata.changing("after", within_s=15):
        workload.await_acked(500)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


def _written_in_later_epochs(zookeeper):
    epoch = int(zookeeper.get("/controller_epoch"))
    states = {number: zookeeper.get(f"/brokers/topics/orders/partitions/{number}/state") for number in range(3)}
    return [number for number, state in states.items() if json.loads(state)["controller_epoch"] > epoch]


def _states_of_wide(zookeeper):
    path = "/brokers/topics/wide/partitions"
    return sum(zookeeper.get(f"{path}/{number}/state") is not None for number in zookeeper.children(path))
