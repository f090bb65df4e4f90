"""Kernels about cycles: transactions of which each comes before the next, and the last before the first.

T1 comes before T2 when T1 wrote before T2 in some partition (ww), or when T2 read what T1 wrote (wr). A cycle of
nothing but wr is G1c: neither can have been committed before it was read. A cycle with ww in it is G0 or G1c too, but
Kafka allows it: records of open transactions lie between one another.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels.identity import Positions
from pytest_kmigrate.checkers.kernels.knots import knots

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Edges:
    """Which transaction comes before which, and the rows that show it; equally long columns."""

    before: Numbers
    after: Numbers
    row_before: Positions
    row_after: Positions

    def __len__(self) -> int:
        return len(self.before)

    def where(self, chosen: npt.NDArray[np.bool_] | Positions) -> "Edges":
        """Some of the edges."""
        return Edges(self.before[chosen], self.after[chosen], self.row_before[chosen], self.row_after[chosen])

    def and_also(self, others: "Edges") -> "Edges":
        """These edges and others."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in self.__dataclass_fields__)
        return Edges(*(np.concatenate(pair) for pair in pairs))


def write_edges(place: Numbers, offset: Numbers, transaction: Numbers, rows: Positions) -> Edges:
    """ww: neighbours in the log of one place (a number per partition) that belong to different transactions."""
    order = rows[np.lexsort((offset[rows], place[rows]))]
    before, after = order[:-1], order[1:]
    is_edge = (place[before] == place[after]) & (transaction[before] != transaction[after])
    before, after = before[is_edge], after[is_edge]
    return Edges(transaction[before], transaction[after], before, after)


def read_edges(keys: Numbers, transaction: Numbers, writes: Positions, reads: Positions) -> Edges:
    """wr: reads inside a transaction of what another one wrote; ``keys`` is a number per record."""
    if len(writes) == 0:
        return Edges(transaction[:0], transaction[:0], writes, writes)
    by_key = writes[np.argsort(keys[writes], kind="stable")]
    at = np.minimum(np.searchsorted(keys[by_key], keys[reads]), len(by_key) - 1)
    found = by_key[at]
    is_edge = (keys[found] == keys[reads]) & (transaction[found] != transaction[reads])
    found, reads = found[is_edge], reads[is_edge]
    return Edges(transaction[found], transaction[reads], found, reads)


def cycles(edges: Edges, through: npt.NDArray[np.bool_] | None = None) -> list[Edges]:
    """A short cycle of each knot (strongly connected component), as the edges along it.

    With ``through``, the cycle begins with one of these edges, and knots without such an edge are left out.
    """
    if len(edges) == 0:
        return []
    names, ends = np.unique(np.concatenate([edges.before, edges.after]), return_inverse=True)
    before, after = ends[: len(edges)], ends[len(edges) :]
    knot = knots(before, after, len(names))
    inside = np.flatnonzero(knot[before] == knot[after])
    inside = inside[np.argsort(knot[before[inside]], kind="stable")]
    starts = inside if through is None else inside[through[inside]]
    of_knots, first = np.unique(knot[before[starts]], return_index=True)
    low = np.searchsorted(knot[before[inside]], of_knots, side="left")
    high = np.searchsorted(knot[before[inside]], of_knots, side="right")
    parts = zip(starts[first].tolist(), low.tolist(), high.tolist(), strict=True)
    return [edges.where(_shortest(edges, start, inside[begin:end])) for start, begin, end in parts]


def _shortest(edges: Edges, first: int, inside: Positions) -> Positions:
    """A shortest cycle that begins with the edge ``first``, among the edges of its knot."""
    by_before = inside[np.argsort(edges.before[inside], kind="stable")]
    begins = edges.before[by_before]
    start, goal = int(edges.after[first]), int(edges.before[first])
    came_by: dict[int, int] = {}
    waiting = deque([start])
    # A knot may hold every transaction of a run, but a shortest cycle is short: few of its edges are looked at.
    while goal not in came_by:
        here = waiting.popleft()
        low, high = np.searchsorted(begins, [here, here + 1])
        for edge in by_before[low:high].tolist():
            there = int(edges.after[edge])
            if there != start and there not in came_by:
                came_by[there] = edge
                waiting.append(there)
    path = [came_by[goal]]
    while int(edges.before[path[0]]) != start:
        path.insert(0, came_by[int(edges.before[path[0]])])
    return np.array([first, *path])
