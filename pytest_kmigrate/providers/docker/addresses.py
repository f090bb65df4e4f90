"""Who listens where on the bridge of a cluster: a /20 of 198.18.0.0/15, which RFC 2544 keeps for tests.

The lower half is that of containers. The upper half belongs to the container of the links alone: an address for each
pair of a dialling process and a node.
"""

import ipaddress
from dataclasses import dataclass

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.providers.owned.network.addresses import CLIENTS_NUMBER, FIRST_ADDED, Addresses

NETWORKS = tuple(ipaddress.IPv4Network("198.18.0.0/15").subnets(new_prefix=20))
"""As many clusters can stand side by side on one engine."""
_FIRST_CONTAINER = 16
_OF_LINKS = 2048


def range_of_links(block: int) -> str:
    """The addresses at which only proxies listen."""
    return str(list(NETWORKS[block].subnets(prefixlen_diff=1))[1])


@dataclass(frozen=True)
class BridgeAddresses(Addresses):
    """The address plan of one cluster on one of ``NETWORKS``."""

    block: int

    @property
    def listen_host(self) -> str:
        """The bridge's own address, which the engine gives it first: containers have a loopback of their own."""
        return self._at(1)

    def place(self, source: int, destination: int) -> str:
        """Where the process of one number finds the node of another; source 0: where the container itself is."""
        if source == 0:
            return self._at(_FIRST_CONTAINER + destination)
        nodes = len(self.topology.nodes)
        number = self._row(source) * nodes + destination - 1
        if number >= _OF_LINKS:
            raise WrongUseError(
                f"{self.topology.name}: expected at most {_OF_LINKS} links that lead to nodes from others, got more "
                f"with {nodes} nodes: take fewer, or --kmigrate-provider process"
            )
        return self._at(_OF_LINKS + number)

    def _row(self, source: int) -> int:
        """Nodes come first, then clients, then processes with links of their own."""
        nodes = len(self.topology.nodes)
        if source == CLIENTS_NUMBER:
            return nodes
        return source - 1 if source <= nodes else nodes + 1 + source - FIRST_ADDED

    def _at(self, number: int) -> str:
        return str(NETWORKS[self.block][number])
