"""KIP-866, Controller Crashes: the active controller dies at every place where it may lose something.

Of so many places the suite visits a few; ``--kmigrate-nightly`` visits all.
"""

import json

import pytest

from pytest_kmigrate import (
    Hold,
    Isolate,
    Kill,
    MetadataChange,
    Phase,
    Role,
    checks,
    crash_points,
    moves,
    raw_admin,
    sweep,
    targets,
)
from pytest_kmigrate.documents.kip_866 import expectations

LATE, AGAIN = "/brokers/topics/late", "/brokers/topics/again"
NIGHTLY = pytest.mark.nightly
AT_TAKEOVER = [
    *sweep.often(sweep.TAKEOVER),
    *(pytest.param(each, marks=NIGHTLY) for each in sweep.seldom(sweep.TAKEOVER)),
]
OF_3_5 = pytest.mark.since("3.5.0")  # of the classes in whose methods a controller is stopped
WRITES = [*sweep.often(sweep.WRITES), *(pytest.param(each, marks=NIGHTLY) for each in sweep.seldom(sweep.WRITES))]


@pytest.mark.since("3.7.0")  # before, a new controller copies nothing without all of them, and one is down
@pytest.mark.topology(brokers=3)
@pytest.mark.requirement("K866-FAIL-crash-during-copy", "K866-FAIL-crash-in-migration")
@pytest.mark.parametrize("at", AT_TAKEOVER, ids=str)
def test_takeover_is_completed_by_another_controller(at, workload, cluster_metadata, migration, inject, verify_clients):
    """Whatever the former one had written and copied, its successor ends the copy and goes on in dual write."""
    cluster_metadata.fill()
    migration.advance_to(Phase.PREPARING)
    with inject(Kill(targets.quorum_leader()), at=at) as crash:
        migration.advance_to(Phase.HYBRID)
        crash.await_bitten()
    migration.make("start-the-last-broker-again", moves.Roll("broker-2"))  # it may be fenced (kmigrate-1)
    with cluster_metadata.changing("after"):
        workload.await_acked(200)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-log"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


