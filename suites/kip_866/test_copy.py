"""KIP-866, Metadata copy: what ZooKeeper holds at the hand-over is what the metadata log holds after it."""

import json

import pytest

from pytest_kmigrate import (
    Cut,
    Hold,
    Kill,
    Kind,
    MetadataChange,
    Pause,
    Phase,
    Role,
    Tamper,
    checks,
    crash_points,
    moves,
    procedure,
    raw_admin,
    targets,
)
from pytest_kmigrate.documents.kip_866 import expectations
from pytest_kmigrate.redaction import hashed

NO_NUMBER = '{"version": 1, "config": {"producer_byte_rate": "fast"}}'
MANY_TOPICS = [f"many-{number}" for number in range(300)]
ENCODED = "listener.name.elsewhere.ssl.key.password"
# One whose session has expired in the pause may be elected and never take over (kmigrate-35), which others test.
OUTLIVES_THE_PAUSE = {"zookeeper.session.timeout.ms": "60000"}
ASKED_BEFORE = MetadataChange("set-acl", "Topic:LITERAL:asked-before", {"binding": "User:alice|*|Read|Allow"})
DOOMED = [f"doomed-{number}" for number in range(20)]


@pytest.mark.topology("zk1-broker3-controller1", brokers=3)
@pytest.mark.requirement("K866-DW-pending-deletions", "K866-DW-deletion-finalized-in-zk", "K866-PROC-copy-topics")
def test_deletions_pending_at_the_takeover_are_carried_out(
    workload,
    cluster_metadata,
    migration,
    cluster,
    inject,
    admin_of,
    created,
    controller_is_not,
    pending_deletions,
    expect,
    verify_clients,
):
    """Topics being deleted while a broker is down do not come back to life when KRaft takes over."""
    created(*DOOMED, partitions=2, replication=3)
    migration.advance_to(Phase.PREPARING)
    migration.begin(procedure.ENTER_MIGRATION, moves=2)
    cluster.node("broker-2").stop()
    controller = controller_is_not("broker-2")
    raw_admin.delete_topics_at(admin_of(controller), DOOMED, within_s=3)
    pending = pending_deletions(at_least=1)

    # So that they are pending still when KRaft takes over: broker-2 is back, and its replicas cannot be deleted. KRaft
    # waits for it in migration mode; until then the ZooKeeper controller orders it to, and the cut is seen to bite.
    with inject(Cut(targets.node(controller), targets.node("broker-2"))):
        cluster.node("broker-2").start()
        migration.advance_to(Phase.HYBRID)

    expect(
        "topics whose deletion was pending that live on",
        lambda: sorted(pending & set(cluster_metadata.seen("log").topics)),
        equals=[],
        requirements=["K866-DW-pending-deletions"],
    )
    expect(
        "deletions that are pending in ZooKeeper",
        lambda: cluster_metadata.seen("zookeeper").of_zookeeper["delete_topics"],
        equals=[],
        requirements=["K866-DW-pending-deletions"],
    )
    cluster_metadata.settle("copied")
    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper", families=("topics", "partitions")))


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-PROC-copy-quotas-scram")
def test_quotas_and_scram_are_copied_under_their_own_names(
    workload, cluster_metadata, migration, expect, verify_clients
):
    """What belongs to the default user, or to one with special characters, is the same in the metadata log."""
    cluster_metadata.fill(families=("quotas", "scram"))
    in_zookeeper = dict(cluster_metadata.seen("zookeeper").quotas)
    migration.advance_to(Phase.HYBRID)

    expect(
        "client quotas in the metadata log",
        lambda: dict(cluster_metadata.seen("log").quotas),
        equals=in_zookeeper,
        requirements=["K866-PROC-copy-quotas-scram"],
    )
    cluster_metadata.settle("copied")

    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper", families=("quotas", "scram")))


