"""KIP-500: broker and controller in one process, and configurations that a release without ZooKeeper refuses."""

import json

import pytest

from pytest_kmigrate import Kill, targets

PARTITIONS = 3
"""Of the topic that clients write to."""


@pytest.mark.topology("kraft-combined3", brokers=3, controllers=3)
@pytest.mark.requirement("K500-DEP-roles-separable")
def test_three_processes_are_brokers_and_controllers(workload, inject, quorum, verify_clients):
    """One of them is killed: the others go on as both."""
    workload.await_committed(PARTITIONS)
    with inject(Kill(targets.quorum_leader())):
        quorum.await_new_active_controller()
        workload.await_acked(300)
    verify_clients()


@pytest.mark.topology("kraft-combined1", brokers=1, controllers=1)
@pytest.mark.requirement("K500-DEP-single-process")
def test_one_process_is_a_cluster(workload, cluster, verify_clients):
    """It takes records, and has them after a restart."""
    (node,) = cluster.nodes()
    workload.await_acked(300)
    workload.await_committed(PARTITIONS)
    node.stop()
    node.start()
    workload.await_acked(300)
    workload.await_committed(1)  # so of one partition two
    verify_clients()


@pytest.mark.topology("kraft-broker2-controller1-low", brokers=2, controllers=1)
@pytest.mark.requirement("K500-ST-fenced-no-client-rpc-start")
def test_a_broker_that_cannot_read_the_log_takes_no_client(cluster, started_up, takes_connections, claim, verify):
    """It starts while no controller is there; when one is back, it serves."""
    controller, broker = cluster.node("controller-3000"), cluster.node("broker-1")
    broker.stop()
    controller.kill()
    started_up("broker-1")
    claim("whether broker 1 takes connections without a controller", *(takes_connections("broker-1"), False))
    controller.start()
    broker.await_ready()
    claim("whether it takes them with one", *(takes_connections("broker-1"), True))
    verify()


@pytest.mark.since("4.0.0")
@pytest.mark.topology("kraft-broker2-controller1-low", brokers=2, controllers=1)
@pytest.mark.requirement("K500-BRG-post-zk-refuses")
def test_a_configuration_of_zookeeper_mode_is_refused(cluster, refused, verify):
    """A release without ZooKeeper is given the address of one, and no role."""
    cluster.node("broker-1").stop()
    refused("broker-1", OF_ZOOKEEPER, naming="process.roles", within_s=60)
    cluster.node("broker-1").start()
    verify()


OF_ZOOKEEPER = {
    "process.roles": None,
    "controller.quorum.voters": None,
    "node.id": None,
    "broker.id": "1",
    "zookeeper.connect": "localhost:2181",
}


@pytest.mark.topology("zk1-broker3-controller1", brokers=3, controllers=1)
@pytest.mark.requirement("K500-BRG-zk-isolated")
def test_who_writes_zookeeper_before_the_migration(zookeeper, claim, verify):
    """Only the controller should; a broker that is none has a znode that goes with a session of its own."""
    controller = str(json.loads(zookeeper.get("/controller"))["brokerid"])
    brokers = [each for each in zookeeper.children("/brokers/ids") if each != controller]
    writing = [each for each in sorted(brokers) if zookeeper.owner(f"/brokers/ids/{each}")]
    claim("how many brokers besides the controller write ZooKeeper", len(writing), 0)
    verify()
