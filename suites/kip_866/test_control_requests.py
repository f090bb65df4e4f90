"""KIP-866, Controller RPCs: what controllers send to brokers in ZooKeeper mode, received by a stub of such a broker."""

import pytest

from pytest_kmigrate import Phase, moves, procedure, raw_admin
from pytest_kmigrate.documents.kip_866 import expectations
from pytest_kmigrate.wire.control_requests import LEADER_AND_ISR

REGISTERS = pytest.mark.since("3.6.0")
"""Before, controllers do not report the metadata.version that a broker registers with."""


@pytest.mark.sample
@REGISTERS
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866-TRIG-live-zk-brokers",
    "K866-TRIG-ibp",
    "K866-RPC-isKRaft-true",
    "K866-RPC-isKRaft-false-from-zk",
    "K866-RPC-LeaderAndIsr-v7",
    "K866-RPC-StopReplica-v4",
    "K866-RPC-UpdateMetadata-v8",
    "K866-RPC-full-state-on-takeover",
    "K866-RPC-stopreplica",
)
def test_controllers_wait_for_a_live_broker_and_then_control_it(
    workload, migration, zookeeper, stub, identity, created, admin_of, expect, verify_clients
):
    """A broker that lives in ZooKeeper and has not registered keeps the migration from beginning; then it begins."""
    workload.await_consumed(500)
    zookeeper.create_ephemeral("/brokers/ids/9", stub.znode())
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=3)
    workload.await_acked(1000)
    created("before", partitions=1, replication=4)  # a replica that every later controller gives it anew
    expect(
        "the answer to the registration of broker 9 with a lower metadata.version",
        lambda: stub.register(identity()[0], identity()[1] - 1),
        equals="UNSUPPORTED_VERSION",
        requirements=["K866-TRIG-ibp"],
    )
    expect(
        expectations.WAITS_FOR_A_BROKER.of(which=" 9"),
        lambda: migration.phase,
        equals=Phase.PREPARING,
        within_s=0,
        requirements=["K866-TRIG-live-zk-brokers"],
    )

    expect(
        "the answer to the registration of broker 9",
        lambda: stub.register(*identity()),
        equals="NONE",
        requirements=["K866-TRIG-ibp"],
    )
    migration.advance_to(Phase.HYBRID)
    created("everywhere", partitions=1, replication=4)
    raw_admin.delete_topics_at(admin_of("broker-0"), ["everywhere"])
    expect(
        "topics whose replicas broker 9 was asked to delete",
        lambda: sorted(stub.deleted),
        equals=["everywhere"],
        within_s=20,
        requirements=["K866-RPC-stopreplica"],
    )
    workload.await_acked(1000)
    workload.await_consumed(500)

    verify_clients()


@REGISTERS
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866-REG-ibp-equality",
    "K866-REG-inter-broker-listener",
    "K866-REG-kraft-broker-premigration",
    "K866-RPC-BrokerRegistration-v1",
    "K866-PRE-reject-create-topic",
    "K866-PRE-reject-others",
    "K866-MV-no-change-during-migration",
)
def test_requests_that_controllers_must_refuse_before_the_takeover(
    workload, migration, controllers, identity, registration, version_change, expect, verify_clients
):
    """The quorum waits for brokers: it takes nothing in but registrations of brokers that may migrate."""
    migration.advance_to(Phase.PREPARING)

    _expect_registrations_refused(expect, registration, highest=identity()[1])
    _expect_changes_refused(expect, controllers()[0])
    expect(
        "the answers to changes of metadata.version before the take-over",
        lambda: [version_change(by=-1), version_change(by=1)],
        equals=["NOT_CONTROLLER"] * 2,
        requirements=["K866-MV-no-change-during-migration"],
    )
    workload.await_acked(500)
    workload.await_consumed(500)

    verify_clients()


@pytest.mark.sample
@pytest.mark.topology("zk1-broker1-spares")
@pytest.mark.requirement("K866-MV-rpc-gating", "K866-RPC-old-versions-kept")
def test_new_versions_of_control_requests_wait_for_the_protocol(
    migration, zookeeper, stub, admin_of, control_versions, old_versions_taken, expect, verify
):
    """A broker in control speaks the protocol of 3.3 to another one, then that of 3.4; it takes all older versions."""
    _speak(migration, "3.3")
    zookeeper.create_ephemeral("/brokers/ids/9", stub.znode())
    _create_and_delete(admin_of, expect, "older")
    expect(
        "versions of control requests under the protocol of 3.3",
        lambda: control_versions("older"),
        equals={"LeaderAndIsr": [6], "StopReplica": [3], "UpdateMetadata": [7]},
        requirements=["K866-MV-rpc-gating"],
    )
    _speak(migration, "3.4")
    _create_and_delete(admin_of, expect, "newer")
    expect(
        "versions of control requests under the protocol of 3.4",
        lambda: control_versions("newer"),
        equals={"LeaderAndIsr": [7], "StopReplica": [4], "UpdateMetadata": [8]},
        requirements=["K866-MV-rpc-gating"],
    )
    expect(
        "the versions from before KIP-866 that the broker takes",
        lambda: old_versions_taken("broker-0"),
        equals={"LeaderAndIsr": [*range(7)], "StopReplica": [*range(4)], "UpdateMetadata": [*range(8)]},
        requirements=["K866-RPC-old-versions-kept"],
    )

    verify()