@pytest.mark.topology("zk1-broker3-controller1")
@pytest.mark.requirement("K866-DW-reassignment", "K866-PROC-copy-topics")
def test_reassignment_under_way_is_taken_over_and_completes(
    workload, cluster_metadata, migration, expect, verify_clients
):
    """A partition on its way to another broker at the hand-over is so in the metadata log too, and arrives later."""
    moving = cluster_metadata.fill_with_reassignment()
    adding = moving.adding()
    migration.advance_to(Phase.HYBRID)

    expect(
        "the brokers that moving-0 is still to get to, in hybrid mode",
        moving.adding,
        equals=adding,
        requirements=["K866-PROC-copy-topics"],
    )
    cluster_metadata.settle("copied")
    migration.advance_to(Phase.FINALIZED)
    expect(
        "the brokers that moving-0 is still to get to, once finalized",
        moving.adding,
        equals=adding,
        requirements=["K866-DW-reassignment"],
    )
    moving.let_go()

    expect(
        "replicas and ISR of moving-0 after the migration",
        moving.replicas_and_isr,
        equals=(sorted(moving.wanted), sorted(moving.wanted)),
        kind=Kind.LIVENESS,
        requirements=["K866-DW-reassignment"],
    )
    verify_clients(
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("copied-log", "copied-zookeeper", families=("topics", "partitions")),
    )


@pytest.mark.nightly
@pytest.mark.requirement("K866-PROC-copy-topics", "K866-PROC-copy-acls")
def test_hundreds_of_topics_and_thousands_of_acls_are_copied(
    workload, cluster_metadata, migration, created, zookeeper, verify_clients
):
    """More than one batch of the log holds, on either side."""
    workload.await_acked(500)
    cluster_metadata.fill()
    created(*MANY_TOPICS, partitions=1, replication=1)
    for topic in MANY_TOPICS:
        zookeeper.set(f"/kafka-acl/Topic/{topic}", _acls_of(16))
    zookeeper.set("/kafka-acl/Topic/widely-used", _acls_of(300))
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    cluster_metadata.settle("copied")
    verify_clients(
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.acknowledged_metadata_changes_present("copied-log"),
    )


@pytest.mark.topology("zk1-broker3-controller1-passwords")
@pytest.mark.requirement("K866-PROC-copy-configs", "K866-DW-broker-config")
def test_passwords_are_copied_decoded_and_written_back_encoded(
    workload, migration, admin_of, password_of, expect, verify_clients
):
    """A broker that is started again in ZooKeeper mode reads what was set in dual write."""
    workload.await_consumed(500)
    raw_admin.alter_broker_config_at(admin_of("broker-0"), 0, {ENCODED: "copied"})
    migration.advance_to(Phase.HYBRID)
    expect(
        expectations.PASSWORD_COPIED.of(when="after the copy"),
        lambda: password_of("broker-0", ENCODED),
        equals={"log": hashed("copied"), "zookeeper": hashed("copied")},
        requirements=["K866-PROC-copy-configs"],
    )
    raw_admin.alter_broker_config_at(admin_of("broker-0"), 0, {ENCODED: "changed"})
    expect(
        expectations.PASSWORD_COPIED.of(when="after a change in dual write"),
        lambda: password_of("broker-0", ENCODED),
        equals={"log": hashed("changed"), "zookeeper": hashed("changed")},
        requirements=["K866-DW-broker-config"],
    )
    migration.make("start-it-again-in-zookeeper-mode", moves.Roll("broker-0"))
    workload.await_acked(500)
    verify_clients()


@pytest.mark.since("3.6.0")  # of tokens in KRaft mode
@pytest.mark.topology("zk1-broker3-controller1-sasl", brokers=3)
@pytest.mark.requirement("K866-PROC-copy-tokens-pids")
def test_delegation_tokens_are_copied_and_go_on_opening_every_broker(
    workload, cluster_metadata, migration, let_in_by_token, expect, verify_clients
):
    """Who has nothing but a token gets in as before, wherever; the next producer id is where it was."""
    cluster_metadata.fill(families=("delegation-tokens", "producer-ids"))
    tokens = sorted(cluster_metadata.seen("zookeeper").delegation_tokens)
    cluster_metadata.settle("filled", sides=("zookeeper", "brokers"))
    migration.advance_to(Phase.HYBRID)

    cluster_metadata.settle("copied", sides=("log", "zookeeper"))
    migration.advance_to(Phase.ALL_KRAFT)
    cluster_metadata.settle("joined", sides=("log", "brokers"))
    expect(
        "tokens that open each broker",
        let_in_by_token,
        equals=[tokens] * 3,
        requirements=["K866-PROC-copy-tokens-pids"],
    )

    verify_clients(
        checks.metadata_equivalent("copied-log", "copied-zookeeper", families=("delegation_tokens", "producer_ids")),
        checks.metadata_equivalent("joined-log", "joined-brokers", families=("delegation_tokens",)),
        checks.metadata_equivalent("filled-brokers", "joined-brokers", families=("delegation_tokens",)),
        checks.acknowledged_metadata_changes_present("copied-log"),
    )


