"""KIP-866, what Kafka must refuse: nodes with a configuration that cannot migrate do not run."""

import json

import pytest

from pytest_kmigrate import BrokerMode, Phase, Role, Tamper, checks, moves, procedure
from pytest_kmigrate.documents.kip_866 import expectations

JOINED = "controller.quorum.voters"
NAMES = "controller.listener.names"
SESSION_TIMEOUT, CONNECTION_TIMEOUT = "zookeeper.session.timeout.ms", "zookeeper.connection.timeout.ms"
REGISTRATION_TIMEOUT = "initial.broker.registration.timeout.ms"
SOON = {REGISTRATION_TIMEOUT: "5000"}  # by default a broker may try for a minute, and end only then
BEFORE_THE_BRIDGE = "3.3.2"
UNKNOWN_STATE = 9
OTHER_CLUSTER = "bm9uLW9mLW91ci1vd24tMQ"
FLAG = procedure.MIGRATION_FLAG
ASTRAY = {JOINED: "3000@controller-3000:9"}


@pytest.mark.scene
@pytest.mark.topology("zk1-broker1-spares")
class TestConfiguration:
    """A broker and a controller that are down are started with one mistake each, beside a cluster that serves."""

    @pytest.mark.sample
    @pytest.mark.requirement("K866-CONF-migration-enable-default")
    def test_the_flag_is_a_boolean(self, cluster, refused, expect, config_of, verify):
        """Neither role starts with another value; a broker without the key says that it is false."""
        expect(f"{FLAG} of broker-0", lambda: config_of("broker-0")[FLAG], equals="false")
        refused("broker-1", procedure.brokers_join(cluster) | {FLAG: "banana"}, naming=FLAG)
        refused("controller-3000", procedure.controllers_join(cluster) | {FLAG: "banana"}, naming=FLAG)
        verify()

    @pytest.mark.requirement("K866-CONF-zkbroker-quorum-voters")
    def test_a_broker_must_know_the_quorum(self, cluster, refused, verify):
        """It is refused with the flag and without voters, and with voters that cannot be read."""
        refused("broker-1", procedure.brokers_join(cluster) | {JOINED: None}, naming=JOINED)
        refused("broker-1", procedure.brokers_join(cluster) | {JOINED: "3000@"}, naming=JOINED)
        verify()

    @pytest.mark.requirement("K866-CONF-zkbroker-controller-listener-names")
    def test_a_broker_must_know_the_listeners_of_controllers(self, cluster, refused, verify):
        """It is refused with the flag and without their names."""
        refused("broker-1", procedure.brokers_join(cluster) | {NAMES: None}, naming=NAMES)
        verify()

    @pytest.mark.requirement("K866-CONF-zkbroker-protocol-map")
    def test_a_broker_must_know_how_to_reach_those_listeners(self, cluster, refused, verify):
        """It is refused with a listener of controllers that the map of protocols does not have, by that name."""
        refused("broker-1", procedure.brokers_join(cluster) | {NAMES: "QUORUM"}, naming="QUORUM")
        verify()

    @pytest.mark.requirement("K866-CONF-controller-zk-connect")
    def test_a_controller_must_know_zookeeper(self, cluster, refused, verify):
        """It is refused with the flag and without the address of ZooKeeper."""
        refused(
            "controller-3000",
            procedure.controllers_join(cluster) | {"zookeeper.connect": None},
            naming="zookeeper.connect",
        )
        verify()

    @pytest.mark.since("3.9.0")  # before, it ends by an error that names no property: Invalid negative nodeId: -1
    @pytest.mark.requirement("K866-CONF-broker-id-explicit")
    def test_a_broker_must_have_an_id(self, cluster, refused, verify):
        """It is refused with the flag and an id that ZooKeeper would generate."""
        generated = {"broker.id": None, "broker.id.generation.enable": "true"}
        refused("broker-1", procedure.brokers_join(cluster) | generated, naming="broker.id")
        verify()

    @pytest.mark.requirement("K866-MV-enables-components", "K866-TRIG-ibp")
    def test_a_broker_of_an_older_protocol_cannot_migrate(self, cluster, refused, verify):
        """It is refused with the flag and the protocol of 3.3."""
        older = {"inter.broker.protocol.version": "3.3"}
        refused(
            "broker-1",
            procedure.brokers_join(cluster) | older,
            naming="inter.broker.protocol.version",
            requirements=["K866-MV-enables-components", "K866-TRIG-ibp"],
        )
        verify()


