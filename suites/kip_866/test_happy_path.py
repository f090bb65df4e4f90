"""KIP-866, Migration Overview and Metrics: the whole way, with traffic flowing, and what its gauges report.

One scene: the tests that begin with the same metadata share a cluster.
"""

import pytest

from pytest_kmigrate import Pause, Phase, checks, moves, procedure, raw_admin, targets

pytestmark = pytest.mark.scene

BETWEEN_SNAPSHOTS = "metadata.log.max.record.bytes.between.snapshots"
WRITTEN = ("/migration", "/controller", "/brokers/topics/late", "/config/brokers/0")


@pytest.mark.requirement(
    "K866-TEST-happy-path",
    "K866-STATE-order",
    "K866-PROC-finalize-record",
    "K866-PROC-single-transaction",
    "K866-REC-start-record",
    "K866-METRIC-ZkMigrationState",
    "K866-METRIC-MigratingZkBrokerCount",
    "K866-ZNODE-migration-schema",
    "K866-ZNODE-migration-initial",
    "K866-ZNODE-migration-values",
    "K866-ZNODE-migration-exists",
    "K866-ZNODE-controller-persistent",
)
def test_migration_ends_finalized_with_all_metadata(workload, cluster_metadata, migration, verify_clients):
    """A filled cluster migrates to FINALIZED; every family of metadata is the same on every side on the way."""
    cluster_metadata.fill()
    migration.advance_to(Phase.HYBRID)
    cluster_metadata.settle("copied")
    migration.advance_to(Phase.ALL_KRAFT)
    cluster_metadata.settle("all-kraft", sides=("log", "zookeeper", "brokers"))
    workload.await_acked(500)
    migration.advance_to(Phase.FINALIZED)
    workload.await_acked(500)
    cluster_metadata.settle("finalized", sides=("log", "brokers"))

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.metadata_equivalent("all-kraft-log", "all-kraft-zookeeper"),
        checks.metadata_equivalent("all-kraft-log", "all-kraft-brokers"),
        checks.metadata_equivalent("finalized-log", "finalized-brokers"),
    )


@pytest.mark.topology("zk1-broker1-controller1-zookeeper-tls")
@pytest.mark.requirement("K866-CONF-controller-zk-ssl", "K866-CONF-controller-zk-acl")
def test_a_migration_by_tls_protects_what_it_writes(
    cluster, migration, refused, created, admin_of, anonymous_zookeeper, expect, verify
):
    """ZooKeeper lets Kafka in by TLS and a certificate only; a controller that trusts somebody else gives up."""
    migration.make("format", procedure.FormatControllers())
    own = cluster.node("controller-3000").properties["zookeeper.ssl.keystore.location"]
    astray = {"zookeeper.ssl.truststore.location": own, "zookeeper.connection.timeout.ms": "3000"}
    refused(
        "controller-3000",
        procedure.controllers_join(cluster) | astray,
        within_s=15,
        naming="ZooKeeper",
        requirements=["K866-CONF-controller-zk-ssl"],
    )
    migration.make("forget", moves.Deprovision())
    migration.advance_to(Phase.HYBRID)
    created("late", partitions=1, replication=1)
    raw_admin.alter_broker_config_at(admin_of("broker-0"), 0, {"log.cleaner.backoff.ms": "20000"})
    expect(
        "the phase",
        lambda: migration.phase.name,
        equals="HYBRID",
        requirements=["K866-CONF-controller-zk-ssl"],
    )
    expect(
        "znodes of the controllers that anybody may write to",
        lambda: [path for path in WRITTEN if anonymous_zookeeper.may_write(path)],
        equals=[],
        requirements=["K866-CONF-controller-zk-acl"],
    )

    verify(checks.phase_reached(Phase.HYBRID))


@pytest.mark.since("3.6.0")  # ZkWriteBehindLag came with it; 3.5 shows nothing here
@pytest.mark.known_bug("KAFKA-15532")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-METRIC-ZkWriteBehindLag-active-only")
def test_former_controller_does_not_tell_how_far_zookeeper_is_behind(
    workload, cluster_metadata, migration, inject, verify_clients
):
    """Who wrote to ZooKeeper until another controller took over reports no lag; it would grow for ever."""
    with cluster_metadata.changing("after", per_s=2):
        with inject(Pause(targets.active_controller())):
            migration.await_new_active_controller()
        workload.await_acked(2000)

    verify_clients(checks.only_the_active_controller_reports("ZkWriteBehindLag"))


@pytest.mark.known_bug("metrics-of-the-image")
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-METRIC-ZkMigrationState-active-only", "K866-METRIC-MigratingZkBrokerCount-active-only")
def test_standby_controllers_tell_nothing_of_the_migration(workload, verify_clients):
    """The state, and the brokers in migration mode, are reported once, so that the sum over all nodes is the truth."""
    workload.await_acked(500)
    workload.await_consumed(500)

    verify_clients(
        checks.only_the_active_controller_reports("ZkMigrationState"),
        checks.only_the_active_controller_reports("MigratingZkBrokerCount"),
    )


@pytest.mark.known_bug("numbers-of-the-states")
@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-METRIC-ZkMigrationState")
def test_state_of_the_migration_has_its_documented_number(migration, verify):
    """Whoever watches by the numbers of KIP-866 sees a migration wait while it waits for its last broker."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)

    verify(checks.migration_state_has_its_documented_number())


@pytest.mark.since("3.6.0")  # HandleLoadSnapshotCount and MigratingZkBrokerCount came with it
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-REC-snapshot-roundtrip")
def test_a_controller_that_starts_from_a_snapshot_goes_on(workload, cluster, migration, expect, verify_clients):
    """It is restarted to write a snapshot of each record, and once more, so that it loads one."""
    for step in ("write-snapshots", "load-a-snapshot"):
        migration.make(step, moves.Roll("controller-3000", {BETWEEN_SNAPSHOTS: "1"}))
        workload.await_acked(500)
    expect(
        "snapshots loaded, phase and brokers in ZooKeeper mode after a restart",
        lambda: (_loaded_snapshots(cluster), migration.phase.name, _zookeeper_brokers(cluster)),
        equals=(1, "HYBRID", 3),
    )
    verify_clients()


def _loaded_snapshots(cluster):
    return cluster.metrics("controller-3000", ["HandleLoadSnapshotCount"])["HandleLoadSnapshotCount"]


def _zookeeper_brokers(cluster):
    return cluster.metrics("controller-3000", ["MigratingZkBrokerCount"])["MigratingZkBrokerCount"]
