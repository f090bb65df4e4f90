"""KIP-866, Preparing the cluster: before the controllers take over, the ZooKeeper cluster stays fully operable."""

import pytest

from pytest_kmigrate import Kill, Phase, checks, procedure, raw_admin, targets


@pytest.mark.sample
@pytest.mark.requirement("K866-FWD-before-takeover")
def test_broker_configs_can_be_changed_before_the_takeover(
    workload, migration, admin_of, broker_in_migration_mode, expect, verify_clients
):
    """A broker that waits for the migration takes a dynamic config of its own, though it is not the controller."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)
    broker = broker_in_migration_mode()

    expect(
        f"{broker.name} accepts a config of its own",
        lambda: raw_admin.alter_broker_config_at(
            admin_of(broker.name), broker.spec.node_id, {"log.cleaner.backoff.ms": "20000"}
        ),
        equals="NONE",
    )
    workload.await_acked(500)

    verify_clients()


@pytest.mark.known_bug("takeover-without-a-broker")
@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-TRIG-no-offline")
def test_controllers_wait_for_a_broker_that_died(workload, migration, join, inject, verify_clients):
    """A broker is ready for the migration and dies; the last one joins, and nothing begins without the first."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)

    with inject(Kill(targets.node("broker-0"))):
        join("broker-2")
        workload.await_acked(3000)
    workload.await_acked(500)

    verify_clients(checks.takeover_waits_for_every_broker())
