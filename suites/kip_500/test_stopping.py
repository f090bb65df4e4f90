"""KIP-500: a broker that has to stop hands over what it leads before it goes."""

import pytest


@pytest.mark.scene
@pytest.mark.topology("kraft-broker3-controller3-quick", brokers=3, controllers=3)
class TestStopping:
    """Three brokers; broker 2 is stopped."""

    @pytest.mark.requirement(
        "K500-ST-stopping-signal",
        "K500-ST-stopping-handover-complete",
        "K500-ST-stopping-not-isr",
        "K500-PULL-persist-optional",
    )
    def test_a_broker_hands_over_what_it_leads(
        self, cluster, created, led_by, given_while_stopping, last_stop, log_of, leader, claim, verify
    ):
        """Sixty partitions with three replicas: it leads none when it has gone, and none is given to it meanwhile."""
        created("led", partitions=60, replication=3)
        claim("whether broker 2 leads something", *(led_by("broker-2", "led") != [], True), "K500-ST-stopping-signal")
        cluster.node("broker-2").stop()
        claim("how broker 2 ended", last_stop("broker-2")["exit_code"], 143, "K500-ST-stopping-signal")
        claim("partitions that broker 2 leads after its end", led_by("broker-2", "led"), [], HANDOVER)
        given = given_while_stopping("broker-2")
        claim("partitions that broker 2 was given while it stopped", given, [], "K500-ST-stopping-not-isr")
        kept, committed = log_of("broker-2"), log_of(leader())
        claim(
            "whether the disk of broker 2 has the records of its topic, and only what the leader has, too",
            *((any(each["type"] == "TOPIC_RECORD" for each in kept), is_prefix(kept, committed)), (True, True)),
            "K500-PULL-persist-optional",
        )
        cluster.node("broker-2").start()
        verify()

    @pytest.mark.requirement("K500-ST-stopping-no-leaders")
    def test_a_broker_that_leads_nothing_goes_at_once(self, cluster, leads, last_stop, claim, verify):
        """It was just started, and no election gave it a partition."""
        cluster.node("broker-2").stop()
        cluster.node("broker-2").start()
        led = leads("broker-2")
        cluster.node("broker-2").stop()
        claim("whether it took less than 5 s", *(last_stop("broker-2")["took_ms"] < 5_000, True), given=led == [])
        cluster.node("broker-2").start()
        verify()


def is_prefix(some, others):
    """Whether what both logs hold is the same, and the first one begins where the other one does."""
    return [(each["offset"], each["data"]) for each in some] == [
        (each["offset"], each["data"]) for each in others[: len(some)]
    ]


HANDOVER = "K500-ST-stopping-handover-complete"
