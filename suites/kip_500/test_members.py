"""KIP-500: a broker is a member as long as it hears of the log; one that is cut off or dead is fenced."""

import pytest

from pytest_kmigrate import Hold, Isolate, Kill, Role, targets
from pytest_kmigrate.documents.kip_500.crash_points import FETCHING_STANDS_STILL

BROKERS = ("broker-0", "broker-1", "broker-2")
OTHERS = [0, 1]
ALL_RUN = ({"broker-0": 3, "broker-1": 3, "broker-2": 3}, 0)
"""BrokerState of each, and how many are fenced."""


@pytest.mark.scene
@pytest.mark.topology("kraft-broker3-controller3-quick", brokers=3, controllers=3)
class TestMembers:
    """Three brokers with short sessions; broker 2 is the one that is disturbed."""

    @pytest.mark.requirement(
        "K500-MBR-membership-by-metadata",
        "K500-MBR-removed-even-if-client-reachable",
        "K500-MBR-rejoin",
        "K500-MBR-partitioned-leader-no-zombie",
        "K500-ST-fenced-hidden",
        "K500-ST-fenced-no-leadership",
        "K500-ST-fenced-no-client-rpc-running",
        "K500-ST-metric",
    )
    def test_a_broker_is_cut_off_from_the_controllers(
        self,
        created,
        inject,
        led_by,
        brokers_known,
        isr_of_broker,
        fenced_count,
        states,
        acknowledged_at,
        expect,
        claim,
        verify,
    ):
        """Clients reach it still: it is removed from what the others say, leads nothing, and returns by itself."""
        created("pinned", partitions=6, replication=3)
        own = led_by("broker-2", "pinned")[0]
        claim("how many brokers controllers count as fenced before", fenced_count(), 0, "K500-ST-metric")
        with inject(Isolate(targets.node("broker-2"), from_roles=(Role.CONTROLLER,))):
            expect(
                "the brokers that broker 0 lists",
                lambda: brokers_known("broker-0"),
                equals=OTHERS,
                within_s=30,
                requirements=["K500-MBR-membership-by-metadata", GONE, "K500-ST-fenced-hidden"],
            )
            expect(
                "partitions that broker 2 leads or is in sync with, as broker 0 says",
                lambda: isr_of_broker("broker-2", "broker-0"),
                equals=[],
                within_s=10,
                requirements=["K500-ST-fenced-no-leadership"],
            )
            claim("how many brokers controllers count as fenced", fenced_count(), 1, "K500-ST-metric")
            taken = acknowledged_at("broker-2", "pinned", own)
            claim("records of 20 that broker 2 acknowledges by itself", taken, 0, ZOMBIE)
            claim("what broker 2 lists to clients while it is fenced", brokers_known("broker-2"), [], RUNNING_FENCED)
        expect(
            "the brokers that broker 0 lists after the cut",
            lambda: brokers_known("broker-0"),
            equals=[0, 1, 2],
            within_s=30,
            requirements=["K500-MBR-rejoin"],
        )
        expect("the brokers that run, and how many are fenced", states, equals=ALL_RUN, requirements=["K500-ST-metric"])
        verify()

    @pytest.mark.requirement(
        "K500-ST-crash", "K500-MBR-duplicate-id", "K500-ST-fenced-at-start", "K500-ST-online", "K500-ST-offline"
    )
    def test_a_broker_is_killed_and_comes_back(
        self, created, inject, brokers_known, registered_as, registrations, given_while_starting, expect, claim, verify
    ):
        """It is fenced after its session, and again as it registers; its id is given to no other process."""
        created("moved", partitions=3, replication=3)
        kept = len(registrations("broker-2"))
        claim(
            "the answer to a second process with the id of broker 0",
            registered_as(0),
            DUPLICATE,
            "K500-MBR-duplicate-id",
        )
        foreign = registered_as(7, "AAAAAAAAAAAAAAAAAAAAAA")
        claim("the answer to a broker of another cluster", foreign, "INCONSISTENT_CLUSTER_ID", "K500-MBR-duplicate-id")
        with inject(Kill(targets.node("broker-2"))):
            expect(
                "the brokers that broker 0 lists without broker 2",
                lambda: brokers_known("broker-0"),
                equals=OTHERS,
                within_s=30,
                requirements=["K500-ST-crash", "K500-ST-offline"],
            )
            created("made-meanwhile", partitions=3, replication=2)
        expect(
            "the brokers that broker 0 lists again",
            lambda: brokers_known("broker-0"),
            equals=[0, 1, 2],
            within_s=30,
            requirements=["K500-ST-crash", "K500-ST-online"],
        )
        fenced = registrations("broker-2")[kept:]
        claim("whether broker 2 was fenced as it registered again", *(fenced, [True], AT_START, "K500-ST-offline"))
        given = given_while_starting("broker-2")
        claim("partitions that broker 2 got before it had started", given, [], "K500-ST-offline")
        verify()

    @pytest.mark.requirement("K500-PULL-heartbeat-by-fetch", "K500-PULL-offset-tracked")
    def test_a_broker_stops_fetching(self, created, inject, fetched_from, fenced_count, expect, claim, verify):
        """It goes on sending heartbeats, which must not do; later it fetches from where it was."""
        created("before", partitions=1, replication=3)
        with inject(Hold(FETCHING_STANDS_STILL, Role.BROKER)) as injection:
            injection.await_bitten()
            began = fetched_from()
            expect(
                "how many brokers are fenced while one of them fetches nothing",
                fenced_count,
                equals=1,
                within_s=8,
                requirements=["K500-PULL-heartbeat-by-fetch"],
            )
            held = fetched_from()
            standing = [each for each in BROKERS if held[each] == began[each]]
            claim("how many brokers did not get further meanwhile", len(standing), 1, TRACKED)
        expect(
            "brokers that ask for less than before, or for nothing new",
            lambda: [each for each in BROKERS if fetched_from().get(each, 0) <= max(held.values())],
            equals=[],
            within_s=60,
            requirements=[TRACKED],
        )
        verify()

    @pytest.mark.requirement("K500-API-alter-isr", "K500-API-alter-isr-fencing", "K500-LOG-isr-immediately-known")
    def test_only_who_is_in_office_may_change_the_isr(
        self,
        created,
        asked_for_isr,
        in_sync,
        isr_recorded,
        led_by,
        under_replicated,
        received_by_controllers,
        expect,
        claim,
        verify,
    ):
        """Stale epochs of leader, partition and broker are refused; the right ones change the ISR at once."""
        created("pinned", partitions=1, replication=3)
        refused = {
            "an old epoch of the leader": asked_for_isr("pinned", leader_epoch=-1),
            "another epoch of the partition": asked_for_isr("pinned", partition_epoch=-1),
            "an old epoch of the broker": asked_for_isr("pinned", broker_epoch=-1),
        }
        claim("the answers to changes of the ISR that are stale", refused, STALE, "K500-API-alter-isr-fencing")
        (owner,) = (each for each in BROKERS if led_by(each, "pinned"))
        asked = received_by_controllers("AlterPartition") + 1
        claim("the answer to a change by the leader", asked_for_isr("pinned"), "NONE", "K500-API-alter-isr")
        claim(
            "whether the log has the change as soon as it is answered",
            *([BROKERS.index(owner)] in isr_recorded("pinned"), True, KNOWN),
        )
        expect(
            "partitions that their leader counts as under-replicated",
            lambda: under_replicated(owner),
            equals=0,
            within_s=60,
            requirements=[KNOWN],
        )
        by_leader = received_by_controllers("AlterPartition") > asked
        claim("whether the leader asked the controllers for its ISR", *(by_leader, True, "K500-API-alter-isr"))
        claim("the ISR in the log as soon as the leader has it", isr_recorded("pinned")[-1], [0, 1, 2], KNOWN)
        expect(
            "the replicas in sync later",
            lambda: in_sync("pinned"),
            equals=[[0, 1, 2]],
            requirements=["K500-API-alter-isr"],
        )
        verify()


GONE = "K500-MBR-removed-even-if-client-reachable"
ZOMBIE = "K500-MBR-partitioned-leader-no-zombie"
RUNNING_FENCED = "K500-ST-fenced-no-client-rpc-running"
TRACKED = "K500-PULL-offset-tracked"
KNOWN = "K500-LOG-isr-immediately-known"
AT_START = "K500-ST-fenced-at-start"
DUPLICATE = "DUPLICATE_BROKER_REGISTRATION"
STALE = {
    "an old epoch of the leader": "FENCED_LEADER_EPOCH",
    "another epoch of the partition": "INVALID_UPDATE_VERSION",
    "an old epoch of the broker": "STALE_BROKER_EPOCH",
}
