"""KIP-500: what metadata of up to 100,000 partitions costs; the analysis draws the lines."""

import pytest

from pytest_kmigrate import Kill, targets

STEPS = ((1, 1), (9, 10), (40, 50), (50, 100))
"""How many thousands of partitions are added, and how many there are then."""
MORE_S = 20


@pytest.mark.nightly
@pytest.mark.topology("kraft-broker1-controller3", brokers=1, controllers=3)
@pytest.mark.requirement("K500-QRM-fast-failover")
def test_metadata_grows_to_a_hundred_thousand_partitions(
    ghost_of, hold_partitions, costs, figure, inject, quorum, seconds_to_serve, claim, verify
):
    """Three ghosts hold all replicas; at each size the leader is killed, and nodes load all there is."""
    brokers = tuple(ghost_of(number).broker_id for number in (10, 11, 12))
    failovers = []
    for more, thousands in STEPS:
        hold_partitions(f"of-{thousands}", thousands=more, brokers=brokers)
        costs(thousands * 1000)
        with inject(Kill(targets.quorum_leader())):
            failovers.append(seconds_to_serve(f"after-{thousands}"))
            quorum.await_new_active_controller()
        figure("failover until a topic is created", failovers[-1], "s", at=thousands * 1000, of="partitions")
    is_flat = failovers[-1] - failovers[0] < MORE_S
    claim(f"whether the last failover takes less than {MORE_S} s more", is_flat, equals=True)
    verify()