@pytest.mark.since("3.5.0")  # of the version of AlterPartition that is sent
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866-PROC-takeover-order", "K866-PROC-copy-no-broker-rpcs", "K866-DW-no-writes-during-copy")
def test_what_changes_before_the_claim_is_copied_and_brokers_wait_for_the_end(
    workload, cluster_metadata, migration, inject, controllers, created, answers_to_broker, in_control, expect, verify
):
    """A topic is made when the controller is about to claim; before the copy ends it refuses what is asked for."""
    workload.await_acked(500)
    migration.advance_to(Phase.PREPARING)
    with (
        inject(Hold(crash_points.ABOUT_TO_CLAIM)) as claiming,
        inject(Hold(crash_points.METADATA_COPIED_NOT_COMMITTED)) as copying,
    ):
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        claiming.await_bitten()
        created("late", partitions=1, replication=3)
        expect(
            "the role that /controller names",
            lambda: in_control().partition("-")[0],
            equals="broker",
            within_s=0,
            requirements=["K866-PROC-takeover-order"],
        )
        cluster_metadata.change(per_s=5)  # from before the claim on, so that what is asked for meets the copy
        copying.await_bitten()
        expect(
            "the answers to a change of an ISR, a request for producer ids, and the creation of a topic",
            lambda: [*answers_to_broker(), _answer_to_creation(controllers()[0])],
            equals=["NOT_CONTROLLER"] * 3,
            within_s=0,
            requirements=["K866-PROC-copy-no-broker-rpcs"],
        )
        workload.await_acked(500)
    migration.advance_to(Phase.HYBRID)
    cluster_metadata.stop()
    expect(
        "whether the log has the topic that was made before the claim",
        lambda: "late" in cluster_metadata.seen("log").topics,
        equals=True,
        requirements=["K866-PROC-takeover-order"],
    )
    workload.await_acked(500)
    verify(checks.no_acked_record_lost(), checks.no_phantom_record())


@pytest.mark.known_bug("kmigrate-37")
@pytest.mark.requirement("K866-DW-no-writes-during-copy", "K866-DW-full-parity")
def test_what_the_former_controller_is_about_to_write_is_refused_or_kept(
    workload, cluster_metadata, migration, inject, verify_clients
):
    """A broker is about to write an ACL to ZooKeeper when a KRaft controller takes over; it does so during the copy."""
    workload.await_acked(500)
    migration.advance_to(Phase.PREPARING)
    with inject(Hold(crash_points.LONG_BEFORE_THE_CLAIM)) as claiming, inject(Hold(crash_points.LONG_COPY)):
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        claiming.await_bitten()
        with inject(Hold(crash_points.ACL_NOT_WRITTEN, Role.BROKER)):
            cluster_metadata.make(ASKED_BEFORE, may_be_refused=True)
    migration.advance_to(Phase.HYBRID)
    cluster_metadata.settle("copied")

    verify_clients(
        checks.acknowledged_metadata_changes_present("copied-log"),
        checks.acknowledged_metadata_changes_present("copied-zookeeper"),
    )


