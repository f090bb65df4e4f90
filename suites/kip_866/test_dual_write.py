"""KIP-866, Dual writes: brokers in ZooKeeper mode follow the KRaft controller, and ZooKeeper receives everything.

One scene: tests that begin with the same metadata share a cluster. Each changes what no other does.
"""

import pytest

from pytest_kmigrate import Kind, MetadataChange, Phase, Role, Slow, checks, moves, procedure, raw_admin, targets
from pytest_kmigrate.documents.kip_866 import expectations
from pytest_kmigrate.wire.producing import produce_at

pytestmark = pytest.mark.scene

MOST_BYTES = "max.message.bytes"
OF_FOUR, FOUR_ACLS = "Topic:LITERAL:of-four", [f"User:{name}|*|Read|Allow" for name in ("ann", "bob", "cleo", "dan")]
IN_FLIGHT = "zookeeper.max.in.flight.requests"
LATENCY_MS = 150
ADMIN = ["K866-FWD-all-admin", "K866-PRE-normal-after"]
LATE = Slow(targets.every(Role.CONTROLLER), targets.every(Role.ZOOKEEPER), latency_ms=LATENCY_MS)


@pytest.mark.topology(brokers=3)
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement(
    "K866-DW-reassignment", "K866-RPC-lisr-on-election", "K866-RPC-umr-on-change", "K866-RPC-stopreplica"
)
def test_reassignment_completes_in_hybrid_mode(
    workload, cluster_metadata, admin_of, created, holders, expect, verify_clients
):
    """A partition moved to other brokers in hybrid mode is led and replicated there, and gone from where it was."""
    replicas = created("moved", partitions=1, replication=2).partitions[0].replicas
    wanted = (replicas[1], next(iter({0, 1, 2} - set(replicas))))

    expect(
        "the answer to the reassignment of moved-0",
        lambda: raw_admin.reassign(admin_of("broker-0"), {("moved", 0): wanted})["moved", 0],
        equals="NONE",
        requirements=["K866-DW-reassignment"],
    )
    expect(
        "replicas and ISR of moved-0 on the broker that leads it now",
        lambda: _replicas_and_isr(admin_of(f"broker-{wanted[0]}")),
        equals=(sorted(wanted), sorted(wanted)),
        kind=Kind.LIVENESS,
        requirements=["K866-DW-reassignment", "K866-RPC-lisr-on-election", "K866-RPC-umr-on-change"],
    )
    expect(
        expectations.ON_DISKS.of(what="moved-0"),
        lambda: holders("moved"),
        equals=sorted(wanted),
        requirements=["K866-RPC-stopreplica"],
    )
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("moved")
    expect(
        "replicas of moved-0, in the log and in ZooKeeper",
        lambda: [cluster_metadata.seen(side).partitions["moved-0"]["replicas"] for side in ("log", "zookeeper")],
        equals=[list(wanted)] * 2,
        requirements=["K866-DW-reassignment"],
    )
    verify_clients(checks.metadata_equivalent("moved-log", "moved-zookeeper", families=("topics", "partitions")))


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-DW-topic-create")
def test_topic_created_in_hybrid_mode_is_whole_in_zookeeper(
    workload, cluster_metadata, admin_of, zookeeper, expect, verify_clients
):
    """A topic created in dual write has everything in ZooKeeper that a ZooKeeper cluster would have written."""
    raw_admin.create_topics_at(admin_of("broker-0"), ["newcomer"], partitions=2, replication=3)

    expect(
        "the znode /brokers/topics/newcomer",
        lambda: zookeeper.get("/brokers/topics/newcomer") is not None,
        equals=True,
        requirements=["K866-DW-topic-create"],
    )
    expect(
        expectations.CONFIG_WRITTEN.of(kind="topics", name="newcomer"),
        lambda: zookeeper.get("/config/topics/newcomer") is not None,
        equals=True,
        requirements=["K866-DW-topic-create"],
    )
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("created")
    verify_clients(checks.metadata_equivalent("created-log", "created-zookeeper", families=("topics", "partitions")))


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-DW-partitions-add", "K866-RPC-umr-on-change")
def test_added_partitions_are_seen_by_every_broker(workload, cluster_metadata, admin_of, expect, verify_clients):
    """Partitions added in dual write are on every broker, those in ZooKeeper mode included."""
    topic = workload.topic
    workload.add_partitions(topic, 6)

    expect(
        f"partitions of {topic} as each broker reports them",
        lambda: [len(raw_admin.describe_topic_at(admin_of(f"broker-{n}"), topic).partitions) for n in range(3)],
        equals=[6, 6, 6],
        requirements=["K866-RPC-umr-on-change"],
    )
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("grown")
    verify_clients(checks.metadata_equivalent("grown-log", "grown-zookeeper", families=("topics", "partitions")))


