"""The draft of KIP-866, states, records and metrics: the whole way, by the names and numbers that the draft gives."""

import pytest

from pytest_kmigrate import Phase, checks, moves, procedure


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.requirement(
    "K866D-METRIC-ZkMigrationState",
    "K866D-METRIC-ZkMigrationState-from-zk-controller",
    "K866D-METRIC-MigrationIneligibleBrokerCount",
    "K866D-METRIC-MigrationIneligibleBrokerCount-zero",
    "K866D-METRIC-MigrationIneligibleControllerCount",
    "K866D-METRIC-MigrationIneligibleControllerCount-zero",
    "K866D-METRIC-ZooKeeperWriteBehindLag",
    "K866D-METRIC-ZooKeeperBlockingKRaftMillis",
    "K866D-STATE-MigrationIneligible",
    "K866D-STATE-MigratingZkData",
    "K866D-STATE-DualWriteMetadata",
    "K866D-STATE-MigrationFinalized",
    "K866D-REC-ZkMigrationRecord",
    "K866D-REC-values",
    "K866D-REC-two-records",
    "K866D-REC-RegisterBroker-v2",
    "K866D-ZNODE-controller-isKRaft",
    "K866D-ZNODE-controller-id-only",
    "K866D-RPC-ApiVersions-v4",
    "K866D-RPC-ApiVersions-values",
    "K866D-RPC-ApiVersions-controllers-only",
)
def test_a_migration_has_the_states_records_and_metrics_of_the_draft(workload, cluster_metadata, migration, verify):
    """The controller has ZooKeeper's address before it has the flag; then a migration to its end."""
    migration.advance_to(Phase.PREPARING)
    migration.make("take-the-flag", moves.Roll("controller-3000", {procedure.MIGRATION_FLAG: "false"}))
    migration.make("give-the-flag-back", moves.Roll("controller-3000", {procedure.MIGRATION_FLAG: "true"}))
    workload.await_acked(2000)
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(2000)
    cluster_metadata.settle("hybrid")
    migration.advance_to(Phase.FINALIZED)
    workload.await_acked(2000)
    cluster_metadata.settle("finalized", sides=("log", "brokers"))

    verify(checks.phase_reached(Phase.FINALIZED))
