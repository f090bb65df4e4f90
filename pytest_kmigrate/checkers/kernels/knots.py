"""Knots of a directed graph: its strongly connected components, by Tarjan's algorithm, without recursion."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]


def knots(before: Numbers, after: Numbers, nodes: int) -> Numbers:
    """The knot of each node, as numbers from 0; two nodes share one if each can be reached from the other.

    ``before[i]`` and ``after[i]`` are the ends of edge ``i``, as nodes from 0 to ``nodes - 1``.
    """
    order = np.argsort(before, kind="stable")
    begins = np.searchsorted(before[order], np.arange(nodes + 1)).tolist()
    search = _Search(begins, after[order].tolist(), nodes)
    for root in range(nodes):
        if not search.found[root]:
            search.explore(root)
    return np.array(search.knot, np.int64)


@dataclass
class _Search:
    """The edges of node ``n`` lead to ``to[begins[n]:begins[n + 1]]``; all other lists have an entry a node."""

    begins: list[int]
    to: list[int]
    nodes: int
    found: list[int] = field(init=False)
    """The how manieth node it was that the search came to; 0 for one that it has not come to."""
    lowest: list[int] = field(init=False)
    """The earliest node, by ``found``, that was seen to be reached from here within an open knot."""
    knot: list[int] = field(init=False)
    """-1 until the knot is complete."""
    next_edge: list[int] = field(init=False)
    open_nodes: list[int] = field(init=False, default_factory=list)
    steps: int = 0
    complete: int = 0

    def __post_init__(self) -> None:
        self.found, self.lowest = [0] * self.nodes, [0] * self.nodes
        self.knot, self.next_edge = [-1] * self.nodes, self.begins[:-1]

    def explore(self, root: int) -> None:
        """Follow all edges from a node that no search has come to."""
        path = [root]
        while path:
            here = path[-1]
            if not self.found[here]:
                self.steps += 1
                self.found[here] = self.lowest[here] = self.steps
                self.open_nodes.append(here)
            ahead = self._unexplored_from(here)
            if ahead is not None:
                path.append(ahead)
                continue
            path.pop()
            if self.lowest[here] == self.found[here]:
                self._complete(here)
            if path:
                self.lowest[path[-1]] = min(self.lowest[path[-1]], self.lowest[here])

    def _unexplored_from(self, here: int) -> int | None:
        """The next node that an edge from here leads to and no search has come to; None after the last edge."""
        found, knot, to = self.found, self.knot, self.to
        lowest = self.lowest[here]
        for edge in range(self.next_edge[here], self.begins[here + 1]):
            there = to[edge]
            if not found[there]:
                self.next_edge[here], self.lowest[here] = edge + 1, lowest
                return there
            if knot[there] < 0 and found[there] < lowest:
                lowest = found[there]
        self.next_edge[here], self.lowest[here] = self.begins[here + 1], lowest
        return None

    def _complete(self, first: int) -> None:
        while True:
            member = self.open_nodes.pop()
            self.knot[member] = self.complete
            if member == first:
                break
        self.complete += 1