@pytest.mark.topology("zk1-broker1-spares")
@pytest.mark.requirement(
    "K866-REC-extensible",
    "K866-CONF-controller-zk-timeouts",
    "K866-PROC-prepare-upgrade",
    "K866-TRIG-broker-connect",
    "K866-REG-reject-ibp",
    "K866-REG-reject-cluster-id",
    "K866-REG-reject-node-id",
    "K866-REG-kraft-dup-zk-id",
)
def test_nodes_that_cannot_take_part(
    cluster,
    migration,
    zookeeper,
    inject,
    stub,
    identity,
    registration,
    refused,
    created,
    expect,
    expect_to_stay,
    verify,
):
    """A quorum waits for a broker that cannot reach it; nodes with other mistakes are started beside, and end."""
    _expect_controllers_refused(cluster, migration, refused)
    cluster.node("controller-3000").reconfigure({SESSION_TIMEOUT: "9000", CONNECTION_TIMEOUT: "3000"})
    migration.advance_to(Phase.PREPARING)
    expect(
        "whether ZooKeeper granted a session of 9 s",
        lambda: 9000 in zookeeper.session_timeouts(),
        equals=True,
        requirements=["K866-CONF-controller-zk-timeouts"],
    )
    ready = procedure.brokers_join(cluster)
    migration.make("join", moves.Roll("broker-1", kafka=BEFORE_THE_BRIDGE), moves.Roll("broker-0", ready))
    expect_to_stay(
        expectations.WAITS_FOR_A_RELEASE.of(release="3.3"),
        lambda: migration.phase.name,
        equals="PREPARING",
        for_s=3,
        requirements=["K866-PROC-prepare-upgrade"],
    )
    cluster.node("controller-3000").stop()  # or it might look while broker-1, which has no replica, is down
    migration.make("upgrade", moves.Roll("broker-1", ready | ASTRAY, kafka=cluster.topology.kafka))
    cluster.node("controller-3000").start()
    _expect_brokers_refused(cluster, inject, registration, refused, expect)
    created("served", partitions=1, replication=2)
    expect_to_stay(
        expectations.WAITS_FOR_A_BROKER.of(which="-1"),
        lambda: migration.phase.name,
        equals="PREPARING",
        for_s=1,
        requirements=["K866-TRIG-broker-connect"],
    )
    migration.make("find-the-quorum", moves.Roll("broker-1", procedure.brokers_join(cluster)))
    migration.await_state("phase", Phase.HYBRID, requirements=["K866-TRIG-automatic"])
    _expect_ids_refused(cluster, stub, identity, registration, refused, expect)

    verify(checks.phase_reached(Phase.HYBRID))


def _expect_controllers_refused(cluster, migration, refused):
    """A controller knows the state that its log records, and gives up on ZooKeeper in its own time."""
    migration.make("format-in-an-unknown-state", procedure.FormatControllers(state=UNKNOWN_STATE))
    refused("controller-3000", {}, naming="ZkMigrationState", requirements=["K866-REC-extensible"])
    migration.make("format", moves.Deprovision(), procedure.FormatControllers())
    alone = {"zookeeper.connect": "zookeeper-1:9", CONNECTION_TIMEOUT: "3000"}
    refused(
        "controller-3000",
        procedure.controllers_join(cluster) | alone,
        within_s=12,
        requirements=["K866-CONF-controller-zk-timeouts"],
    )
    migration.make("forget", moves.Deprovision())


def _expect_brokers_refused(cluster, inject, registration, refused, expect):
    """A broker of another protocol, and one of another cluster: by the controllers' answer, and by its end."""
    joining = procedure.brokers_join(cluster)
    expect(
        "the answer to a registration of a lower metadata.version",
        lambda: registration(by=-1),
        equals="UNSUPPORTED_VERSION",
        requirements=["K866-REG-reject-ibp"],
    )
    older = {"inter.broker.protocol.version": "3.4"}
    refused("broker-2", joining | SOON | older, within_s=12, requirements=["K866-REG-reject-ibp"])
    cluster.node("broker-2").wipe()
    expect(
        "the answer to a registration of another cluster",
        lambda: registration(cluster_id=OTHER_CLUSTER),
        equals="INCONSISTENT_CLUSTER_ID",
        requirements=["K866-REG-reject-cluster-id"],
    )
    with inject(Tamper("/cluster/id", json.dumps({"version": "1", "id": OTHER_CLUSTER}))):
        refused("broker-2", joining | SOON, within_s=12, requirements=["K866-REG-reject-cluster-id"])
    cluster.node("broker-2").wipe()


