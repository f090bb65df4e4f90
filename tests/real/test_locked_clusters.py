"""Clusters with every door locked go the whole way: logins, TLS, ACLs, a chroot, a ZooKeeper that knows who writes."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_kmigrate.documents.kip_866.phases import Phase
from pytest_kmigrate.judging import checks
from pytest_kmigrate.model.errors import ClusterError
from pytest_kmigrate.model.peer import Peer
from pytest_kmigrate.model.topology import Role
from pytest_kmigrate.running import Run
from pytest_kmigrate.running.images import BROKERS, LOG, ZOOKEEPER
from pytest_kmigrate.waiting import until
from pytest_kmigrate.wire.admin import cluster_at, create_topics_at
from pytest_kmigrate.workloads.metadata.metadata_change import MetadataChange
from pytest_kmigrate.workloads.metadata.metadata_invocation import MetadataAdmin
from tests.real.protected import leaks, ran, refused

LOCKED = """
name = "zk1-broker2-controller1-locked"
purpose = "As few nodes as still talk over each listener, and all that is done needs a login and a right."
kafka = "3.9.1"
zookeeper.count = 1
zookeeper.chroot = "/kafka/prod"
broker.count = 2
controller.count = 1
[security]
protocol = "SASL_SSL"
authorizer = true
zookeeper = "{zookeeper}"
zookeeper_acls = true
"""


REFUSED = {"TOPIC_AUTHORIZATION_FAILED", "NOT_CONTROLLER"}
"""In ZooKeeper mode a broker that is not the controller says so to any client."""


@pytest.mark.nightly
@pytest.mark.parametrize(("zookeeper", "scheme"), [("SSL", "x509"), ("SASL", "sasl")])
def test_locked_cluster_goes_the_whole_way(tmp_path: Path, zookeeper: str, scheme: str) -> None:
    """From ZOOKEEPER to FINALIZED: all metadata arrives, and who has no right has none before, between and after."""
    passwords: list[str] = []

    def migrate(run: Run) -> None:
        run.metadata.fill()
        guest = made_guest(run)
        passwords.append(run.cluster.client_connection()["sasl.password"])
        assert "TOPIC_AUTHORIZATION_FAILED" in refusals(run, guest) <= REFUSED
        run.driver.advance_to(Phase.HYBRID)
        run.metadata.settle("copied", (LOG, ZOOKEEPER, BROKERS))
        assert run.zookeeper is not None
        acls, _ = run.zookeeper.kazoo.get_acls("/migration")
        assert {acl.id.scheme for acl in acls} == {scheme, "world"}  # others may read it
        assert refusals(run, guest) <= REFUSED
        run.driver.advance_to(Phase.FINALIZED)
        run.metadata.settle("finalized", (LOG, BROKERS))
        assert refusals(run, guest) == {"TOPIC_AUTHORIZATION_FAILED"}
        assert refused(run, **{"sasl.password": "guessed"})
        assert refused(run, **{"security.protocol": "PLAINTEXT"})

    asked = [
        checks.phase_reached(Phase.FINALIZED),
        checks.metadata_equivalent("copied-log", "copied-zookeeper"),
        checks.metadata_equivalent("copied-log", "copied-brokers"),
        checks.metadata_equivalent("finalized-log", "finalized-brokers"),
        checks.acknowledged_metadata_changes_present("copied-log"),
    ]
    file = tmp_path / "zk1-broker2-controller1-locked.toml"
    file.write_text(LOCKED.format(zookeeper=zookeeper))
    ran(file, tmp_path, migrate, asked)
    assert leaks(tmp_path, passwords) == []


def made_guest(run: Run) -> Mapping[str, str]:
    """The login of a user without any right, once every broker knows of it."""
    connection = run.cluster.client_connection()
    change = MetadataChange("set-scram", "guest:SCRAM-SHA-512", {"iterations": 4096})
    MetadataAdmin(connection, within_s=30).invoke(change)
    login = {**connection, "sasl.username": "guest", "sasl.password": "password of guest"}
    brokers = [node.name for node in run.cluster.nodes(Role.BROKER)]
    until(lambda: all(is_let_in(run, login, each) for each in brokers), awaited="the guest", within_s=60)
    return login


def is_let_in(run: Run, login: Mapping[str, str], node: str) -> bool:
    """Whether a broker answers to this login."""
    try:
        return bool(cluster_at(Peer(run.cluster.peer(node).address, login)))
    except ClusterError:
        return False


def refusals(run: Run, guest: Mapping[str, str]) -> set[str]:
    """The errors of all brokers when the guest creates a topic."""
    peers = [Peer(run.cluster.peer(node.name).address, guest) for node in run.cluster.nodes(Role.BROKER)]
    answers = [create_topics_at(each, ["forbidden"], partitions=1, replication=1) for each in peers]
    return {error for answer in answers for error in answer.values()}
