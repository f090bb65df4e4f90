"""Knots of a graph: the same as those of an independent implementation."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pytest_kmigrate.checkers.kernels.knots import knots


@pytest.mark.parametrize(("nodes", "edges"), [(1, 1), (5, 8), (60, 70), (400, 500)])
@pytest.mark.parametrize("seed", range(10))
def test_knots_are_those_of_another_implementation(nodes: int, edges: int, seed: int) -> None:
    """Numbered differently, but with the same nodes together."""
    before, after = np.random.default_rng(seed).integers(0, nodes, (2, edges))
    found = knots(before, after, nodes)
    graph = coo_array((np.ones(edges, np.int8), (before, after)), shape=(nodes, nodes))
    several, expected = connected_components(graph, directed=True, connection="strong")
    assert len(set(zip(found.tolist(), expected.tolist(), strict=True))) == several == found.max() + 1


def test_a_long_chain_is_as_many_knots_as_it_has_nodes() -> None:
    """Longer than Python's stack is deep."""
    nodes = 50_000
    found = knots(np.arange(nodes - 1), np.arange(1, nodes), nodes)
    assert len(np.unique(found)) == nodes
