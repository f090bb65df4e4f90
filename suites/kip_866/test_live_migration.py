"""KIP-866 as an operator meets it: one live migration, with a crash and a cut link on the way. This is the demo."""

import pytest

from pytest_kmigrate import Cut, Kill, Phase, Role, checks, targets


@pytest.mark.sample
@pytest.mark.requirement(
    "K866-TEST-happy-path", "K866-TEST-controller-failures", "K866-TEST-zk-unavailable", "K866-DW-full-parity"
)
def test_live_migration_survives_a_crash_and_a_cut_link(workload, cluster_metadata, migration, inject, verify_clients):
    """The active controller dies, its successor loses ZooKeeper for a while; nothing acknowledged is lost anywhere."""
    cluster_metadata.fill()
    migration.advance_to(Phase.HYBRID)

    with inject(Kill(targets.active_controller())):
        migration.await_new_active_controller()
        workload.await_acked(300)
    with inject(Cut(targets.active_controller(), targets.every(Role.ZOOKEEPER))) as cut:
        cluster_metadata.change(per_s=2)
        workload.await_acked(1500)
        cut.await_bitten()
    cluster_metadata.await_acknowledged()
    cluster_metadata.stop()
    cluster_metadata.settle("dual-write")
    migration.advance_to(Phase.FINALIZED)
    workload.await_acked(300)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("dual-write-log", "dual-write-zookeeper"),
        checks.acknowledged_metadata_changes_present("dual-write-log"),
        checks.acknowledged_metadata_changes_present("dual-write-zookeeper"),
    )
