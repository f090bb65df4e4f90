"""KIP-866, Broker failures: brokers that die, stand still or are cut off while the cluster is being migrated."""

import pytest

from pytest_kmigrate import Cut, Kill, Pause, Phase, Role, checks
from pytest_kmigrate.faults.targets import broker_besides_controller, every, node
from pytest_kmigrate.migration.procedure import ROLL_TO_KRAFT


@pytest.mark.requirement("K866-TEST-broker-failures", "K866-PROC-roll-one-by-one", "K866-PROC-no-downtime-broker-phase")
def test_broker_killed_while_being_rolled(workload, metadata, migration, inject, verify_clients):
    """A broker dies while another has just come back in KRaft mode; once it is back the migration ends as ever."""
    migration.advance_to(Phase.HYBRID)
    migration.begin(ROLL_TO_KRAFT, moves=1)

    with inject(Kill(node("broker-1"))):
        workload.await_acked(500)
    migration.advance_to(Phase.ALL_KRAFT)
    metadata.settle("all-kraft")
    migration.advance_to(Phase.FINALIZED)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("all-kraft-log", "all-kraft-zookeeper"),
    )


@pytest.mark.requirement("K866-TEST-broker-failures", "K866-COMPAT-availability")
def test_broker_cut_from_the_controllers_comes_back(workload, metadata, migration, inject, verify_clients):
    """One broker cannot reach the quorum in dual write; the others serve, and afterwards all sides agree."""
    migration.advance_to(Phase.HYBRID)

    cut = Cut(broker_besides_controller(), every(Role.CONTROLLER), both_ways=True)
    with metadata.changing("after"), inject(cut):
        workload.await_acked(3000)
    migration.advance_to(Phase.ALL_KRAFT)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )


@pytest.mark.requirement("K866-TEST-broker-failures", "K866-TEST-broker-consistency")
def test_broker_paused_longer_than_its_session(workload, metadata, migration, inject, pass_time, verify_clients):
    """A broker stands still for longer than its session in dual write and is fenced; it rejoins and nothing is lost."""
    migration.advance_to(Phase.HYBRID)

    with metadata.changing("after"):
        with inject(Pause(broker_besides_controller())):
            pass_time(12, why="longer than broker.session.timeout.ms, 9 s")
        workload.await_acked(500)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )
