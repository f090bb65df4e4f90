"""KIP-866, Finalizing: by the flag of the controllers, for good, and without ZooKeeper from then on."""

import pytest

from pytest_kmigrate import BrokerMode, Kill, Phase, Role, checks, moves, procedure, targets
from pytest_kmigrate.documents.kip_866 import expectations

FLAG = procedure.MIGRATION_FLAG


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement(
    "K866-PROC-unbounded-kraft-dual",
    "K866-PROC-finalize-by-flag",
    "K866-PROC-finalize-no-zk-rpcs",
    "K866-FAIL-final-then-flag",
    "K866-FAIL-final-then-flag-errors",
    "K866-MV-no-change-during-migration",
    "K866-STATE-PostMigration",
)
def test_a_migration_is_finalized_once_and_for_good(
    workload,
    cluster,
    cluster_metadata,
    migration,
    zookeeper,
    registration,
    version_change,
    errors_of,
    expect,
    verify_clients,
):
    """The controller restarts in dual write, then with the flag set to false, then with the flag again."""
    workload.await_acked(500)
    _expect_to_keep_the_version(version_change, expect)
    migration.make("restart-in-dual-write", *_each_controller(cluster, {}))
    with cluster_metadata.changing("dual"):
        workload.await_acked(500)

    migration.make("set-the-flag-to-false", *_each_controller(cluster, {FLAG: "false"}))
    migration.await_state("phase", Phase.FINALIZED, requirements=["K866-PROC-finalize-by-flag"])
    held = zookeeper.get("/migration")
    expect(
        "the answer to the registration of a broker that migrates",
        registration,
        equals="BROKER_ID_NOT_REGISTERED",
        requirements=["K866-PROC-finalize-no-zk-rpcs"],
    )
    reported = _errors(cluster, errors_of)
    migration.make("set-the-flag-again", *_each_controller(cluster, {FLAG: "true"}))
    workload.await_acked(2500)  # long enough that what was under way as it was finalized has ended
    workload.await_consumed(500)
    expect(
        "whether controllers have reported errors since they have the flag again",
        lambda: _errors(cluster, errors_of) > reported,
        equals=True,
        requirements=["K866-FAIL-final-then-flag-errors"],
    )

    expect(
        "the phase, and what /migration holds",
        lambda: (migration.phase.name, zookeeper.get("/migration")),
        equals=("FINALIZED", held),
        requirements=["K866-FAIL-final-then-flag"],
    )
    verify_clients(
        checks.metadata_equivalent("dual-log", "dual-zookeeper"),
        checks.acknowledged_metadata_changes_present("dual-zookeeper"),
        checks.phase_reached(Phase.FINALIZED),
    )


def _expect_to_keep_the_version(version_change, expect):
    expect(
        "the answers to changes of metadata.version in dual write",
        lambda: [version_change(by=-1), version_change(by=1)],
        equals=["INVALID_UPDATE_VERSION"] * 2,
        within_s=0,
        requirements=["K866-MV-no-change-during-migration"],
    )


@pytest.mark.topology(controllers=3)
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement(
    "K866-PROC-finalize-all-members", "K866-FAIL-misconf-leader-resigns", "K866-FAIL-misconf-leader-error"
)
def test_controllers_without_the_flag_do_not_finalize_before_all_others(
    workload, cluster, migration, inject, in_control, quorum_leader, recorded_states, errors_of, expect, verify
):
    """Two controllers lose the flag, and one of them is elected while the third, which has it still, is away."""
    flagged = in_control()
    others = [node.name for node in cluster.nodes(Role.CONTROLLER) if node.name != flagged]
    migration.make("take-the-flag-from-two", *(moves.Roll(name, {FLAG: None}) for name in others))
    reported = _errors(cluster, errors_of)
    with inject(Kill(targets.node(flagged))):
        expect("whether one without the flag is elected", lambda: quorum_leader() in others, equals=True, kind=None)
        workload.await_acked(1000)
    workload.await_acked(500)

    expect(
        "the states that each controller's log records",
        recorded_states,
        equals=[["PRE_MIGRATION", "MIGRATION"]] * 3,
        within_s=0,
        requirements=["K866-PROC-finalize-all-members"],
    )
    expect(
        "whether the quorum's leader has the flag",
        lambda: quorum_leader() == flagged,
        equals=True,
        within_s=10,
        requirements=["K866-FAIL-misconf-leader-resigns"],
    )
    expect(
        "whether controllers have reported errors since one without the flag was elected",
        lambda: _errors(cluster, errors_of) > reported,
        equals=True,
        within_s=0,
        requirements=["K866-FAIL-misconf-leader-error"],
    )
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement("K866-RB-after-final")
def test_a_broker_does_not_go_back_after_finalization(
    workload, cluster, migration, zookeeper, fenced, led_by, expect, verify
):
    """One broker is restarted with its configuration for ZooKeeper: the cluster goes on without it."""
    workload.await_acked(500)
    migration.advance_to(Phase.FINALIZED)
    held = zookeeper.get("/controller")
    broker = cluster.node("broker-2")
    broker.stop()
    broker.reconfigure(dict.fromkeys(procedure.brokers_join(cluster)), BrokerMode.ZOOKEEPER)
    broker.start()

    expect("brokers that the controllers have fenced", fenced, equals=["broker-2"])
    expect("partitions of orders that broker-2 leads", lambda: led_by("broker-2", "orders"), equals=[])
    expect("what /controller holds", lambda: zookeeper.get("/controller"), equals=held)
    workload.await_acked(500)
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement("K866-PROC-post-decommission-zk")
def test_a_finalized_cluster_needs_no_zookeeper(
    workload, cluster, migration, inject, created, tellers, expect, verify_clients
):
    """ZooKeeper is gone, and every node is restarted; the cluster takes changes and serves."""
    workload.await_acked(500)
    migration.advance_to(Phase.FINALIZED)

    with inject(Kill(targets.every(Role.ZOOKEEPER))):
        migration.make("restart-all", *(moves.Roll(node.name) for node in _kafka_nodes(cluster)))
        created("newcomer", partitions=1, replication=3)
        expect(
            expectations.NEW_TOPIC_KNOWN,
            lambda: tellers("newcomer"),
            equals=[0, 1, 2],
            requirements=["K866-PROC-post-decommission-zk"],
        )
        workload.await_acked(500)
        workload.await_consumed(500)

    verify_clients()


def _each_controller(cluster, changes):
    return [moves.Roll(node.name, changes) for node in cluster.nodes(Role.CONTROLLER)]


def _kafka_nodes(cluster):
    return [*cluster.nodes(Role.CONTROLLER), *cluster.nodes(Role.BROKER)]


def _errors(cluster, errors_of):
    return sum(errors_of(node.name, about="migration") for node in cluster.nodes(Role.CONTROLLER))
