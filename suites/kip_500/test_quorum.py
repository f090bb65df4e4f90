"""KIP-500: controllers elect a leader of one log among themselves, and lose nothing when some of them are lost."""

import pytest

from pytest_kmigrate import Isolate, Kill, Kind, Pause, Role, checks, targets
from pytest_kmigrate.documents.kip_500.log import (
    families_in,
    made_differently,
    missing_families,
    pushed_to_brokers,
    without_endpoints,
)

BROKERS = ("broker-0", "broker-1", "broker-2")
CONTROLLERS = ("controller-3000", "controller-3001", "controller-3002")
NOT_CONTROLLER = "NOT_CONTROLLER"
AT_CONTROLLER = "--bootstrap-controller"
TOOLS = ("kafka-acls", "kafka-cluster", "kafka-configs", "kafka-features", "kafka-metadata-quorum", "kafka-topics")
OF_ZOOKEEPER = ("--zookeeper", "zookeeper.connect")


@pytest.mark.scene
@pytest.mark.topology("kraft-broker3-controller3-quick", brokers=3, controllers=3)
class TestQuorum:
    """Three controllers and three brokers."""

    @pytest.mark.requirement(
        "K500-LOG-no-gaps",
        "K500-LOG-no-controller-restart-fix",
        "K500-QRM-durability",
        "K500-QRM-tolerate-1-of-3",
        "K500-QRM-election-no-external",
        "K500-QRM-active-is-leader",
        "K500-LOG-single-order",
        "K500-QRM-followers-replicate",
        "K500-LOG-one-offset",
    )
    def test_a_leader_may_die_stand_still_or_be_cut_off(
        self, workload, cluster_metadata, inject, quorum, behind, expect, verify_clients
    ):
        """Metadata change all the while: another controller takes over each time, and nothing acknowledged is lost."""
        workload.await_acked(300)
        with cluster_metadata.changing("failovers", sides=("log", "brokers")):
            for fault in (Kill, Pause, Isolate):
                with inject(fault(targets.quorum_leader())):
                    quorum.await_new_active_controller()
        expect("controllers that have not applied what was committed", behind, equals=[], requirements=FOLLOW)
        verify_clients(
            checks.one_quorum_leader_per_epoch(),
            checks.one_metadata_log(),
            checks.committed_metadata_is_kept(),
            checks.one_leader_per_epoch_in_the_logs(),
            checks.metadata_equivalent("failovers-log", "failovers-brokers"),
            checks.acknowledged_metadata_changes_present("failovers-log"),
        )

    @pytest.mark.requirement("K500-API-forward-failover")
    def test_requests_under_way_are_answered_by_the_next_leader(
        self, creations_under_way, inject, quorum, log_of, leader, claim, verify
    ):
        """Topics are created through every broker while the leader is killed: each is made once, or time is up."""
        with creations_under_way(*BROKERS) as answers, inject(Kill(targets.quorum_leader())):
            quorum.await_new_active_controller()
        wrong = made_differently(log_of(leader()), answers)
        claim("creations that were answered otherwise than they ended", wrong, [])
        verify()

    @pytest.mark.requirement("K500-TOOL-admin-parity")
    def test_what_was_written_into_zookeeper_is_asked_of_brokers(
        self, created, refused_ways, ways_of_metadata, tool, claim, verify
    ):
        """Configs, quotas and credentials by Kafka's tool, elections and reassignments by request; the first login."""
        created("by-tool", partitions=1, replication=3)
        claim("what kafka-configs cannot do through a broker", refused_ways(), [])
        answers = set(ways_of_metadata("by-tool").values())
        claim("the answers to an election and to a reassignment", answers - {"ELECTION_NOT_NEEDED"}, {"NONE"})
        offered = "--add-scram" in tool("broker-0", "kafka-storage", "format", "--help").output
        claim("whether disks can be formatted with credentials", *(offered, True))
        verify()

    @pytest.mark.requirement(
        "K500-QRM-active-handles-rpcs", "K500-API-old-clients-forward", "K500-API-new-clients-direct", "K500-TOOL-no-zk"
    )
    def test_who_is_asked_what(
        self, answers_of, standby, created_through, received_by_controllers, tool, claim, verify
    ):
        """Changes are made by the leader, whichever broker takes them, and tools need nothing else."""
        claim("the answers of a standby", set(answers_of(standby()).values()), {NOT_CONTROLLER}, STANDBY)
        asked = received_by_controllers("CreateTopics")
        created = {error for each in BROKERS for error in created_through(each, f"through-{each}").values()}
        claim("the answers of brokers to creations", created, {"NONE"}, "K500-API-old-clients-forward")
        forwarded = received_by_controllers("CreateTopics") - asked
        claim("whether each broker forwarded its request", *(forwarded >= 3, True, "K500-API-old-clients-forward"))
        options = {name: "".join(tool("broker-0", name, "--help").output.split()) for name in TOOLS}
        direct = tool("broker-0", "kafka-features", AT_CONTROLLER, "controller-3000:9093", "describe")
        claim(
            "the status of a tool at a controller, and whether it has the option for that",
            *([direct.status, AT_CONTROLLER in options["kafka-features"]], [0, True], "K500-API-new-clients-direct"),
        )
        offered = [name for name in options if any(each in options[name] for each in OF_ZOOKEEPER)]
        claim("tools with an option for ZooKeeper", offered, [], "K500-TOOL-no-zk")
        verify()

    @pytest.mark.sample
    @pytest.mark.requirement(
        "K500-API-zk-ops-to-controller",
        "K500-QRM-log-content",
        "K500-PULL-brokers-pull",
        "K500-PULL-metadatafetch-name",
        "K500-PULL-periodic",
        "K500-DEP-no-zk",
        "K500-DEP-one-config",
        "K500-MBR-register-with-quorum",
    )
    def test_what_is_written_and_who_fetches_it(
        self, cluster, cluster_metadata, fetched_from, log_of, expect, claim, verify
    ):
        """Every family of metadata becomes records of the log, which brokers fetch again and again."""
        kept = len(log_of("controller-3000"))
        cluster_metadata.fill()
        expect(
            "families of metadata that the log lacks",
            lambda: missing_families(families_in(log_of("controller-3000")[kept:]), cluster_metadata.left_out),
            equals=[],
            requirements=["K500-QRM-log-content", "K500-API-zk-ops-to-controller"],
        )
        received = {each: cluster.requests_received(each) for each in BROKERS}
        claim("requests that push metadata to brokers", pushed_to_brokers(received), [], "K500-PULL-brokers-pull")
        fetched = fetched_from()
        expect(
            "brokers that do not go on asking though nothing is changed",
            lambda: [each for each in BROKERS if fetched_from().get(each, 0) <= fetched[each]],
            equals=[],
            within_s=10,
            requirements=["K500-PULL-periodic"],
        )
        named = {name for each in CONTROLLERS for name, _ in cluster.requests_received(each)}
        claim("whether controllers were asked by MetadataFetch", *("MetadataFetch" in named, True), FETCH)
        of_zookeeper = [
            each.name for each in cluster.nodes() if any(key.startswith("zookeeper.") for key in each.properties)
        ]
        claim("nodes with a property of ZooKeeper", of_zookeeper, [], "K500-DEP-no-zk", "K500-DEP-one-config")
        unknown = without_endpoints(log_of("controller-3000"), (0, 1, 2))
        claim("brokers that are not registered with an address", unknown, [], "K500-MBR-register-with-quorum")
        verify()

    @pytest.mark.requirement("K500-QRM-minority-leader-harmless")
    def test_a_leader_without_a_majority_gives_up(
        self,
        cluster_metadata,
        created,
        leader,
        change_at,
        inject,
        quorum,
        leaders_claimed,
        controller_serves,
        expect,
        claim,
        verify,
    ):
        """It is cut off from the other two controllers, and brokers are not: they find the new leader."""
        created("changed-by-one", partitions=1, replication=3)
        cut_off = leader()
        with inject(Isolate(targets.node(cut_off), from_roles=(Role.CONTROLLER,))):
            change_at(cut_off, "by-one-cut-off", topic="changed-by-one")
            quorum.await_new_active_controller()
            expect(
                "how many controllers report to lead",
                leaders_claimed,
                equals=1,
                within_s=20,
                kind=Kind.LIVENESS,
                requirements=["K500-QRM-minority-leader-harmless"],
            )
            claim("whether topics can be created meanwhile", *(controller_serves("meanwhile"), True))
        with cluster_metadata.changing("healed", sides=("log", "brokers")):
            claim("whether topics can be created afterwards", *(controller_serves("afterwards"), True))
        verify(
            checks.metadata_equivalent("healed-log", "healed-brokers"),
            checks.acknowledged_metadata_changes_present("healed-log"),
        )

    @pytest.mark.requirement(
        "K500-QRM-majority-required",
        "K500-QRM-recover-after-majority-loss",
        "K500-ST-fenced-reentry",
        "K500-QRM-offline-controllers-brokers-up",
    )
    def test_without_a_majority_nothing_is_committed(
        self,
        workload,
        cluster_metadata,
        leader,
        standby,
        change_at,
        taking_records,
        controller_serves,
        inject,
        expect,
        claim,
        verify_clients,
    ):
        """The two standbys are dead: the leader is requested to write, brokers go on, and then everything resumes."""
        workload.await_acked(300)
        with cluster_metadata.changing("before", sides=("log", "brokers")):
            workload.await_acked(300)
        serving, alone = taking_records("changed-by-one-alone"), leader()
        with inject(Kill(targets.node(standby()))), inject(Kill(targets.node(standby()))):
            change_at(alone, "by-one-alone", topic="changed-by-one-alone")
            expect(
                "brokers that take records without a quorum",
                serving,
                equals=[],
                within_s=20,
                requirements=["K500-ST-fenced-reentry", ALONE],
            )
        claim("whether topics can be created again", *(controller_serves("again"), True), RECOVER)
        with cluster_metadata.changing("after", sides=("log", "brokers")):
            workload.await_acked(300)
        verify_clients(
            checks.metadata_equivalent("after-log", "after-brokers"),
            checks.acknowledged_metadata_changes_present("after-log"),
        )


FOLLOW = ["K500-QRM-followers-replicate", "K500-LOG-one-offset"]
STANDBY, FETCH = "K500-QRM-active-handles-rpcs", "K500-PULL-metadatafetch-name"
RECOVER = "K500-QRM-recover-after-majority-loss"
ALONE = "K500-QRM-offline-controllers-brokers-up"


@pytest.mark.topology("kraft-broker1-controller5", brokers=1, controllers=5)
@pytest.mark.requirement("K500-QRM-tolerate-2-of-5")
def test_five_controllers_stand_the_loss_of_two(cluster, inject, standby, controller_serves, claim, verify):
    """The leader and another one are killed at once."""
    with inject(Kill(targets.quorum_leader())), inject(Kill(targets.node(standby()))):
        claim("whether a topic can be created with three of five", *(controller_serves("three"), True))
    verify()
