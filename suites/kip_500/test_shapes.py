"""KIP-500: broker and controller in one process, and configurations that a release without ZooKeeper refuses."""

import pytest

from pytest_kmigrate import Kill, targets


@pytest.mark.topology("kraft-combined3")
@pytest.mark.requirement("K500-DEP-roles-separable")
def test_three_processes_are_brokers_and_controllers(workload, inject, quorum, verify_clients):
    """One of them is killed: the others go on as both."""
    workload.await_acked(300)
    with inject(Kill(targets.quorum_leader())):
        quorum.await_new_active_controller()
        workload.await_acked(300)
    verify_clients()


@pytest.mark.topology("kraft-combined1")
@pytest.mark.requirement("K500-DEP-single-process")
def test_one_process_is_a_cluster(workload, cluster, verify_clients):
    """It takes records, and has them after a restart."""
    (node,) = cluster.nodes()
    workload.await_acked(300)
    node.stop()
    node.start()
    workload.await_acked(300)
    verify_clients()
