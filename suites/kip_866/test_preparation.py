"""KIP-866, Preparing the cluster: before the controllers take over, the ZooKeeper cluster stays fully operable."""

import pytest

from pytest_kmigrate import Phase, procedure, raw_admin

pytestmark = [
    pytest.mark.known_bug("kmigrate-3"),  # any start of a quorum may meet it
    pytest.mark.known_bug("kmigrate-4"),  # any take-over
]


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
        within_s=5,
        signature="broker-config-refused-in-pre-migration",
    )
    workload.await_acked(500)

    verify_clients()
