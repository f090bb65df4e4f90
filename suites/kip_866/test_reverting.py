"""KIP-866, Rollback to ZK: until it is finalized, a migration can be undone from wherever it stands."""

import pytest

from pytest_kmigrate import Hold, Phase, Role, Slow, checks, crash_points, procedure, targets

pytestmark = pytest.mark.known_bug("kmigrate-4")  # any take-over may meet it


@pytest.mark.requirement("K866-RB-any-point", "K866-RB-data-kept", "K866-RB-metadata-kept")
@pytest.mark.parametrize(
    "phase",
    [pytest.param(Phase.PREPARING, marks=pytest.mark.requirement("K866-RB-provisioned")), Phase.HYBRID],
    ids=lambda phase: phase.name,
)
def test_migration_is_undone_before_any_broker_runs_kraft(phase, workload, metadata, migration, verify_clients):
    """Brokers were only rolled into migration mode, or not even that: ZooKeeper is in charge again, nothing is lost."""
    metadata.fill()
    migration.advance_to(phase)
    workload.await_acked(500)

    migration.revert()
    with metadata.changing("reverted", per_s=2, sides=("zookeeper", "brokers")):
        workload.await_acked(500)

    verify_clients(
        checks.acknowledged_metadata_changes_present("reverted-zookeeper"),
        checks.metadata_equivalent("reverted-zookeeper", "reverted-brokers"),
    )


@pytest.mark.requirement("K866-RB-any-point", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_migration_is_undone_in_mid_copy(workload, metadata, migration, inject, verify_clients):
    """The controllers have taken over and are still copying when the operator calls it off."""
    metadata.fill()
    migration.advance_to(Phase.PREPARING)

    with inject(Hold(crash_points.LONG_COPY)) as long_copy:
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        long_copy.await_bitten()
        migration.revert()
    with metadata.changing("reverted", per_s=2, sides=("zookeeper", "brokers")):
        workload.await_acked(500)

    verify_clients(
        checks.acknowledged_metadata_changes_present("reverted-zookeeper"),
        checks.metadata_equivalent("reverted-zookeeper", "reverted-brokers"),
    )


@pytest.mark.known_bug("kmigrate-5")
@pytest.mark.requirement("K866-RB-clean-shutdown-flush", "K866-RB-metadata-kept")
def test_what_waits_for_zookeeper_is_written_before_the_quorum_ends(
    workload, metadata, migration, inject, verify_clients
):
    """ZooKeeper answers late and dual write lags behind when the controllers are told to stop, each in its turn."""
    migration.advance_to(Phase.HYBRID)

    with inject(Slow(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER), latency_ms=700)):
        metadata.change(per_s=5)
        metadata.await_acknowledged(25)
        metadata.stop()
        migration.revert()
    metadata.settle("reverted", sides=("zookeeper", "brokers"))

    verify_clients(checks.acknowledged_metadata_changes_present("reverted-zookeeper"))


@pytest.mark.requirement("K866-RB-retry-migration", "K866-RB-data-kept", "K866-RB-metadata-kept")
def test_reverted_migration_can_be_done_again(workload, metadata, migration, verify_clients):
    """Back from ALL_KRAFT to ZooKeeper without losing anything; the second migration copies and finalizes."""
    metadata.fill()
    migration.advance_to(Phase.ALL_KRAFT)
    workload.await_acked(500)
    migration.revert()
    workload.await_acked(500)
    migration.advance_to(Phase.HYBRID)
    metadata.settle("copied-again")
    migration.advance_to(Phase.FINALIZED)
    workload.await_acked(500)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.acknowledged_metadata_changes_present("copied-again-log"),
        checks.metadata_equivalent("copied-again-log", "copied-again-zookeeper"),
    )
