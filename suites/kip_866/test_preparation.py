"""KIP-866, Preparing the cluster: before the controllers take over, the ZooKeeper cluster stays fully operable."""

import json

import pytest

from pytest_kmigrate import Kill, Kind, Phase, checks, moves, procedure, raw_admin, targets
from pytest_kmigrate.documents.kip_866.expectations import CONFIG_ACCEPTED, CONFIG_ANSWERED, WAITS, WAITS_FOR_A_BROKER

WITHOUT_PATH = WAITS.of(what="the path of the brokers")
WITHOUT_REPLICA = WAITS_FOR_A_BROKER.of(which=" 7, which has a replica")
WITHOUT_EPOCH = WAITS.of(what="/controller_epoch")
WITHOUT_CONFIG = WAITS_FOR_A_BROKER.of(which=" 5, which has a config")
WITHOUT_BROKERS = WAITS.of(what="any broker")


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-FWD-before-takeover")
def test_broker_configs_can_be_changed_before_the_takeover(
    workload, migration, admin_of, broker_in_migration_mode, expect, verify_clients
):
    """A broker that waits for the migration takes a dynamic config of its own, though it is not the controller."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)
    broker = broker_in_migration_mode()

    expect(
        CONFIG_ACCEPTED.of(broker=broker.name),
        lambda: raw_admin.alter_broker_config_at(
            admin_of(broker.name), broker.spec.node_id, {"log.cleaner.backoff.ms": "20000"}
        ),
        equals="NONE",
    )
    workload.await_acked(500)

    verify_clients()


@pytest.mark.until("3.7.0")
@pytest.mark.known_bug("KAFKA-15450")
@pytest.mark.topology("zk1-broker1-disks")
@pytest.mark.requirement("K866-MV-enables-components")
def test_a_broker_with_several_disks_cannot_migrate_to_a_level_without_them(cluster, refused, verify):
    """It is refused with the flag, since no metadata.version of its release lets a broker in KRaft mode have two."""
    refused("broker-1", procedure.brokers_join(cluster), naming="multiple log directories", within_s=20)
    verify()


@pytest.mark.known_bug("takeover-without-a-broker")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
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


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866-TRIG-broker-first-serves",
    "K866-TRIG-either-order",
    "K866-CONF-broker-flag-prerequisite",
    "K866-FWD-enabled-by-version",
)
def test_brokers_that_are_ready_first_wait_for_the_quorum_and_for_each_other(
    workload, cluster, cluster_metadata, migration, admin_of, broker_without_the_flag, created, expect, verify_clients
):
    """Two brokers have the flag before there is a quorum, the third long after; the outcome is as in any order."""
    expect(
        "the answer of a broker without the flag to the creation of a topic",
        lambda: raw_admin.create_topics_at(
            admin_of(broker_without_the_flag().name), ["forwarded"], partitions=1, replication=1
        )["forwarded"],
        equals="NONE",
        within_s=0,
        requirements=["K866-FWD-enabled-by-version"],
    )
    ready = procedure.brokers_join(cluster)
    migration.make("two-brokers-first", moves.Roll("broker-0", ready), moves.Roll("broker-1", ready))
    created("early", partitions=1, replication=3)
    expect(
        CONFIG_ANSWERED.of(broker="broker-0"),
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
    with cluster_metadata.changing("copied", sides=("log", "zookeeper", "brokers")):
        workload.await_acked(500)
    workload.await_consumed(500)

    verify_clients(
        checks.phase_reached(Phase.HYBRID),
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.metadata_equivalent("copied-log", "copied-brokers", families=("topics", "partitions")),
        checks.acknowledged_metadata_changes_present("copied-log"),
    )


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866-FAIL-misconf-premigration-flag-off")
def test_a_controller_without_the_flag_neither_migrates_nor_serves(
    workload, migration, cluster, controllers, expect, verify_clients
):
    """The flag is taken from the controller while it waits, and given back when every broker has joined."""
    migration.advance_to(Phase.PREPARING)
    migration.make("take-the-flag", moves.Roll("controller-3000", dict.fromkeys(procedure.controllers_join(cluster))))
    migration.begin(procedure.ENTER_MIGRATION, moves=3)
    workload.await_acked(3000)
    expect(WAITS.of(what="the flag"), lambda: migration.phase, equals=Phase.PREPARING, within_s=0)
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


@pytest.mark.topology("zk1-broker1-spares")
@pytest.mark.requirement(
    "K866-MV-3.4-line",
    "K866-TRIG-empty-cluster",
    "K866-CONF-controller-zk-same-as-brokers",
    "K866-TRIG-heuristic-assignments",
    "K866-ZNODE-controller-epoch-missing",
    "K866-TRIG-heuristic-configs",
)
def test_a_quorum_waits_for_whatever_is_missing(
    cluster, migration, zookeeper, stub_of, identity, started, expect, expect_to_stay, verify
):
    """One thing is missing at a time: brokers, their path, one with a replica, an epoch, one with a config."""
    first, second = stub_of(9), stub_of(7)
    cluster.node("broker-0").stop()
    cluster.node("broker-0").wipe()
    _expect_the_level_of_the_document(cluster, migration, started, expect)
    migration.advance_to(Phase.PREPARING)
    _expect_to_wait(expect_to_stay, migration, WITHOUT_BROKERS, "K866-TRIG-empty-cluster")

    elsewhere = {"zookeeper.connect": f"{cluster.zookeeper_connect}/elsewhere"}
    zookeeper.create_ephemeral("/brokers/ids/9", first.znode())
    migration.make("look-elsewhere", moves.Roll("controller-3000", elsewhere))
    first.register(*identity())
    held = _znodes_but(zookeeper, "/elsewhere")
    _expect_to_wait(expect_to_stay, migration, WITHOUT_PATH, "K866-CONF-controller-zk-same-as-brokers")
    expect(
        "znodes of the brokers that changed meanwhile",
        lambda: sorted(set(held.items()) ^ set(_znodes_but(zookeeper, "/elsewhere").items())),
        equals=[],
        within_s=0,
        requirements=["K866-CONF-controller-zk-same-as-brokers"],
    )

    _put_topic(zookeeper, "held", replicas=[9, 7])
    migration.make("look-right", moves.Roll("controller-3000", procedure.controllers_join(cluster)))
    _expect_to_wait(expect_to_stay, migration, WITHOUT_REPLICA, "K866-TRIG-heuristic-assignments")

    zookeeper.delete("/controller_epoch")
    second.register(*identity())
    _expect_to_wait(expect_to_stay, migration, WITHOUT_EPOCH, "K866-ZNODE-controller-epoch-missing")

    controller = cluster.node("controller-3000")
    controller.stop()  # or it might look between the two changes; and its pauses between two looks have grown
    _put(zookeeper, "/config/brokers/5", {"version": 1, "config": {"log.cleaner.backoff.ms": "20000"}})
    zookeeper.set("/controller_epoch", b"7")
    controller.start()
    _expect_to_wait(expect_to_stay, migration, WITHOUT_CONFIG, "K866-TRIG-heuristic-configs", for_s=6)

    zookeeper.delete("/config/brokers/5")
    migration.await_state("phase", Phase.HYBRID, requirements=["K866-TRIG-automatic"])
    expect(
        "whether /controller_epoch is above that of before",
        lambda: int(zookeeper.get("/controller_epoch")) > 7,
        equals=True,
        requirements=["K866-ZNODE-controller-epoch-missing"],
    )
    verify(checks.phase_reached(Phase.HYBRID))


def _expect_the_level_of_the_document(cluster, migration, started, expect):
    """A quorum may be formatted for the version that the document brought, and a broker may migrate by its protocol."""
    migration.make("format-for-3.4", procedure.FormatControllers("3.4"))
    as_level = started("controller-3000", {}, for_s=3)
    migration.make("forget", moves.Deprovision())
    as_protocol = started("broker-1", procedure.brokers_join(cluster) | {"inter.broker.protocol.version": "3.4"})
    cluster.node("broker-1").wipe()
    expect(
        "how a controller formatted for 3.4, and a broker with the flag and the protocol of 3.4, start",
        lambda: [as_level, as_protocol],
        equals=["ready", "ready"],
        within_s=0,
        requirements=["K866-MV-3.4-line"],
    )


def _expect_to_wait(expect_to_stay, migration, awaited, requirement, for_s=3):
    expect_to_stay(
        awaited,
        lambda: migration.phase.name,
        equals="PREPARING",
        for_s=for_s,
        requirements=[requirement],
    )


def _znodes_but(zookeeper, path):
    return {name: data for name, data in zookeeper.snapshot().items() if not name.startswith(path)}


def _put(zookeeper, path, held):
    zookeeper.set(path, json.dumps(held).encode())


def _put_topic(zookeeper, name, replicas):
    topic = {"version": 3, "topic_id": "bm9uLW9mLW91ci1vd24tMQ", "partitions": {"0": replicas}}
    leader = {"leader": replicas[0], "isr": replicas, "leader_epoch": 0, "controller_epoch": 1, "version": 1}
    _put(zookeeper, f"/brokers/topics/{name}", topic | {"adding_replicas": {}, "removing_replicas": {}})
    _put(zookeeper, f"/brokers/topics/{name}/partitions/0/state", leader)


@pytest.mark.since("3.6.0")
@pytest.mark.topology("zk1-broker1-controller3", brokers=1, controllers=3)
@pytest.mark.requirement("K866-TRIG-quorum-all-ready", "K866-TRIG-quorum-online-majority")
def test_a_quorum_waits_for_all_of_its_controllers(cluster, migration, expect, expect_to_stay, verify):
    """One of three is down, under metadata.version 3.6 and the latest; then it has no flag, and at last it has."""
    older = {"inter.broker.protocol.version": "3.6"}
    _begin_with_two(cluster, migration, "3.6", older)
    all_ready = "K866-TRIG-quorum-all-ready"
    _expect_to_wait(
        expect_to_stay,
        migration,
        WAITS.of(what="a controller under metadata.version 3.6"),
        all_ready,
        for_s=10,
    )
    migration.revert()

    _begin_with_two(cluster, migration, None, dict.fromkeys(older))
    _expect_to_wait(expect_to_stay, migration, WAITS.of(what="a controller"), all_ready, for_s=4)
    migration.make("start-the-third", moves.StartControllers(only=["controller-3002"]))
    _expect_to_wait(expect_to_stay, migration, WAITS.of(what="the flag of a controller"), all_ready, for_s=4)
    migration.make("give-the-flag", moves.Roll("controller-3002", procedure.controllers_join(cluster)))
    expect(
        "the phase with every controller",
        lambda: migration.phase.name,
        equals="HYBRID",
        kind=Kind.LIVENESS,
        requirements=["K866-TRIG-quorum-online-majority"],
    )

    verify(checks.phase_reached(Phase.HYBRID))


def _begin_with_two(cluster, migration, level, changes):
    two = ["controller-3000", "controller-3001"]
    migration.make(
        f"begin-with-two-at-{level or 'the-latest'}",
        procedure.FormatControllers(level),
        moves.StartControllers(procedure.controllers_join(cluster), only=two),
        moves.Roll("broker-0", procedure.brokers_join(cluster) | changes),
    )