@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-FWD-all-admin", "K866-PRE-normal-after")
def test_every_kind_of_request_to_a_broker_in_zookeeper_mode_is_carried_out(
    workload, cluster_metadata, admin_of, created, answers_to_admin, expect, verify_clients
):
    """Admins send one request of each kind to brokers in ZooKeeper mode; the metadata log and ZooKeeper have it all."""
    replicas = created("moved", partitions=1, replication=3).partitions[0].replicas
    with cluster_metadata.changing("asked"):
        expect(
            "the answer to a reassignment",
            lambda: raw_admin.reassign(admin_of("broker-0"), {("moved", 0): replicas[::-1]})["moved", 0],
            equals="NONE",
            within_s=0,
            requirements=ADMIN,
        )
        expect(
            "the answers to an election, a replacement of configs, and an upgrade to metadata.version 127",
            lambda: answers_to_admin("broker-1", "moved"),
            equals=["NONE", "NONE", "INVALID_UPDATE_VERSION"],  # of a feature that only KRaft controllers have
            within_s=0,
            requirements=ADMIN,
        )
    expect(
        "the leader of moved-0 and its config, in the log and in ZooKeeper",
        lambda: [_leader_and_configs(cluster_metadata.seen(side)) for side in ("log", "zookeeper")],
        equals=[(replicas[-1], {"flush.messages": "500000"})] * 2,
        requirements=ADMIN,
    )
    workload.await_acked(500)
    workload.await_consumed(500)
    verify_clients(
        checks.admin_requests_to_zookeeper_brokers_are_carried_out(),
        checks.metadata_equivalent("asked-log", "asked-zookeeper"),
        checks.acknowledged_metadata_changes_present("asked-log"),
        checks.acknowledged_metadata_changes_present("asked-zookeeper"),
    )


@pytest.mark.sample
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement(
    "K866-DW-topic-delete", "K866-DW-topic-config", "K866-DW-broker-config", "K866-DW-scram", "K866-DW-acls"
)
def test_what_is_taken_away_in_dual_write_leaves_zookeeper(workload, cluster_metadata, verify_clients):
    """Topics, configs, credentials and ACLs that were copied are deleted in dual write, and gone from ZooKeeper."""
    families = ("topics", "topic-configs", "broker-configs", "default-broker-config", "scram", "acls")

    cluster_metadata.take_back(families=("topic-configs",))
    cluster_metadata.settle("unset")  # a topic takes its configs with it
    cluster_metadata.take_back(families=[each for each in families if each != "topic-configs"])

    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("bare", sides=("log", "zookeeper", "brokers"))
    verify_clients(
        checks.metadata_equivalent("unset-log", "unset-zookeeper"),
        checks.metadata_equivalent("bare-log", "bare-zookeeper"),
        checks.acknowledged_metadata_changes_present("bare-log"),
        checks.acknowledged_metadata_changes_present("bare-zookeeper"),
    )


@pytest.mark.since("3.5.0")  # of ACLs in a migration
@pytest.mark.known_bug("apache/kafka#15327")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-DW-acls")
def test_acls_that_are_left_of_several_stay_in_zookeeper(workload, cluster_metadata, verify_clients):
    """Four ACLs of one resource are made in dual write, and one is taken away: ZooKeeper has the three others."""
    cluster_metadata.make(*(MetadataChange("set-acl", OF_FOUR, {"binding": each}) for each in FOUR_ACLS))
    cluster_metadata.settle("made")
    cluster_metadata.make(MetadataChange("remove-acl", OF_FOUR, {"binding": FOUR_ACLS[1]}))
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("left", within_s=10)
    verify_clients(
        checks.metadata_equivalent("made-log", "made-zookeeper", families=("acls",)),
        checks.metadata_equivalent("left-log", "left-zookeeper", families=("acls",)),
        checks.acknowledged_metadata_changes_present("left-zookeeper"),
    )


