"""KIP-866, Mixed mode: brokers in both modes under KRaft controllers, for as long as an operator likes.

One scene: the tests that begin with the same metadata share a cluster.
"""

import pytest

from pytest_kmigrate import BrokerMode, Kill, Kind, Partition, Phase, Role, checks, moves, procedure, raw_admin, targets

pytestmark = pytest.mark.scene

SESSION_AND_MORE_S = 40


@pytest.mark.topology(brokers=3)
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement(
    "K866-PROC-mixed-unbounded", "K866-PROC-zk-mode-continues", "K866-RB-mixed", "K866-FWD-producer-ids"
)
def test_a_mixed_cluster_goes_on_through_restarts_and_failovers(
    workload, cluster, cluster_metadata, migration, inject, in_sync, new_producer_ids, expect, verify_clients
):
    """A broker runs in KRaft mode; one in ZooKeeper mode restarts as it is; two controllers die; the first returns."""
    migration.begin(procedure.ROLL_TO_KRAFT, moves=1)
    expect(
        "how many ids brokers of both modes give to new producers",
        lambda: len(new_producer_ids()),
        equals=9,
        kind=Kind.LIVENESS,
        requirements=["K866-FWD-producer-ids"],
    )
    before = new_producer_ids()

    with cluster_metadata.changing("mixed"):
        migration.make("restart-in-zookeeper-mode", moves.Roll("broker-1"))
        with inject(Kill(targets.active_controller())):
            migration.await_new_active_controller()
        with inject(Kill(targets.active_controller())):
            migration.await_new_active_controller()
        migration.make(
            "back-to-zookeeper-mode", moves.Roll("broker-0", procedure.brokers_join(cluster), BrokerMode.ZOOKEEPER)
        )

    expect(
        "how many ids they give after restarts and failovers",
        lambda: len(new_producer_ids()),
        equals=9,
        kind=Kind.LIVENESS,
        requirements=["K866-FWD-producer-ids"],
    )
    expect(
        "producer ids that were given to two producers",
        lambda: sorted(set(before) & set(new_producer_ids())),
        equals=[],
        requirements=["K866-FWD-producer-ids"],
    )
    expect(
        "in-sync replicas of orders",
        lambda: in_sync("orders"),
        equals=[[0, 1, 2]] * 3,
        kind=Kind.LIVENESS,
        requirements=["K866-PROC-mixed-unbounded", "K866-RB-mixed"],
    )
    verify_clients(
        checks.metadata_equivalent("mixed-log", "mixed-zookeeper"),
        checks.acknowledged_metadata_changes_present("mixed-log"),
        checks.acknowledged_metadata_changes_present("mixed-zookeeper"),
    )


@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-FAIL-incompatible-new", "K866-TRIG-heuristic-limits", "K866-RPC-only-to-zk-brokers")
def test_a_broker_that_is_in_zookeeper_only_is_sent_nothing(
    workload, cluster_metadata, zookeeper, stub, created, control_requests, expect, verify_clients
):
    """A broker of an old release appears in dual write: controllers send it no request, and everything goes on."""
    zookeeper.create_ephemeral("/brokers/ids/9", stub.znode())
    created("newcomer", partitions=1, replication=3)
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("later")

    expect(
        "control requests that broker 9 was sent",
        control_requests,
        equals=[],
        within_s=0,
        requirements=["K866-FAIL-incompatible-new", "K866-RPC-only-to-zk-brokers"],
    )
    verify_clients(checks.metadata_equivalent("later-log", "later-zookeeper", families=("topics", "partitions")))


@pytest.mark.spoils
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-PROC-finalize-with-zk-brokers")
def test_a_migration_with_brokers_in_zookeeper_mode_is_not_finalized(
    workload, cluster, migration, controllers, expect, verify
):
    """The flag is taken from the controllers while every broker is in ZooKeeper mode."""
    workload.await_acked(500)

    migration.make("finalize-too-early", *procedure.FINALIZE.moves(cluster))
    expect(
        "the answer of the controller to the creation of a topic, as it leads again",
        lambda: raw_admin.create_topics_at(controllers()[0], ["late"], partitions=1, replication=1)["late"],
        equals="NONE",
        kind=None,
    )

    expect("the phase", lambda: migration.phase.name, equals=Phase.HYBRID.name, within_s=10)
    workload.await_acked(500)
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.spoils
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement(
    "K866-FAIL-incompatible-existing",
    "K866-FAIL-incompatible-no-controller-steal",
    "K866-ZNODE-controller-no-zk-claim",
)
def test_a_broker_that_left_the_migration_is_fenced_and_takes_nothing(
    workload, cluster, inject, fenced, led_by, in_control, expect, verify
):
    """A broker is restarted without the flag: the others go on without it, and it does not become the controller."""
    leaver = cluster.node("broker-2")
    workload.await_acked(500)
    leaver.stop()
    leaver.reconfigure(dict.fromkeys(procedure.brokers_join(cluster)))
    leaver.start()

    expect(
        "brokers that the controllers have fenced",
        fenced,
        equals=["broker-2"],
        within_s=SESSION_AND_MORE_S,
        requirements=["K866-FAIL-incompatible-existing"],
    )
    expect(
        "partitions of the workload that broker-2 leads",
        lambda: led_by("broker-2", workload.topic),
        equals=[],
        requirements=["K866-FAIL-incompatible-existing"],
    )
    with inject(Kill(targets.every(Role.CONTROLLER))):
        workload.await_acked(9_000)  # longer than a session of ZooKeeper's lasts
        expect(
            "the role that /controller names",
            lambda: in_control().partition("-")[0],
            equals="controller",
            requirements=["K866-ZNODE-controller-no-zk-claim", "K866-FAIL-incompatible-no-controller-steal"],
        )
        expect(
            "brokers that are the controller",
            lambda: [name for name in ("broker-0", "broker-1", "broker-2") if _is_controller(cluster, name)],
            equals=[],
            requirements=["K866-ZNODE-controller-no-zk-claim", "K866-FAIL-incompatible-no-controller-steal"],
        )
    workload.await_acked(500)

    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866-FWD-alter-partition-direct")
def test_brokers_that_reach_only_the_controller_change_isrs(
    workload, cluster, cluster_metadata, migration, inject, answer_to_forwarded_isr, fenced, expect, verify_clients
):
    """Brokers in ZooKeeper mode cannot reach each other: every leader shrinks its ISRs, and not by forwarding."""
    for broker in cluster.nodes(Role.BROKER):
        broker.reconfigure({"replica.lag.time.max.ms": "3000"})
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    expect(
        "the answer to a change of an ISR that a broker forwards",
        answer_to_forwarded_isr,
        equals="INVALID_REQUEST",
        within_s=0,
    )

    with inject(Partition(tuple(targets.node(broker.name) for broker in cluster.nodes(Role.BROKER)))):
        expect(
            "in-sync replicas of each partition of orders, in the log and in ZooKeeper, and fenced brokers",
            lambda: ([_isr_sizes(cluster_metadata.seen(side)) for side in ("log", "zookeeper")], fenced()),
            equals=([[1, 1, 1]] * 2, []),  # controllers shrink ISRs themselves where a broker is fenced
            within_s=30,
            kind=Kind.LIVENESS,
        )
    workload.await_acked(500)
    verify_clients()


def _is_controller(cluster, name):
    return cluster.metrics(name, ["ActiveControllerCount"])["ActiveControllerCount"] == 1


def _isr_sizes(image):
    return [len(image.partitions[f"orders-{number}"]["isr"]) for number in range(3)]
