"""KIP-500: brokers that consist of a registration and heartbeats, and metadata of many partitions that need no disk."""

import pytest

from pytest_kmigrate import Kill, targets

MORE_S = 20


@pytest.mark.scene
@pytest.mark.topology("kraft-broker1-controller5", brokers=1, controllers=5)
class TestGhosts:
    """Five controllers, one broker and ghosts."""

    @pytest.mark.requirement("K500-QRM-fast-failover")
    def test_a_failover_takes_no_longer_with_many_partitions(
        self, ghost_of, hold_partitions, inject, quorum, seconds_to_serve, images_fetched, claim, verify
    ):
        """The leader is killed with next to no partition, and with 20,000; no controller fetches an image for it."""
        with inject(Kill(targets.quorum_leader())):
            quorum.await_new_active_controller()
            few = seconds_to_serve("few")
        brokers = (ghost_of(10).broker_id, ghost_of(11).broker_id)
        hold_partitions("many", thousands=20, brokers=brokers)
        with inject(Kill(targets.quorum_leader())):
            quorum.await_new_active_controller()
            many = seconds_to_serve("many")
        claim(f"whether it takes less than {MORE_S} s more", *(many - few < MORE_S, True))
        claim("images of the metadata that were fetched", images_fetched(), 0)
        verify()

    @pytest.mark.requirement("K500-ST-stopping-ordered-exit")
    def test_a_broker_is_let_go(self, ghost_of, claim, verify):
        """A broker that leads nothing says that it wants to stop, and waits for the answer that lets it."""
        let_by = "BrokerHeartbeat" if ghost_of(12).leave() else "nothing"
        claim("the request whose answer lets a broker go", let_by, "Fetch")
        verify()