@pytest.mark.known_bug("KAFKA-16428")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-DW-topic-config", "K866-DW-broker-config", "K866-DW-watch-acl")
def test_configs_changed_in_dual_write_are_in_force_on_brokers_in_zookeeper_mode(
    workload, admin_of, config_of, created, notified, expect, verify_clients
):
    """A leader obeys a limit of its topic, and lets go of it again; a broker has its own config, by its own word."""
    leader = f"broker-{created('limited', partitions=1, replication=1).partitions[0].replicas[0]}"
    expect("the answer to 2,000 bytes", lambda: _answer_to_2000_bytes(admin_of(leader)), equals="NONE", kind=None)
    for limit, answer in (("1000", "MESSAGE_TOO_LARGE"), (None, "NONE")):
        raw_admin.alter_config_at(admin_of("broker-0"), raw_admin.TOPIC_RESOURCE, "limited", {MOST_BYTES: limit})
        expect(
            f"the answer to 2,000 bytes with the limit {limit}",
            lambda: _answer_to_2000_bytes(admin_of(leader)),
            equals=answer,
            within_s=15,
            requirements=["K866-DW-topic-config", "K866-DW-watch-acl"],
        )
    raw_admin.alter_broker_config_at(admin_of("broker-1"), 1, {"log.cleaner.backoff.ms": "20000"})
    expect(
        "whose config has changed last, as ZooKeeper names it to brokers",
        notified,
        equals="brokers/1",
        within_s=15,
        requirements=["K866-DW-watch-acl"],
    )
    expect(
        "the config that broker-1 has in force",
        lambda: config_of("broker-1")["log.cleaner.backoff.ms"],
        equals="20000",
        within_s=15,
        requirements=["K866-DW-broker-config", "K866-DW-watch-acl"],
    )
    workload.await_acked(500)
    workload.await_consumed(500)
    workload.await_committed(4)  # of three partitions: one of them twice
    verify_clients()


@pytest.mark.known_bug("kmigrate-9")
@pytest.mark.starts_at("HYBRID", filled=True)
@pytest.mark.requirement("K866-DW-quotas")
def test_quotas_taken_away_in_dual_write_leave_zookeeper(workload, cluster_metadata, verify_clients):
    """The quotas of every kind of entity are taken away in dual write; ZooKeeper holds none of them any more."""
    workload.await_acked(500)  # producers have their ids: the bug loses whatever is in one batch with the quotas
    cluster_metadata.take_back(families=("quotas",))
    workload.await_acked(500)
    workload.await_consumed(500)
    cluster_metadata.settle("bare", within_s=10)
    verify_clients(
        checks.metadata_equivalent("bare-log", "bare-zookeeper", families=("quotas",)),
        checks.acknowledged_metadata_changes_present("bare-log"),
        checks.acknowledged_metadata_changes_present("bare-zookeeper"),
    )


