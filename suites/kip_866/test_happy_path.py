"""KIP-866, Migration Overview: the whole way, with traffic flowing and nothing going wrong."""

import pytest

from pytest_kmigrate import Phase, checks


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
