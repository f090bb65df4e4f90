"""The address plan on the bridge of a cluster: no two links share an address, and none is a container's."""

from ipaddress import ip_address, ip_network

import pytest

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.topology import Topology
from pytest_kmigrate.providers.bench import small_topology
from pytest_kmigrate.providers.docker.addresses import NETWORKS, BridgeAddresses, range_of_links


@pytest.mark.parametrize("shape", [small_topology(), small_topology(3, 12, 5)])
@pytest.mark.parametrize("block", [0, len(NETWORKS) - 1])
def test_every_link_has_an_address_of_its_own(shape: Topology, block: int) -> None:
    """In the range that the container of the links answers for; containers are below it, all in one network."""
    plan = BridgeAddresses(shape, block)
    links = list(plan.links())
    at = {plan.listen_address(link) for link in links}
    assert len(at) == len(links)
    added = {plan.added(number)(shape.nodes[0].name) for number in range(3)}
    upper = ip_network(range_of_links(block))
    proxies = {ip_address(each.partition(":")[0]) for each in at} | {ip_address(each) for each in added}
    assert all(each in upper for each in proxies)
    assert len({each.partition(":")[0] for each in at} | added) == len(proxies)
    real = {ip_address(plan.real(node.name)) for node in shape.nodes} | {ip_address(plan.toxiproxy[0])}
    assert len(real) == len(shape.nodes) + 1
    assert all(each in NETWORKS[block] and each not in upper for each in real)
    assert ip_address(plan.listen_host) == NETWORKS[block][1]
    assert ip_address(plan.listen_host) not in real


def test_clusters_side_by_side_share_no_address() -> None:
    """Not even with each of the others."""
    shape = small_topology()
    plans = [{place[0] for place in BridgeAddresses(shape, block).listened_at()} for block in range(len(NETWORKS))]
    assert len(set.union(*plans)) == sum(map(len, plans))


def test_more_links_than_a_network_has_addresses_are_refused() -> None:
    """With the provider that has enough."""
    with pytest.raises(WrongUseError, match=r"small: expected at most 2048 links .*--kmigrate-provider process"):
        list(
            map(
                BridgeAddresses(small_topology(1, 60, 3), 0).listen_address,
                BridgeAddresses(small_topology(1, 60, 3), 0).links(),
            )
        )
