"""KIP-866, clusters that were born in KRaft mode: they never migrate."""

import pytest


@pytest.mark.topology("kraft-broker3-controller3")
@pytest.mark.requirement("K866-STATE-None", "K866-STATE-cluster-wide", "K866-REG-no-flag-controller")
def test_a_cluster_born_in_kraft_mode_says_that_it_never_migrated(
    workload, recorded_states, registration, expect, verify_clients
):
    """Every controller's copy of the log records NONE and nothing else, and brokers in ZooKeeper mode are refused."""
    workload.await_acked(500)
    workload.await_consumed(500)
    expect(
        "the states that each controller's log records",
        recorded_states,
        equals=[["NONE"]] * 3,
        requirements=["K866-STATE-None", "K866-STATE-cluster-wide"],
    )
    expect(
        "the answer to the registration of a broker that migrates",
        registration,
        equals="BROKER_ID_NOT_REGISTERED",
        requirements=["K866-REG-no-flag-controller"],
    )
    verify_clients()
