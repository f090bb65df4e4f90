"""KIP-866, Metrics: what only the active controller reports no other one does, and what its numbers mean."""

import pytest

from pytest_kmigrate import Pause, Phase, checks, procedure, targets


@pytest.mark.sample
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
