"""What a topology lacks for a test that was written for another one."""

from pathlib import Path

import pytest

from pytest_kmigrate.model.topology import Role, Topology
from pytest_kmigrate.topology.loading import find, load, shipped
from pytest_kmigrate.topology.standing_in import Wanted, lacks

PRODUCTION = """
name  = "production"
kafka = "3.9.1"
[zookeeper]
count = 3
chroot = "/kafka/prod"
[broker]
count = 5
log_dirs = 2
[controller]
count = 3
start = "later"
[security]
protocol = "SASL_SSL"
authorizer = true
zookeeper = "SASL"
zookeeper_acls = true
"""


@pytest.fixture
def production(tmp_path: Path) -> Topology:
    """A cluster as people have them."""
    file = tmp_path / "production.toml"
    file.write_text(PRODUCTION)
    return load(file)


@pytest.mark.parametrize("name", shipped())
def test_a_topology_lacks_nothing_of_its_own(name: str) -> None:
    """Whatever is special about it."""
    own = load(find(name))
    names = {node.name for node in own.nodes}
    assert lacks(own, Wanted(own, names, {role: len(own.of_role(role)) for role in Role if own.of_role(role)})) == []


@pytest.mark.parametrize(
    ("own", "lacking"),
    [
        ("zk1-broker3-controller3", []),
        ("zk1-broker3-controller3-sasl", []),
        ("zk3-broker3-controller3", []),
        ("kraft-broker3-controller3", ["a cluster that was born in KRaft mode", 'start = "at-once"']),
        ("kraft-combined3", ["born in KRaft mode", "brokers and controllers in one process"]),
        ("zk5-broker10-controller3", ["5 ZooKeeper servers or more (not 3)", "10 brokers or more (not 5)"]),
        ("zk1-broker1-spares", ['broker-1, broker-2 with start = "later"']),
        ("zk1-broker3-controller1-low", ['metadata_version = "3.5"', '"inter.broker.protocol.version" = "3.5"']),
        ("zk1-broker3-controller3-mixed", ["broker-2 of Kafka 3.8.1", "of every broker"]),
        ("zk1-broker3-controller1-passwords", ["password.encoder.secret", "of every controller"]),
        ("zk1-broker1-controller1-zookeeper-tls", ["TLS to ZooKeeper"]),
        ("zk1-broker3-controller1-tls", ["no TLS at the listener INTERNAL", "no TLS at the listener CLIENT"]),
        ("zk1-broker1", ['"group.min.session.timeout.ms" = "1000" of every broker']),
    ],
)
def test_what_is_special_about_a_topology_is_needed(production: Topology, own: str, lacking: list[str]) -> None:
    """More nodes are no lack; each lack names what would mend it."""
    found = "; ".join(lacks(production, Wanted(load(find(own)))))
    assert [each for each in lacking if each not in found] == []
    assert bool(found) == bool(lacking)


def test_numbers_and_names_that_a_test_counts_on_are_needed(production: Topology) -> None:
    """An exact number takes the place of the least one."""
    own = load(find("zk1-broker3-controller1"))
    wanted = Wanted(own, {"broker-0", "broker-9"}, {Role.BROKER: 3, Role.CONTROLLER: 1})
    assert lacks(production, wanted) == [
        "exactly 3 brokers (not 5)",
        "exactly 1 controller (not 3)",
        "the nodes that it calls by name (broker-9)",
    ]


def test_of_a_cluster_that_stands_only_the_nodes_are_known(production: Topology) -> None:
    """Its properties and disks may be what a test needs."""
    own = load(find("zk1-broker1"))
    assert lacks(production, Wanted(own), is_known=False) == []
    several = Wanted(load(find("zk5-broker10-controller3")))
    assert lacks(production, several, is_known=False) == [
        "5 ZooKeeper servers or more (not 3)",
        "10 brokers or more (not 5)",
    ]


@pytest.mark.parametrize("name", ["zk1-broker3-controller3-sasl", "zk1-broker3-controller3-grown"])
def test_what_is_protected_is_needed(name: str) -> None:
    """Logins of clients, and what ZooKeeper asks for."""
    plain = load(find("zk1-broker3-controller3"))
    found = lacks(plain, Wanted(load(find(name))))
    expected = {
        "zk1-broker3-controller3-sasl": ["clients that log in by a password (SASL)", "TLS at the listener CLIENT"],
        "zk1-broker3-controller3-grown": [
            "several disks of broker-",
            "a login at ZooKeeper",
            "znodes that Kafka protects",
        ],
    }
    assert [each for each in expected[name] if each not in "; ".join(found)] == []