def _expect_ids_refused(cluster, stub, identity, registration, refused, expect):
    """Brokers with the id of another node: one in KRaft mode for one in ZooKeeper mode, and any for a controller."""
    expect(
        "the answer to a broker in KRaft mode with the id of one in ZooKeeper mode",
        lambda: registration(broker_id=0, is_migrating=False),
        equals="DUPLICATE_BROKER_REGISTRATION",
        requirements=["K866-REG-kraft-dup-zk-id"],
    )
    twin = procedure.brokers_join(cluster) | SOON | {"node.id": "0", FLAG: None}
    cluster.node("broker-2").reconfigure(twin, BrokerMode.KRAFT)
    cluster.run_tool("broker-2", "kafka-storage", ["format", "-t", identity()[0], "-c", "{config}"])
    refused("broker-2", twin, naming="for the controller", requirements=["K866-REG-kraft-dup-zk-id"])
    stub.register(*identity())
    expect(
        "whether registrations with the ids of a live broker and of a controller are refused",
        lambda: [registration(broker_id=broker_id) != "NONE" for broker_id in (9, 3000)],
        equals=[True, True],
        within_s=0,
        requirements=["K866-REG-reject-node-id"],
    )


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866-CONF-controller-flag-trigger", "K866-FAIL-none-then-flag")
def test_a_quorum_that_began_without_the_flag_never_migrates(
    workload, cluster, migration, zookeeper, in_control, expect, expect_end, verify
):
    """It begins beside brokers that are ready, and touches nothing; restarted with the flag, it does not run."""
    migration.make("brokers-first", *(moves.Roll(f"broker-{n}", procedure.brokers_join(cluster)) for n in range(3)))
    migration.make("begin-without-the-flag", procedure.FormatControllers(), moves.StartControllers())
    workload.await_acked(3000)
    expect(
        "what ZooKeeper holds in /migration, and the role that /controller names",
        lambda: (zookeeper.get("/migration"), in_control().partition("-")[0]),
        equals=(None, "broker"),
        within_s=0,
        requirements=["K866-CONF-controller-flag-trigger"],
    )
    for controller in cluster.nodes(Role.CONTROLLER):
        controller.stop()

    with expect_end("controller-3000", within_s=60, naming="KRaft mode", requirements=["K866-FAIL-none-then-flag"]):
        migration.make("set-the-flag", moves.StartControllers(procedure.controllers_join(cluster)))

    verify()


@pytest.mark.since("3.6.0")
@pytest.mark.topology("zk1-broker3-controller1-low")
@pytest.mark.requirement("K866-PROC-single-transaction")
def test_a_quorum_at_a_level_without_metadata_transactions_does_not_migrate(
    workload, cluster, migration, expect_end, verify
):
    """A controller with the flag ends at a level at which it could not copy in one transaction; the cluster goes on."""
    migration.make("brokers-first", *(moves.Roll(f"broker-{n}", procedure.brokers_join(cluster)) for n in range(3)))

    with expect_end(
        "controller-3000", within_s=60, naming="metadata.version", requirements=["K866-PROC-single-transaction"]
    ):
        migration.make(
            "begin", procedure.FormatControllers(), moves.StartControllers(procedure.controllers_join(cluster))
        )
    workload.await_acked(500)

    verify()


@pytest.mark.sample
@pytest.mark.topology("kraft-broker3-controller3", brokers=3, controllers=3)
@pytest.mark.requirement(
    "K866-STATE-None",
    "K866-STATE-cluster-wide",
    "K866-REG-no-flag-controller",
    "K866-CONF-kraft-broker-no-effect",
)
def test_a_cluster_born_in_kraft_mode_says_that_it_never_migrated(
    workload, cluster, recorded_states, registration, started, expect, verify_clients
):
    """Every controller's log records NONE only; brokers in ZooKeeper mode are refused; the flag changes nothing."""
    workload.await_acked(500)
    workload.await_consumed(500)
    expect(
        "the states that each controller's log records",
        recorded_states,
        equals=[["NONE"]] * 3,
        requirements=["K866-STATE-None", "K866-STATE-cluster-wide"],
    )
    expect(
        "the answer to the registration of a broker that migrates",
        registration,
        equals="BROKER_ID_NOT_REGISTERED",
        requirements=["K866-REG-no-flag-controller"],
    )
    cluster.node("broker-2").stop()
    outcome = started("broker-2", {FLAG: "true"})
    expect(
        "how a broker in KRaft mode starts with the flag",
        lambda: outcome,
        equals="ready",
        within_s=0,
        requirements=["K866-CONF-kraft-broker-no-effect"],
    )
    cluster.node("broker-2").start()

    verify_clients()
