"""KIP-866, Broker failures: brokers that die, stand still or are cut off while the cluster is being migrated.

One scene: the tests that begin with the same metadata share a cluster, and the last of them takes it further.
"""

import pytest

from pytest_kmigrate import (
    Cut,
    EventKind,
    Hold,
    Kill,
    Kind,
    Pause,
    Phase,
    Role,
    Stop,
    checks,
    crash_points,
    procedure,
    raw_admin,
    targets,
    triggers,
)
from pytest_kmigrate.documents.kip_866 import expectations

pytestmark = pytest.mark.scene

FENCED = "brokers that the controllers have fenced"
TOLD, HELD = expectations.TOPIC_REPORTED, expectations.ON_DISKS.of(what="the topic")
SESSION_AND_MORE_S = 90
"""broker.session.timeout.ms is 9 s; the rest is for a busy machine."""
ACKED_WHILE_AWAY = 7_500
"""About 15 s of traffic, in which all brokers can be informed."""


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-TEST-broker-failures")
def test_broker_cut_from_the_controllers_comes_back(workload, cluster_metadata, inject, fenced, expect, verify_clients):
    """One broker cannot reach the quorum in dual write; the others serve, and afterwards all sides agree."""
    workload.await_committed(3)
    cut = Cut(targets.broker_besides_controller(), targets.every(Role.CONTROLLER), both_ways=True)
    with cluster_metadata.changing("after"), inject(cut) as injection:
        _expect_fenced(expect, fenced, [injection.targets[0]])
    _expect_fenced(expect, fenced, [])

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )


@pytest.mark.topology(brokers=3)
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-TEST-broker-failures", "K866-REG-heartbeat", "K866-RPC-lisr-on-election")
def test_broker_paused_longer_than_its_session(
    workload, cluster_metadata, inject, fenced, in_sync, expect, verify_clients
):
    """A broker stands still for longer than its session in dual write; it rejoins, and nothing is lost."""
    workload.await_committed(3)
    with cluster_metadata.changing("after"):
        with inject(Pause(targets.broker_besides_controller())) as pause:
            _expect_fenced(expect, fenced, [*pause.targets])
            others = [number for number in range(3) if f"broker-{number}" not in pause.targets]
            _expect_in_sync(expect, in_sync, others, kind=None)
        workload.await_acked(500)
        _expect_in_sync(expect, in_sync, [0, 1, 2], requirements=["K866-RPC-lisr-on-election"])

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )


@pytest.mark.sample
@pytest.mark.spoils
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-TEST-broker-failures", "K866-PROC-roll-one-by-one")
def test_broker_killed_while_being_rolled(workload, cluster_metadata, migration, inject, verify_clients):
    """A broker dies as soon as it is up in KRaft mode; once it is back the migration ends as ever."""
    with inject(Kill(targets.node("broker-1")), at=triggers.on_event(EventKind.NODE_READY, "broker-1")):
        migration.begin(procedure.ROLL_TO_KRAFT, moves=2)
        workload.await_acked(500)
    migration.advance_to(Phase.ALL_KRAFT)
    cluster_metadata.settle("all-kraft")
    migration.advance_to(Phase.FINALIZED)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("all-kraft-log", "all-kraft-zookeeper"),
    )


@pytest.mark.spoils
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-FWD-same-metadata", "K866-TEST-broker-consistency")
def test_clients_get_the_same_from_brokers_of_both_modes(
    workload, migration, inject, fenced, misnamed_by_id, expect, verify_clients
):
    """One broker runs in KRaft mode, another one is dead for a while: the others report the same to clients."""
    migration.begin(procedure.ROLL_TO_KRAFT, moves=1)
    expect(
        "topics that a broker of either mode does not report by their ids",
        misnamed_by_id,
        equals={},
        within_s=20,
        requirements=["K866-FWD-same-metadata"],
    )
    with inject(Kill(targets.node("broker-2"))):
        _expect_fenced(expect, fenced, ["broker-2"])
        workload.await_acked(ACKED_WHILE_AWAY)

    verify_clients()


@pytest.mark.known_bug("kmigrate-13")
@pytest.mark.topology(brokers=3)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement(
    "K866-TEST-broker-failures", "K866-RPC-umr-on-change", "K866-RPC-stopreplica", "K866-RPC-full-state-on-takeover"
)
def test_broker_hears_of_a_deletion_that_it_missed(
    workload, migration, inject, created, admin_of, fenced, tellers, holders, expect, verify_clients
):
    """A topic is deleted while a broker is fenced: once it is back it drops the topic, too."""
    workload.await_committed(3)
    created("doomed", partitions=3, replication=3)
    expect(HELD, lambda: holders("doomed"), equals=[0, 1, 2], kind=None)

    with inject(Pause(targets.node("broker-2"))):
        _expect_fenced(expect, fenced, ["broker-2"])
        expect(
            "the answer to the deletion of the topic",
            lambda: raw_admin.delete_topics_at(admin_of("broker-0"), ["doomed"]),
            equals={"doomed": "NONE"},
            requirements=["K866-TEST-broker-failures"],
        )
    _expect_fenced(expect, fenced, [])
    expect(TOLD, lambda: tellers("doomed"), equals=[], within_s=20, requirements=["K866-RPC-umr-on-change"])
    expect(HELD, lambda: holders("doomed"), equals=[], within_s=5, requirements=["K866-RPC-stopreplica"])

    with inject(Kill(targets.active_controller())):  # the next one sends brokers all that exists, and that it is all
        migration.await_new_active_controller()
        workload.await_acked(500)
    expect(
        TOLD,
        lambda: tellers("doomed"),
        equals=[],
        requirements=["K866-RPC-umr-on-change", "K866-RPC-full-state-on-takeover"],
    )
    expect(
        HELD,
        lambda: holders("doomed"),
        equals=[],
        requirements=["K866-RPC-stopreplica", "K866-RPC-full-state-on-takeover"],
    )
    verify_clients()


