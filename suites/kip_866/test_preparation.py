"""KIP-866, Preparing the cluster: before the controllers take over, the ZooKeeper cluster stays fully operable."""

import pytest

from pytest_kmigrate import Kill, Phase, checks, moves, procedure, raw_admin, targets


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


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement(
    "K866-TRIG-broker-first-serves", "K866-TRIG-either-order", "K866-CONF-broker-flag-prerequisite"
)
def test_brokers_that_are_ready_first_wait_for_the_quorum_and_for_each_other(
    workload, cluster, migration, admin_of, created, expect, verify_clients
):
    """Two brokers have the flag before there is a quorum; the third has it long after."""
    ready = procedure.brokers_join(cluster)
    migration.make("two-brokers-first", moves.Roll("broker-0", ready), moves.Roll("broker-1", ready))
    created("early", partitions=1, replication=3)
    expect(
        "the answer to a change of a config of broker-0",
        lambda: raw_admin.alter_broker_config_at(admin_of("broker-0"), 0, {"log.cleaner.backoff.ms": "20000"}),
        equals="NONE",
        requirements=["K866-TRIG-broker-first-serves"],
    )
    migration.advance_to(Phase.PREPARING)
    workload.await_acked(3000)
    expect(
        "the phase while broker-2 is without the flag",
        lambda: migration.phase,
        equals=Phase.PREPARING,
        within_s=0,
        requirements=["K866-CONF-broker-flag-prerequisite"],
    )
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    workload.await_consumed(500)

    verify_clients(checks.phase_reached(Phase.HYBRID))


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-FAIL-misconf-premigration-flag-off")
def test_a_controller_without_the_flag_neither_migrates_nor_serves(
    workload, migration, cluster, controllers, expect, verify_clients
):
    """The flag is taken from the controller while it waits, and given back when every broker has joined."""
    migration.advance_to(Phase.PREPARING)
    migration.make("take-the-flag", moves.Roll("controller-3000", dict.fromkeys(procedure.controllers_join(cluster))))
    migration.begin(procedure.ENTER_MIGRATION, moves=3)
    workload.await_acked(3000)
    expect("the phase without the flag", lambda: migration.phase, equals=Phase.PREPARING, within_s=0)
    expect(
        "the controller's answer to the creation of a topic",
        lambda: raw_admin.create_topics_at(controllers()[0], ["early"], partitions=1, replication=1)["early"],
        equals="NOT_CONTROLLER",
    )

    migration.make("give-the-flag-back", moves.Roll("controller-3000", procedure.controllers_join(cluster)))
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    workload.await_consumed(500)

    verify_clients(checks.phase_reached(Phase.HYBRID))
