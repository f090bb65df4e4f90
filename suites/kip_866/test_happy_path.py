"""KIP-866, Migration Overview: the whole way, with traffic flowing and nothing going wrong."""

import pytest

from pytest_kmigrate import Phase, checks, moves, procedure

WRITTEN = ("/migration", "/controller", "/brokers/topics/late", "/config/topics/late")


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
    cluster, migration, refused, created, anonymous_zookeeper, expect, verify
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