@pytest.mark.spoils
@pytest.mark.known_bug("kmigrate-6")
@pytest.mark.since("3.6.0")  # of tokens in KRaft mode
@pytest.mark.topology("zk1-broker3-controller1-sasl", brokers=3)
@pytest.mark.requirement("K866-DW-delegation-tokens", "K866-DW-watch-acl")
def test_tokens_made_in_dual_write_and_no_former_ones_open_every_broker(
    workload, cluster_metadata, migration, let_in_by_token, expect, verify_clients
):
    """Copied tokens are renewed in dual write, then taken away and others made; brokers let in by those only."""
    cluster_metadata.fill(families=("delegation-tokens",))
    migration.advance_to(Phase.HYBRID)
    migration.begin(procedure.ROLL_TO_KRAFT, moves=1)  # a broker that knows the tokens, whatever the others know

    cluster_metadata.renew_tokens()
    cluster_metadata.settle("renewed")
    expect(
        "when each token expires, as all brokers report",
        lambda: _expiries(cluster_metadata.seen("brokers")),
        equals=_expiries(cluster_metadata.seen("log")),
        within_s=5,
        requirements=["K866-DW-watch-acl"],
    )
    cluster_metadata.take_back(families=("delegation-tokens",))
    cluster_metadata.fill(families=("delegation-tokens",))
    cluster_metadata.settle("made")

    expect(
        "tokens that open each broker",
        let_in_by_token,
        equals=[sorted(cluster_metadata.seen("log").delegation_tokens)] * 3,
        within_s=10,
        requirements=["K866-DW-delegation-tokens", "K866-DW-watch-acl"],
    )
    workload.await_acked(500)
    verify_clients(
        checks.metadata_equivalent("renewed-log", "renewed-zookeeper", families=("delegation_tokens",)),
        checks.acknowledged_metadata_changes_present("renewed-log"),
        checks.metadata_equivalent("made-log", "made-zookeeper", families=("delegation_tokens",)),
        checks.acknowledged_metadata_changes_present("made-log"),
    )


@pytest.mark.spoils
@pytest.mark.topology("zk1-broker3-controller1", controllers=1)
@pytest.mark.starts_at("HYBRID")
@pytest.mark.requirement("K866-CONF-controller-zk-max-inflight", "K866-DW-async", "K866-DW-pipelining")
def test_zookeeper_is_written_behind_by_as_many_requests_as_are_allowed(
    workload, migration, inject, admin_of, zookeeper, written_together, expect, verify_clients
):
    """ZooKeeper is far away. A controller may send one request at a time, and ten after a restart."""
    workload.await_committed(3)
    migration.make("let-one-be-in-flight", moves.Roll("controller-3000", {IN_FLIGHT: "1"}))
    with inject(LATE):
        _expect_written_behind("one-by-one", admin_of, zookeeper, expect)
        expect(
            "requests in flight at once, of one allowed",
            lambda: written_together("one-by-one", within_ms=LATENCY_MS),
            equals=1,
            within_s=0,
            requirements=["K866-CONF-controller-zk-max-inflight"],
        )

    migration.make("let-ten-be-in-flight", moves.Roll("controller-3000", {IN_FLIGHT: "10"}))
    with inject(LATE):
        _expect_written_behind("in-tens", admin_of, zookeeper, expect)
        expect(
            expectations.IN_FLIGHT,
            lambda: written_together("in-tens", within_ms=LATENCY_MS) > 1,
            equals=True,
            within_s=0,
            requirements=["K866-DW-pipelining"],
        )
        expect(
            "whether more than ten requests were in flight at once",
            lambda: written_together("in-tens", within_ms=LATENCY_MS) > 10,
            equals=False,
            within_s=0,
            requirements=["K866-CONF-controller-zk-max-inflight"],
        )
        _expect_written_behind("once-more", admin_of, zookeeper, expect)  # how long that took is reported in time
    workload.await_acked(500)
    verify_clients()


def _expect_written_behind(topic, admin_of, zookeeper, expect):
    path = f"/brokers/topics/{topic}"
    raw_admin.create_topics_at(admin_of("broker-0"), [topic], partitions=12, replication=1)
    expect(
        f"whether {topic} was acknowledged before ZooKeeper had it",
        lambda: zookeeper.get(path) is None,
        equals=True,
        within_s=0,
        requirements=["K866-DW-async"],
    )
    expect(
        expectations.PARTITIONS_WRITTEN.of(topic=topic),
        lambda: len(zookeeper.children(f"{path}/partitions")),
        equals=12,
        kind=Kind.LIVENESS,
        requirements=["K866-CONF-controller-zk-max-inflight"],
    )


def _leader_and_configs(image):
    return image.partitions["moved-0"]["leader"], dict(image.configs["topic:moved"])


def _answer_to_2000_bytes(peer):
    return produce_at(peer, "limited", [bytes(2000)])


def _expiries(image):
    return {token_id: token["expires_ms"] for token_id, token in image.delegation_tokens.items()}


def _replicas_and_isr(peer):
    described = raw_admin.describe_topic_at(peer, "moved").partitions[0]
    return sorted(described.replicas), sorted(described.isr)
