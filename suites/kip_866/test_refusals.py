"""KIP-866, what Kafka must refuse: nodes with a configuration that cannot migrate do not run."""

import pytest

from pytest_kmigrate import Role, moves, procedure

JOINED = "controller.quorum.voters"
NAMES = "controller.listener.names"
MAP = "listener.security.protocol.map"
FLAG = procedure.MIGRATION_FLAG


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
    def test_a_broker_must_know_how_to_reach_those_listeners(self, cluster, refused, last_words, expect, verify):
        """It is refused with a listener of controllers that the map of protocols does not have, by the map's name."""
        refused("broker-1", procedure.brokers_join(cluster) | {NAMES: "QUORUM"})
        expect(
            "the property that broker-1 names",
            lambda: MAP if MAP in last_words("broker-1") else last_words("broker-1"),
            equals=MAP,
            within_s=0,
        )
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

    @pytest.mark.since("3.9.0")
    @pytest.mark.requirement("K866-CONF-broker-id-explicit")
    def test_a_broker_must_have_an_id(self, cluster, refused, verify):
        """It is refused with the flag and an id that ZooKeeper would generate."""
        generated = {"broker.id": None, "broker.id.generation.enable": "true"}
        refused("broker-1", procedure.brokers_join(cluster) | generated, naming="broker.id")
        verify()

    @pytest.mark.requirement("K866-MV-enables-components")
    def test_a_broker_of_an_older_protocol_cannot_migrate(self, cluster, refused, verify):
        """It is refused with the flag and the protocol of 3.3."""
        older = {"inter.broker.protocol.version": "3.3"}
        refused("broker-1", procedure.brokers_join(cluster) | older, naming="inter.broker.protocol.version")
        verify()


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1")
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


@pytest.mark.sample
@pytest.mark.topology("kraft-broker3-controller3")
@pytest.mark.requirement("K866-STATE-None", "K866-STATE-cluster-wide", "K866-REG-no-flag-controller")
def test_a_cluster_born_in_kraft_mode_says_that_it_never_migrated(
    workload, recorded_states, registration, expect, verify_clients
):
    """Every controller's copy of the log records NONE and nothing else, and brokers in ZooKeeper mode are refused."""
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
    verify_clients()
