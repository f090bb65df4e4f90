"""The draft of KIP-866, RPCs: what controllers send to brokers, and which registrations they take."""

import pytest

from pytest_kmigrate import Phase, moves, procedure, raw_admin


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866D-RPC-LeaderAndIsr-v7",
    "K866D-RPC-StopReplica-v4",
    "K866D-RPC-UpdateMetadata-v8",
    "K866D-RPC-KRaftControllerId-only-kraft",
    "K866D-RPC-ControllerId-minus-one",
    "K866D-DW-rpcs",
    "K866D-FWD-umr-actual-controller",
)
def test_control_requests_name_the_controller_of_kraft(
    workload, migration, zookeeper, stub, identity, created, admin_of, expect, verify
):
    """A broker that lives in ZooKeeper, and then registers, is sent requests by both kinds of controllers."""
    zookeeper.create_ephemeral("/brokers/ids/9", stub.znode())
    created("before", partitions=1, replication=4)
    migration.advance_to(Phase.PREPARING)
    expect("the answer to the registration of broker 9", lambda: stub.register(*identity()), equals="NONE", kind=None)
    migration.advance_to(Phase.HYBRID)
    created("everywhere", partitions=1, replication=4)
    raw_admin.delete_topics_at(admin_of("broker-0"), ["everywhere"])
    workload.await_acked(1000)

    verify()


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866D-RPC-BrokerRegistration-v1", "K866D-RPC-BrokerRegistration-presence", "K866D-REG-ready-valid"
)
def test_brokers_register_by_a_number_that_says_whether_they_are_ready(
    migration, registration, drafted_registration, expect, verify
):
    """A registration of version 1 with ZkMigrationReady in a tag, a byte that must be 1."""
    migration.advance_to(Phase.PREPARING)

    expect(
        "the answer to ready 1, and whether one without the field and one of version 0 can be read",
        lambda: [
            drafted_registration(1),
            drafted_registration(None) != "CLOSED",
            registration(version=0) != "CLOSED",
        ],
        equals=["NONE", True, True],
        within_s=0,
        requirements=["K866D-RPC-BrokerRegistration-v1"],
    )
    expect(
        "whether registrations with ready 0, 1 and 2 are taken",
        lambda: [drafted_registration(ready) == "NONE" for ready in (0, 1, 2)],
        equals=[False, True, False],
        within_s=0,
        requirements=["K866D-RPC-BrokerRegistration-presence"],
    )
    expect(
        "whether registrations with ready 0, 1 and 7 are taken",
        lambda: [drafted_registration(ready) == "NONE" for ready in (0, 1, 7)],
        equals=[False, True, False],
        within_s=0,
        requirements=["K866D-REG-ready-valid"],
    )

    verify()


@pytest.mark.sample
@pytest.mark.topology("zk1-broker1-spares")
@pytest.mark.requirement("K866D-REG-features")
def test_a_broker_registers_as_ready_and_with_one_level(cluster, migration, stub_controller, expect, verify):
    """A broker in ZooKeeper mode finds a quorum that knows version 1 of registrations only."""
    joined = procedure.brokers_join(cluster) | {"controller.quorum.voters": stub_controller.voter}
    migration.make("join-a-stub", moves.Roll("broker-0", joined))
    expect("whether a broker has registered", stub_controller.registered.is_set, equals=True, kind=None)

    verify()


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866D-DW-signal")
def test_a_request_with_the_id_and_the_flag_of_the_broker_together_are_a_signal(migration, signalled, expect, verify):
    """A broker with the flag takes a request of a KRaft controller, and one without it does not."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=1)

    expect(
        "whether brokers with the flag and without it take UpdateMetadata with KRaftControllerId",
        lambda: [signalled(broker) == "NONE" for broker in ("broker-0", "broker-2")],
        equals=[True, False],
        within_s=0,
    )

    verify()


@pytest.mark.topology("zk1-broker1-controller3", brokers=1, controllers=3)
@pytest.mark.requirement("K866D-TRIG-apiversions-exchange")
def test_a_quorum_is_as_ready_as_its_controllers_answer_each_other(
    migration, seem_unready, in_control, expect, expect_to_stay, verify
):
    """The others read in the answers of one controller that it is not ready; the migration must not begin."""
    relay = seem_unready("controller-3002")
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=1)

    expect_to_stay("who is in charge in ZooKeeper", in_control, equals="broker-0", for_s=20)
    expect("whether controllers asked each other", relay.rewritten.is_set, equals=True, within_s=0)

    verify()