@OF_3_5
@pytest.mark.known_bug("kmigrate-17")
@pytest.mark.requirement("K866-FAIL-crash-during-copy")
def test_complete_copy_is_gone_on_with(workload, migration, inject, zookeeper, expect, verify):
    """The controller dies when the log says that all is copied, and the znode /migration does not say so yet."""
    workload.await_acked(500)
    migration.advance_to(Phase.PREPARING)
    with inject(Kill(targets.quorum_leader()), at=sweep.COPIED) as crash:
        migration.advance_to(Phase.HYBRID)
        crash.await_bitten()
    expect(
        expectations.POSITION_HELD,
        lambda: json.loads(zookeeper.get("/migration"))["kraft_metadata_offset"] > 0,
        equals=True,
        within_s=20,
    )
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@OF_3_5
@pytest.mark.scene
@pytest.mark.starts_at("HYBRID")
class TestDualWrite:
    """Writes to ZooKeeper that a controller did not get to, or whose answer it did not hear."""

    @pytest.mark.requirement("K866-FAIL-crash-in-migration", "K866-FAIL-failover-with-pending-writes")
    @pytest.mark.parametrize("write", WRITES, ids=str)
    def test_write_is_completed_by_another_controller(
        self, write, workload, cluster_metadata, migration, inject, verify_clients
    ):
        """The change was acknowledged, so it is on both sides in the end, and dual write goes on."""
        cluster_metadata.make(*write.before)
        cluster_metadata.settle("before")
        with inject(Kill(targets.active_controller()), at=write.at) as crash:
            cluster_metadata.make(write.change)
            crash.await_bitten()
            migration.await_new_active_controller()
        with cluster_metadata.changing("after"):
            workload.await_acked(200)

        verify_clients(
            checks.metadata_equivalent("after-log", "after-zookeeper"),
            checks.acknowledged_metadata_changes_present("after-log"),
            checks.acknowledged_metadata_changes_present("after-zookeeper"),
        )

    @pytest.mark.requirement("K866-FAIL-stale-controller-fenced")
    def test_former_controller_that_is_late_with_a_write_changes_nothing(
        self, workload, migration, inject, admin_of, zookeeper, expect, expect_to_stay, verify_clients
    ):
        """It is cut off as it is about to write a topic, and sends it when its successor has claimed leadership."""
        workload.await_consumed(500)
        with inject(Hold(crash_points.TOPIC_NOT_WRITTEN)) as writing:
            raw_admin.create_topics_at(admin_of("broker-0"), ["late"], partitions=1, replication=3)
            writing.await_bitten()
            with inject(Isolate(targets.active_controller(), from_roles=(Role.CONTROLLER,))):
                migration.await_new_active_controller()
        expect("whether ZooKeeper has the topic", lambda: zookeeper.get(LATE) is not None, equals=True, kind=None)
        expect_to_stay(
            "what the successor wrote of the topic",
            lambda: zookeeper.get(LATE),
            equals=zookeeper.get(LATE),
            for_s=crash_points.TOPIC_NOT_WRITTEN.held_s,
            requirements=["K866-FAIL-stale-controller-fenced"],
        )
        verify_clients()

    @pytest.mark.requirement("K866-FAIL-stale-controller-fenced")
    def test_former_controller_that_overwrites_late_changes_nothing(
        self, workload, migration, inject, created, admin_of, zookeeper, expect, expect_to_stay, verify_clients
    ):
        """It is cut off as it is about to write a config, which its successor has changed again when it is sent."""
        workload.await_consumed(500)
        created("changed", partitions=1, replication=3)
        with inject(Hold(crash_points.LATE_CONFIG)) as writing:
            _retain(admin_of, "changed", "700000001")
            writing.await_bitten()
            with inject(Isolate(targets.active_controller(), from_roles=(Role.CONTROLLER,))):
                migration.await_new_active_controller()
                _retain(admin_of, "changed", "700000002")
                expect(
                    "the config in ZooKeeper", lambda: _retained(zookeeper, "changed"), equals="700000002", kind=None
                )
        expect_to_stay(
            "what the successor wrote of the config",
            lambda: _retained(zookeeper, "changed"),
            equals="700000002",
            for_s=crash_points.LATE_CONFIG.held_s,
            requirements=["K866-FAIL-stale-controller-fenced"],
        )
        verify_clients()

    @pytest.mark.requirement("K866-FAIL-stale-controller-fenced")
    def test_former_controller_that_removes_late_changes_nothing(
        self, workload, migration, inject, created, admin_of, zookeeper, expect, expect_to_stay, verify_clients
    ):
        """It is cut off as it is about to delete a topic, which its successor has made again when that is sent."""
        workload.await_consumed(500)
        created("again", partitions=1, replication=3)
        former = zookeeper.get(AGAIN)
        with inject(Hold(crash_points.LATE_DELETION)) as writing:
            raw_admin.delete_topics_at(admin_of("broker-0"), ["again"])
            writing.await_bitten()
            with inject(Isolate(targets.active_controller(), from_roles=(Role.CONTROLLER,))):
                migration.await_new_active_controller()
                raw_admin.create_topics_at(admin_of("broker-0"), ["again"], partitions=1, replication=3)
                expect(
                    "whether ZooKeeper has the topic again",
                    lambda: zookeeper.get(AGAIN) not in (None, former),
                    equals=True,
                    kind=None,
                )
        expect_to_stay(
            "what the successor wrote of the topic",
            lambda: zookeeper.get(AGAIN),
            equals=zookeeper.get(AGAIN),
            for_s=crash_points.LATE_DELETION.held_s,
            requirements=["K866-FAIL-stale-controller-fenced"],
        )
        verify_clients()

    @pytest.mark.known_bug("KAFKA-16171")
    @pytest.mark.requirement("K866-FAIL-crash-in-migration", "K866-ZNODE-controller-every-election")
    def test_former_controller_that_writes_once_more_stops_no_other(
        self, workload, migration, inject, admin_of, zookeeper, expect, verify_clients
    ):
        """It is cut off as it writes a topic, and goes on when its successor knows /migration and is about to claim."""
        workload.await_consumed(500)
        with (
            inject(Hold(crash_points.TOPIC_NOT_WRITTEN)) as writing,
            inject(Hold(crash_points.LONG_BEFORE_THE_CLAIM)) as claiming,
        ):
            raw_admin.create_topics_at(admin_of("broker-0"), ["before"], partitions=1, replication=3)
            writing.await_bitten()
            with inject(Isolate(targets.active_controller(), from_roles=(Role.CONTROLLER,))):
                claiming.await_bitten()
                migration.await_new_active_controller()
        raw_admin.create_topics_at(admin_of("broker-0"), ["after"], partitions=1, replication=3)
        expect(
            expectations.TOPICS_LACKING,
            lambda: sorted({"before", "after"} - set(zookeeper.children("/brokers/topics"))),
            equals=[],
            within_s=15,
            requirements=["K866-FAIL-crash-in-migration"],
        )
        verify_clients()


@pytest.mark.known_bug("kmigrate-34")
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-FAIL-crash-in-migration", "K866-DW-topic-delete")
def test_a_deleted_topic_stays_deleted_when_the_controller_starts_again(
    workload, cluster_metadata, inject, verify_clients
):
    """The controller has both in its log, the topic's config and that the topic is gone, and reads them at once."""
    workload.await_acked(500)  # producers have their ids, which they get of a controller
    cluster_metadata.make(
        MetadataChange("create-topic", "gone", {"partitions": 1, "replication": 3}),
        MetadataChange("alter-config", "topic:gone", {"retention.ms": "86400000"}),
        MetadataChange("delete-topic", "gone"),
    )
    cluster_metadata.settle("before")
    with inject(Kill(targets.active_controller())):
        workload.await_acked(500)
    workload.await_acked(500)
    cluster_metadata.settle("after", within_s=15)

    verify_clients(
        checks.metadata_equivalent("after-log", "after-zookeeper"),
        checks.acknowledged_metadata_changes_present("after-zookeeper"),
    )


def _retain(admin_of, topic, size):
    raw_admin.alter_config_at(admin_of("broker-0"), raw_admin.TOPIC_RESOURCE, topic, {"retention.bytes": size})


def _retained(zookeeper, topic):
    held = zookeeper.get(f"/config/topics/{topic}")
    return json.loads(held)["config"].get("retention.bytes") if held else None
