"""Shapes that real clusters have, on real Kafka: each serves clients, and migrates with all that it holds."""

import zipfile
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.faults.disks import FailLogDir
from pytest_kmigrate.faults.injection import inject
from pytest_kmigrate.faults.processes import Kill
from pytest_kmigrate.faults.targets import node, quorum_leader
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.running import Run
from pytest_kmigrate.running.images import LOG, ZOOKEEPER
from pytest_kmigrate.topology.loading import find
from pytest_kmigrate.waiting import until
from pytest_kmigrate.wire.admin import describe_topic_at
from tests.real.java_class import STANDARD_AUTHORIZER, subclass
from tests.real.protected import leaks, ran

GROWN = {1001, 1003, 1007}
LEVEL_OF_3_6 = 14
OWN = "org.example.Mine"
OWN_AND_OLD = """
name = "kraft-broker1-controller3-own-and-old"
purpose = "One controller was left on an older release, and the authorizer is the operator's own."
kafka = "3.9.1"
[broker]
count = 1
jars = ["./mine.jar"]
[controller]
count = 3
jars = ["./mine.jar"]
[[node]]
name = "controller-3002"
kafka = "3.6.0"
[security]
authorizer = "org.example.Mine"
"""


def test_a_grown_cluster_migrates_and_survives_a_disk(tmp_path: Path) -> None:
    """Chroot, high ids, two disks, ZooKeeper's logins and ACLs, one more listener: all of it reaches KRaft mode."""
    secrets: list[str] = []

    def migrate(run: Run) -> None:
        secrets.extend(zookeeper_passwords(run))
        run.metadata.fill()
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.settle("copied", (LOG, ZOOKEEPER))
        assert run.zookeeper is not None
        assert {int(each) for each in run.zookeeper.children("/brokers/ids")} == GROWN
        assert identities(run, "/migration") == {("sasl", "kafka"), ("world", "anyone")}
        assert identities(run, "/config/users") == {("sasl", "kafka")}
        run.driver.advance_to(Phase.ALL_KRAFT)
        assert met_at(run, "EXTERNAL") == GROWN
        with inject(run.scene, FailLogDir(node("broker-1003"))) as failed:
            failed.await_bitten(30)
            until(lambda: in_sync(run, 1003) == "some", awaited="one disk of two in sync", within_s=30)
            run.traffic.await_acked(run.traffic.acked() + 300)
            assert in_sync(run, 1003) == "some"
        until(lambda: in_sync(run, 1003) == "all", awaited="the new disk in sync", within_s=60)
        witnessed = [event.data["witness"] for event in run.recorder.events if event.kind is EventKind.FAULT_WITNESSED]
        assert witnessed == ["broker-1003 reports 1 offline log directories"]

    asked = [checks.phase_reached(Phase.ALL_KRAFT), checks.metadata_equivalent("copied-log", "copied-zookeeper")]
    file = tmp_path / "grown-with-a-login.toml"  # a login as well, so that the first credential goes below the chroot
    file.write_text(find("zk1-broker3-controller3-grown").read_text().replace('"SSL"', '"SASL_SSL"'))
    ran(file, tmp_path, migrate, asked)
    assert leaks(tmp_path, secrets) == []


def test_combined_nodes_survive_the_loss_of_their_leader(tmp_path: Path) -> None:
    """A node that goes takes a broker and a controller with it: another one leads, and clients are served."""

    def lose_one(run: Run) -> None:
        assert [each.name for each in run.cluster.nodes(Role.CONTROLLER)] == ["combined-1", "combined-2", "combined-3"]
        run.traffic.await_acked(300)
        with inject(run.scene, Kill(quorum_leader())) as killed:
            before = killed.targets
            until(lambda: run.scene.view.quorum_leader() not in (None, *before), awaited="another leader", within_s=30)
            run.traffic.await_acked(run.traffic.acked() + 300)

    ran("kraft-combined3", tmp_path, lose_one, [checks.one_active_controller_per_epoch()])


def test_an_own_authorizer_and_an_older_controller(tmp_path: Path) -> None:
    """The class is found in a jar of the topology; the quorum begins at the level that its oldest node knows."""

    def look(run: Run) -> None:
        run.metadata.fill(["acls"])
        nodes = [node for node in run.cluster.nodes() if OWN in node.properties["authorizer.class.name"]]
        levels = {node.name: run.scene.view.metric(node.name, "CurrentMetadataVersion") for node in nodes}
        assert levels == dict.fromkeys([node.name for node in run.cluster.nodes()], LEVEL_OF_3_6)

    with zipfile.ZipFile(tmp_path / "mine.jar", "w") as jar:
        jar.writestr(f"{OWN.replace('.', '/')}.class", subclass(OWN, STANDARD_AUTHORIZER))
    (tmp_path / "own.toml").write_text(OWN_AND_OLD)
    ran(tmp_path / "own.toml", tmp_path, look, ())


@pytest.mark.nightly  # the more brokers are rolled, the surer one of them meets kmigrate-4
def test_a_large_cluster_serves(tmp_path: Path) -> None:
    """Five ZooKeeper servers and ten brokers, each reachable over links of its own, through to dual write."""
    ran("zk5-broker10-controller3", tmp_path, lambda run: run.driver.advance_to(Phase.HYBRID), ())


def zookeeper_passwords(run: Run) -> list[str]:
    """That of Kafka, and the superuser's."""
    login = (run.cluster.scratch / "security" / "zookeeper-client.jaas").read_text()
    superuser = run.cluster.zookeeper_superuser
    assert superuser is not None
    return [login.split('password="')[1].split('"')[0], superuser.partition(":")[2]]


def identities(run: Run, path: str) -> set[tuple[str, str]]:
    """Who may do anything with a znode below the chroot."""
    assert run.zookeeper is not None
    acls, _ = run.zookeeper.kazoo.get_acls(path)
    return {(acl.id.scheme, acl.id.id) for acl in acls}


def met_at(run: Run, listener: str) -> set[int]:
    """The brokers that a client of a listener meets."""
    admin = AdminClient(run.cluster.client_connection(listener))
    return set(admin.list_topics(timeout=10).brokers)


def in_sync(run: Run, broker: int) -> str:
    """Of how many partitions of the traffic's topic a broker is in sync (so it may lead them), by another's report."""
    partitions = describe_topic_at(run.cluster.peer("broker-1001"), run.traffic.topic).partitions.values()
    counts = [broker in partition.isr for partition in partitions]
    return "all" if all(counts) else "some" if any(counts) else "none"
