"""Facts about the address plan: no two things in one place, every other node behind a link of its own."""

import itertools

import pytest

from pytest_kmigrate.providers.owned.network.addresses import CLIENTS, Addresses
from tests.unit.fakes import topology

SHAPES = [topology(), topology(zookeepers=3), topology(zookeepers=0), topology(1, 1, 1)]


@pytest.fixture(params=SHAPES, ids=lambda shape: f"{len(shape.nodes)}-nodes")
def plan(request: pytest.FixtureRequest) -> Addresses:
    """The plan of one shape on block 7."""
    return Addresses(request.param, 7)


def test_no_two_things_listen_in_one_place(plan: Addresses) -> None:
    """Proxies, nodes and Toxiproxy itself have addresses and ports of their own."""
    links = list(plan.links())
    proxies = [plan.listen_address(link) for link in links]
    bound = {f"{plan.real(link.destination)}:{link.port}" for link in links}
    assert len(proxies) == len(set(proxies))
    assert not set(proxies) & bound
    assert plan.toxiproxy[0] not in {address.partition(":")[0] for address in [*proxies, *bound]}


def test_everything_lies_in_the_leased_block(plan: Addresses) -> None:
    """Two plans on two blocks share no address."""
    other = Addresses(plan.topology, 8)
    assert {plan.listen_address(link) for link in plan.links()} < {
        f"{host}:{port}" for host, port in plan.listened_at()
    }
    assert all(address.startswith("127.7.") for address, _ in plan.listened_at())
    assert not set(plan.listened_at()) & set(other.listened_at())


def test_a_node_finds_itself_directly_and_everybody_else_by_a_link(plan: Addresses) -> None:
    """The hosts file names every node once; only its own name leads to a real address."""
    names = [spec.name for spec in plan.topology.nodes]
    real = {plan.real(name) for name in names}
    for name in names:
        lines = [line.split() for line in plan.hosts_file(name).splitlines()]
        found = {host: address for address, host in lines if host != "localhost"}
        assert sorted(found) == sorted(names)
        assert {host for host, address in found.items() if address in real} == {name}


def test_links_are_those_somebody_dials(plan: Addresses) -> None:
    """Brokers and controllers dial everybody, ZooKeeper servers only each other, clients only brokers."""
    roles = {spec.name: spec.role.value for spec in plan.topology.nodes} | {CLIENTS: CLIENTS}
    dialled = {(roles[link.source], roles[link.destination], link.port) for link in plan.links()}
    possible = {
        ("zookeeper", "zookeeper", 2888),
        ("zookeeper", "zookeeper", 3888),
        *((source, "zookeeper", 2181) for source in ("broker", "controller")),
        *((source, "broker", 9092) for source in ("broker", "controller")),
        *((source, "controller", 9093) for source in ("broker", "controller")),
        ("clients", "broker", 9094),
    }
    alone = {role for role in roles.values() if list(roles.values()).count(role) == 1}
    wanted = {
        (source, destination, port)
        for source, destination, port in possible
        if {source, destination} <= set(roles.values()) and not (source == destination and source in alone)
    }
    assert dialled == wanted


def test_every_directed_pair_has_a_link_of_its_own(plan: Addresses) -> None:
    """From each broker and controller to each other node there is exactly one link."""
    pairs = [(link.source, link.destination) for link in plan.links() if link.source != CLIENTS]
    dialling = [spec.name for spec in plan.topology.nodes if spec.role.value != "zookeeper"]
    for source, destination in itertools.product(dialling, (spec.name for spec in plan.topology.nodes)):
        assert pairs.count((source, destination)) == (source != destination)