@pytest.mark.known_bug("kmigrate-13")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-TEST-broker-failures", "K866-RPC-stopreplica", "K866-DW-reassignment")
def test_broker_gives_up_a_replica_that_was_moved_away_meanwhile(
    workload, cluster_metadata, inject, created, admin_of, fenced, holders, expect, verify_clients
):
    """A partition is moved away from a broker that is fenced: once it is back it drops its replica."""
    workload.await_committed(3)
    created("moved", partitions=1, replication=3)

    with inject(Pause(targets.node("broker-2"))):
        _expect_fenced(expect, fenced, ["broker-2"])
        expect(
            "the answer to the reassignment of moved-0",
            lambda: raw_admin.reassign(admin_of("broker-0"), {("moved", 0): (0, 1)})["moved", 0],
            equals="NONE",
            requirements=["K866-DW-reassignment"],
        )
        cluster_metadata.settle("moved")
        expect(
            "replicas of moved-0, in the log and in ZooKeeper",
            lambda: [cluster_metadata.seen(side).partitions["moved-0"]["replicas"] for side in ("log", "zookeeper")],
            equals=[[0, 1]] * 2,
            requirements=["K866-DW-reassignment"],
        )
    _expect_fenced(expect, fenced, [])
    expect(
        expectations.ON_DISKS.of(what="moved-0"),
        lambda: holders("moved"),
        equals=[0, 1],
        within_s=20,
        requirements=["K866-RPC-stopreplica"],
    )
    workload.await_acked(500)
    verify_clients()


@pytest.mark.known_bug("KAFKA-14616")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.starts_at("ALL_KRAFT", filled=True)
@pytest.mark.requirement("K866-TEST-broker-failures")
def test_broker_in_kraft_mode_follows_a_topic_that_was_made_again_meanwhile(
    workload, inject, created, admin_of, in_sync, expect, verify_clients
):
    """A topic is deleted and made again while a broker is down; its disk holds a replica of the former one."""
    workload.await_committed(3)
    created("again", partitions=1, replication=3)
    expect("in-sync replicas of again", lambda: in_sync("again"), equals=[[0, 1, 2]], kind=None)

    with inject(Kill(targets.node("broker-2"))):
        expect(
            "the answer to the deletion of the topic",
            lambda: raw_admin.delete_topics_at(admin_of("broker-0"), ["again"]),
            equals={"again": "NONE"},
            kind=None,
        )
        created("again", partitions=1, replication=3)
    expect(
        "in-sync replicas of again, which was made again",
        lambda: in_sync("again"),
        equals=[[0, 1, 2]],
        kind=Kind.LIVENESS,
    )
    workload.await_acked(500)
    verify_clients()


@pytest.mark.topology("zk1-broker3-controller3-mixed")
@pytest.mark.requirement("K866-TEST-broker-failures")
def test_broker_of_an_older_release_dies_in_dual_write(workload, cluster_metadata, migration, inject, verify_clients):
    """The broker that was left on 3.8 crashes and comes back; the migration of the mixed cluster can be finalized."""
    cluster_metadata.fill()
    migration.advance_to(Phase.HYBRID)

    with cluster_metadata.changing("after"), inject(Kill(targets.node("broker-2"))):
        workload.await_acked(500)
    migration.advance_to(Phase.FINALIZED)

    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
    )


@pytest.mark.sample
@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.requirement("K866-TEST-broker-failures", "K866-RPC-lisr-on-election", "K866-DW-isr-leader")
def test_isr_change_under_way_at_the_takeover_is_made(
    workload, cluster_metadata, migration, inject, controller_is_not, in_sync, expect, verify_clients
):
    """A leader is about to ask the former controller to take a follower back; in the end the new one does it."""
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)

    with inject(Stop(targets.node("broker-2"))):  # so that another is the controller that they ask
        controller_is_not("broker-2")
    workload.await_acked(2000)

    with inject(Hold(crash_points.ISR_CHANGE_ASKED, Role.BROKER)):
        with inject(Stop(targets.node("broker-2"))):  # when it is back, the leaders of its partitions ask for it
            workload.await_acked(100)
        workload.await_acked(1000)
        migration.advance_to(Phase.HYBRID)

    _expect_in_sync(expect, in_sync, [0, 1, 2], requirements=["K866-RPC-lisr-on-election", "K866-TEST-broker-failures"])
    cluster_metadata.settle("after")
    verify_clients(checks.metadata_equivalent("after-log", "after-zookeeper", families=("partitions",)))


def _expect_in_sync(expect, in_sync, brokers, kind=Kind.LIVENESS, requirements=()):
    """The leader of each partition that clients write to has these replicas in its ISR."""
    expect(
        "in-sync replicas of every partition of orders",
        lambda: in_sync("orders"),
        equals=[brokers] * 3,
        within_s=20,
        kind=kind,
        requirements=requirements,
    )


def _expect_fenced(expect, fenced, brokers):
    """Controllers fence these brokers, whose heartbeats they miss, and no others, soon after the sessions end."""
    expect(
        FENCED,
        fenced,
        equals=brokers,
        within_s=SESSION_AND_MORE_S,
        kind=Kind.LIVENESS,
        requirements=["K866-REG-heartbeat", "K866-TEST-broker-failures"],
    )