@pytest.mark.since("3.5.0")  # in 3.4 no change reaches partitions that were added
@pytest.mark.known_bug("kmigrate-36")
@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement(
    "K866-PROC-copy-topics", "K866-DW-isr-leader", "K866-RPC-lisr-on-election", "K866-RPC-umr-on-change"
)
def test_partitions_that_had_no_leader_at_the_takeover_are_dual_written(
    workload, cluster_metadata, migration, inject, admin_of, in_control, led_by, expect, verify_clients
):
    """A topic is made, and KRaft takes over before the ZooKeeper controller gives it leaders; later a broker dies."""
    workload.await_acked(500)
    migration.advance_to(Phase.PREPARING)
    with inject(Hold(crash_points.CLAIM_AWAITED)) as claiming:
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        claiming.await_bitten()
        with inject(Hold(crash_points.STATES_NOT_WRITTEN, Role.BROKER)) as electing:
            raw_admin.create_topics_at(admin_of(in_control()), ["late"], partitions=3, replication=3, within_s=2)
            electing.await_bitten()
            migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    cluster_metadata.settle("copied", within_s=15)

    with inject(Kill(targets.partition_leader("orders"))) as dead:
        expect(
            expectations.LED_BY_THE_DEAD.of(topic="orders"),
            lambda: led_by(dead.targets[0], "orders"),
            equals=[],
            within_s=20,  # a broker's session is 9 s
            kind=Kind.LIVENESS,
            requirements=["K866-RPC-lisr-on-election", "K866-RPC-umr-on-change"],
        )
    # Without the topic a controller that takes over writes all that is missing, and informs every broker.
    cluster_metadata.make(MetadataChange("delete-topic", "late"))
    migration.make("restart-the-controller", moves.Roll("controller-3000"))
    workload.await_acked(500)
    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper"))


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K866-FAIL-copy-error")
def test_a_copy_that_cannot_be_read_is_not_completed(
    workload, cluster, cluster_metadata, migration, inject, may_end, expect, verify_clients
):
    """A quota in a znode is no number as the copy begins; it is put right, and the controller is started again."""
    workload.await_acked(500)
    migration.advance_to(Phase.PREPARING)
    controller = cluster.node("controller-3000")
    with inject(Hold(crash_points.ABOUT_TO_CLAIM)) as claiming, may_end(controller.name):
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        claiming.await_bitten()
        with inject(Tamper("/config/users/broken", NO_NUMBER)):
            expect(
                "whether the controller has ended", lambda: not controller.alive, equals=True, within_s=20, kind=None
            )
            expect(
                "whether the copy counts as complete",
                lambda: migration.phase >= Phase.HYBRID,
                equals=False,
                within_s=0,
            )
    migration.make("start-it-again", moves.Roll(controller.name))
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("copied")
    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper"))


@pytest.mark.since("3.7.0")  # before, the others do not copy while the controller is down that gave the copy up
@pytest.mark.topology(brokers=3)
@pytest.mark.requirement("K866-FAIL-begin-refused")
def test_a_copy_that_cannot_begin_writes_nothing(
    workload, cluster, cluster_metadata, migration, inject, quorum_leader, created, expect, verify_clients
):
    """The other controllers are paused just before the transaction of the copy: it is not begun, and later it is."""
    created("early", partitions=1, replication=3)
    for controller in cluster.nodes(Role.CONTROLLER):
        controller.reconfigure(OUTLIVES_THE_PAUSE)
    migration.advance_to(Phase.PREPARING)
    with inject(Hold(crash_points.COPY_NOT_BEGUN)) as beginning:
        migration.begin(procedure.ENTER_MIGRATION, moves=3)
        beginning.await_bitten()
        leader = quorum_leader()
        first, second = (targets.node(each.name) for each in cluster.nodes(Role.CONTROLLER) if each.name != leader)
        with inject(Pause(first)), inject(Pause(second)):
            expect("whether the controller leads", lambda: quorum_leader() == leader, equals=False, kind=None)
            workload.await_acked(3000)
            expect(
                "topics in the log of the controller that could not begin",
                lambda: _topics_in(cluster.metadata_log(leader)),
                equals=[],
                within_s=0,
            )
    migration.advance_to(Phase.HYBRID)
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("copied")
    verify_clients(checks.metadata_equivalent("copied-log", "copied-zookeeper"))


def _answer_to_creation(controller):
    return raw_admin.create_topics_at(controller, ["early"], partitions=1, replication=1)["early"]


def _acls_of(users):
    """What the authorizer of brokers in ZooKeeper mode keeps of a topic: an ACL for each user."""
    rule = {"permissionType": "Allow", "operation": "Read", "host": "*"}
    acls = [{"principal": f"User:reader-{number}", **rule} for number in range(users)]
    return json.dumps({"version": 1, "acls": acls}).encode()


def _topics_in(records):
    return sorted(each["data"]["name"] for each in records if each["type"] == "TOPIC_RECORD")
