"""The frozen topology: selecting nodes, and digests."""

from dataclasses import FrozenInstanceError, dataclass, fields, replace

import pytest

from pytest_kmigrate.model.topology import (
    BrokerMode,
    LinkSpec,
    NodeSpec,
    Role,
    Topology,
)

ZOOKEEPER = NodeSpec("zookeeper-1", Role.ZOOKEEPER, 1, "3.9.1")
BROKER = NodeSpec("broker-0", Role.BROKER, 0, "3.9.1", BrokerMode.ZOOKEEPER, properties={"a": "b"})
OLD_BROKER = NodeSpec("broker-1", Role.BROKER, 1, "3.8.1", BrokerMode.ZOOKEEPER)
CONTROLLER = NodeSpec("controller-3000", Role.CONTROLLER, 3000, "3.9.1", start="later")
TOPOLOGY = Topology("shape", "Why.", "3.9.1", (ZOOKEEPER, BROKER, OLD_BROKER, CONTROLLER))


def test_nodes_are_selected_by_role_and_by_name() -> None:
    """A role selects all its nodes, a name the one; a number is the place in the topology, from 1."""
    assert TOPOLOGY.of_role(Role.BROKER) == TOPOLOGY.selected_by("broker") == (BROKER, OLD_BROKER)
    assert TOPOLOGY.selected_by("broker-1") == (TOPOLOGY.node("broker-1"),) == (OLD_BROKER,)
    assert [TOPOLOGY.number_of(node.name) for node in TOPOLOGY.nodes] == [1, 2, 3, 4]


def test_an_unknown_node_is_told_with_the_known_ones() -> None:
    """Asking for a node that is not there names those that are."""
    with pytest.raises(
        KeyError, match="expected one of zookeeper-1, broker-0, broker-1, controller-3000; got 'broker-7'"
    ):
        TOPOLOGY.node("broker-7")


def test_zookeeper_is_there_or_not() -> None:
    """``has_zookeeper`` distinguishes a cluster to migrate from one born in KRaft mode."""
    assert TOPOLOGY.has_zookeeper
    assert not replace(TOPOLOGY, nodes=(BROKER, CONTROLLER)).has_zookeeper


def test_the_digest_is_that_of_the_content() -> None:
    """Equal topologies have equal digests whatever the order of properties; any change gives another."""
    one = replace(TOPOLOGY, nodes=(replace(BROKER, properties={"a": "1", "b": "2"}),))
    same = replace(TOPOLOGY, nodes=(replace(BROKER, properties={"b": "2", "a": "1"}),))
    assert one.digest() == same.digest()
    assert len(one.digest()) == 64
    others = [
        replace(one, kafka="3.9.0"),
        replace(one, links=(LinkSpec("broker", "broker", 5),)),
        replace(one, purpose="No."),
    ]
    assert len({each.digest() for each in (one, *others)}) == 4


@dataclass(frozen=True)
class _LaterNode(NodeSpec):
    """As a later release of this package may have it."""

    later: int = 3


def test_a_key_of_a_later_release_voids_no_digest() -> None:
    """It counts where it is used only, whatever its default is."""
    node = {each.name: getattr(BROKER, each.name) for each in fields(BROKER)}
    one = replace(TOPOLOGY, nodes=(BROKER,))
    assert replace(TOPOLOGY, nodes=(_LaterNode(**node),)).digest() == one.digest()
    assert replace(TOPOLOGY, nodes=(_LaterNode(**node, later=0),)).digest() != one.digest()


def test_a_topology_is_frozen() -> None:
    """Nobody can change a topology after it was read."""
    with pytest.raises(FrozenInstanceError):
        TOPOLOGY.name = "other"  # type: ignore[misc]
