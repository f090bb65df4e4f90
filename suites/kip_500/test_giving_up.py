"""KIP-500: a broker that cannot hand over what it leads stops all the same, after five minutes."""

import pytest

AT_MOST_S = 400
"""Kafka gives up after 300 s."""


@pytest.mark.topology("kraft-broker2-controller1-low", brokers=2, controllers=1)
@pytest.mark.requirement("K500-ST-stopping-timeout")
def test_a_broker_stops_without_controllers(cluster, created, led_by, last_stop, claim, verify):
    """No controller is there that could give its partitions to others."""
    created("led", partitions=4, replication=2)
    claim("whether broker 1 leads something", *(led_by("broker-1", "led") != [], True))
    cluster.node("controller-3000").kill()
    cluster.node("broker-1").stop(within_s=AT_MOST_S)
    stop = last_stop("broker-1")
    claim("how broker 1 ended", stop["how"], "controlled")
    claim("whether it waited for its leaderships to be moved", *(stop["took_ms"] > 10_000, True))
    cluster.node("controller-3000").start()
    cluster.node("broker-1").start()
    verify()