def _speak(migration, protocol):
    migration.make(f"speak-{protocol}", moves.Roll("broker-0", {"inter.broker.protocol.version": protocol}))


def _create_and_delete(admin_of, expect, topic):
    """As soon as both brokers are known."""
    expect(
        f"the answer to the creation of {topic}",
        lambda: raw_admin.create_topics_at(admin_of("broker-0"), [topic], partitions=1, replication=2)[topic],
        equals="NONE",
        kind=None,
    )
    raw_admin.delete_topics_at(admin_of("broker-0"), [topic])


@REGISTERS
@pytest.mark.known_bug("kmigrate-20")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-RPC-stale-broker-epoch-kraft", "K866-RPC-both-flag-and-config")
def test_brokers_judge_control_requests_by_their_registration_and_their_flag(
    workload, cluster, stub, identity, forge, epoch_of, admin_of, expect, verify
):
    """The controllers' requests are forged: with an epoch before a broker's own, and for a broker without the flag."""
    workload.await_acked(500)
    expect("the answer to the registration of broker 9", lambda: stub.register(*identity()), equals="NONE", kind=None)
    epoch = epoch_of("broker-0")
    expect(
        "the answers to UpdateMetadata with the epoch before that of the registration, and with this one",
        lambda: [forge("broker-0", broker_epoch=epoch - 1), forge("broker-0", broker_epoch=epoch)],
        equals=["STALE_BROKER_EPOCH", "NONE"],
        within_s=0,
        requirements=["K866-RPC-stale-broker-epoch-kraft"],
    )
    leaver = cluster.node("broker-2")
    leaver.stop()
    leaver.reconfigure(dict.fromkeys(procedure.brokers_join(cluster)))
    leaver.start()
    held = raw_admin.replicas_at(admin_of("broker-2"))
    forge("broker-2", broker_epoch=-1)
    forge("broker-2", api=LEADER_AND_ISR, broker_epoch=-1, type=2, topics=[], live_leaders=[])
    expect(
        "the answer of the broker without the flag to the creation of a topic, and whether it keeps its replicas",
        lambda: (_create_at(admin_of("broker-2"), "forwarded"), raw_admin.replicas_at(admin_of("broker-2")) == held),
        equals=("NOT_CONTROLLER", True),
        within_s=0,
        requirements=["K866-RPC-both-flag-and-config"],
    )
    workload.await_acked(500)

    verify()


def _create_at(peer, topic):
    return raw_admin.create_topics_at(peer, [topic], partitions=1, replication=1)[topic]


def _expect_registrations_refused(expect, registration, highest):
    expect(
        "the answers to registrations with another metadata.version",
        lambda: [registration(by=-1), registration(by=1), registration(level=(1, highest - 1))],
        equals=["UNSUPPORTED_VERSION"] * 3,
        requirements=["K866-REG-ibp-equality"],
    )
    expect(
        "the answer to a registration without the listener that controllers dial",
        lambda: registration(listeners={"OTHER": "127.0.0.1:9"}),
        equals="INVALID_REGISTRATION",
        requirements=["K866-REG-inter-broker-listener"],
    )
    expect(
        "the answer to the registration of a broker in KRaft mode",
        lambda: registration(is_migrating=False),
        equals="BROKER_ID_NOT_REGISTERED",
        requirements=["K866-REG-kraft-broker-premigration"],
    )
    expect(
        "the answers to registrations without the flag, and with it",
        lambda: [
            registration(version=0),
            registration(version=1, is_migrating=False),
            registration(version=1) == "BROKER_ID_NOT_REGISTERED",  # from 3.7 on a log directory is missing in it
            registration(),  # in the highest version
        ],
        equals=["BROKER_ID_NOT_REGISTERED", "BROKER_ID_NOT_REGISTERED", False, "NONE"],
        requirements=["K866-RPC-BrokerRegistration-v1"],
    )


def _expect_changes_refused(expect, controller):
    expect(
        "the answer to the creation of a topic",
        lambda: raw_admin.create_topics_at(controller, ["early"], partitions=1, replication=1)["early"],
        equals="NOT_CONTROLLER",
        requirements=["K866-PRE-reject-create-topic"],
    )
    expect(
        "the answers to changes of a config, a quota and a partition, and to a deletion",
        lambda: [
            raw_admin.alter_broker_config_at(controller, 0, {"log.cleaner.backoff.ms": "20000"}),
            raw_admin.alter_quota_at(controller, {"user": "a"}, {"producer_byte_rate": 1024}),
            raw_admin.reassign(controller, {("orders", 0): [0]})["orders", 0],
            raw_admin.delete_topics_at(controller, ["orders"])["orders"],
        ],
        equals=["NOT_CONTROLLER"] * 4,
        within_s=0,
        requirements=["K866-PRE-reject-others"],
    )
