"""Facts about the properties nodes start with, by role and mode."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_kmigrate.model.topology import BrokerMode, Role, Security, Topology
from pytest_kmigrate.providers.owned.network.addresses import Addresses
from pytest_kmigrate.providers.owned.properties import node_properties, quorum_voters, zookeeper_connect
from pytest_kmigrate.providers.owned.protection.security import Protection
from tests.unit.fakes import topology

ZOOKEEPER_ONLY = {"broker.id", "zookeeper.connect", "inter.broker.protocol.version", "log.message.format.version"}
KRAFT_ONLY = {"process.roles", "node.id"}


def written(
    shape: Topology, name: str, mode: BrokerMode | None = None, changes: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """What a node's file holds, on block 7."""
    protection = Protection(shape.security, Path("security"))
    return node_properties(Addresses(shape, 7), protection, shape.node(name), mode, Path("disk"), changes or {})


def with_properties(shape: Topology, properties: Mapping[str, str]) -> Topology:
    """The same shape, every node with these properties of the topology's."""
    return replace(shape, nodes=tuple(replace(spec, properties=properties) for spec in shape.nodes))


def test_a_broker_in_zookeeper_mode_knows_nothing_of_kraft() -> None:
    """What a migration adds is a migration step's to add."""
    properties = written(topology(), "broker-1", BrokerMode.ZOOKEEPER)
    assert properties["broker.id"] == "1"
    assert properties["zookeeper.connect"] == "zookeeper-1:2181"
    assert not (KRAFT_ONLY | {"controller.quorum.voters", "zookeeper.metadata.migration.enable"}) & set(properties)


def test_a_broker_in_kraft_mode_has_no_key_of_zookeeper_mode() -> None:
    """Not even when the topology or a change of an earlier step sets one: Kafka would refuse to start, or mislead."""
    shape = with_properties(topology(), {"inter.broker.protocol.version": "3.9", "num.io.threads": "2"})
    properties = written(shape, "broker-1", BrokerMode.KRAFT, {"zookeeper.connect": "zookeeper-1:2181"})
    assert not ZOOKEEPER_ONLY & set(properties)
    assert (properties["process.roles"], properties["node.id"]) == ("broker", "1")
    assert properties["controller.quorum.voters"] == quorum_voters(shape)
    assert properties["num.io.threads"] == "2"


def test_a_cluster_without_zookeeper_keeps_such_a_key_that_is_set() -> None:
    """Else no test could show that Kafka ignores or refuses it; by itself no node has one."""
    born = topology()
    born = replace(born, nodes=tuple(each for each in born.nodes if each.role is not Role.ZOOKEEPER))
    assert not ZOOKEEPER_ONLY & set(written(born, "broker-1", BrokerMode.KRAFT))
    shape = with_properties(born, {"inter.broker.protocol.version": "3.3"})
    properties = written(shape, "broker-1", BrokerMode.KRAFT, {"zookeeper.connect": "localhost:2181"})
    assert (properties["inter.broker.protocol.version"], properties["zookeeper.connect"]) == ("3.3", "localhost:2181")


def test_a_controller_is_a_kraft_node_without_zookeeper_until_told() -> None:
    """It gets ``zookeeper.connect`` only from the step that lets it take part in a migration."""
    properties = written(topology(), "controller-3001")
    assert (properties["process.roles"], properties["node.id"]) == ("controller", "3001")
    assert not ZOOKEEPER_ONLY & set(properties)
    joined = written(topology(), "controller-3001", changes={"zookeeper.connect": "zookeeper-1:2181"})
    assert joined["zookeeper.connect"] == "zookeeper-1:2181"


def test_listeners_and_voters_are_names() -> None:
    """An address would lead nodes past their links; only clients are given addresses, those of their own links."""
    shape = topology()
    broker = written(shape, "broker-1", BrokerMode.KRAFT)
    controller = written(shape, "controller-3001")
    inside = [broker["listeners"], controller["listeners"], quorum_voters(shape), zookeeper_connect(shape)]
    assert not any("127." in value for value in inside)
    internal, clients = broker["advertised.listeners"].split(",")
    assert internal == "INTERNAL://broker-1:9092"
    assert clients == "CLIENT://127.7.250.3:9094"


def test_later_layers_win_and_none_unsets() -> None:
    """Changes win over the topology's properties, those over our own; None takes a key away."""
    shape = with_properties(topology(), {"auto.create.topics.enable": "true", "num.io.threads": "2"})
    assert written(shape, "broker-0", BrokerMode.ZOOKEEPER)["auto.create.topics.enable"] == "true"
    changed = written(shape, "broker-0", BrokerMode.ZOOKEEPER, {"num.io.threads": "3", "log.dirs": None})
    assert changed["num.io.threads"] == "3"
    assert "log.dirs" not in changed


@pytest.mark.parametrize(("mode", "authorizer"), [(BrokerMode.ZOOKEEPER, "Acl"), (BrokerMode.KRAFT, "Standard")])
def test_the_authorizer_fits_the_mode(mode: BrokerMode, authorizer: str) -> None:
    """ACLs need another class in each mode; without ACLs there is none."""
    shape = topology()
    assert "authorizer.class.name" not in written(shape, "broker-0", mode)
    guarded = replace(shape, security=Security(authorizer=True))
    assert written(guarded, "broker-0", mode)["authorizer.class.name"].endswith(f".{authorizer}Authorizer")


@pytest.mark.parametrize("count", [1, 3])
def test_an_ensemble_lists_its_servers_and_a_single_server_does_not(count: int) -> None:
    """A server alone is standalone: a list of one would make it wait for a quorum."""
    properties = written(topology(zookeepers=count), "zookeeper-1")
    servers = {key for key in properties if key.startswith("server.")}
    assert servers == ({f"server.{number}" for number in range(1, count + 1)} if count > 1 else set())


@pytest.mark.parametrize(("brokers", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (5, "3", "2")])
def test_internal_topics_ask_for_no_more_brokers_than_there_are(brokers: int, copies: str, in_sync: str) -> None:
    """Otherwise the first consumer group of a small cluster would never get its offsets topic."""
    properties = written(topology(brokers=brokers), "broker-0", BrokerMode.ZOOKEEPER)
    assert properties["offsets.topic.replication.factor"] == copies
    assert properties["transaction.state.log.min.isr"] == in_sync
