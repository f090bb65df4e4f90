"""Kernels: what makes client operations wrong, as NumPy functions over the columns of one group.

A group is the operations of one topic-partition, the commits of one consumer group in a partition, or the reads of one
client in a partition. A kernel returns row positions within the group it was given, so it neither knows nor needs a
History: the checkers call it on arrays, Spark on the columns of a grouped Arrow table.
"""

from pytest_kmigrate.checkers.kernels.gaps import Gaps, gaps_between_acknowledgements
from pytest_kmigrate.checkers.kernels.identity import Positions, packed
from pytest_kmigrate.checkers.kernels.places import contested_offsets, duplicated, moved, reordered
from pytest_kmigrate.checkers.kernels.positions import commits_run_back, reads_below_committed, steps_back
from pytest_kmigrate.checkers.kernels.presence import DEFINITE_ERRORS, definitely_refused, lost, phantoms

__all__ = [
    "DEFINITE_ERRORS",
    "Gaps",
    "Positions",
    "commits_run_back",
    "contested_offsets",
    "definitely_refused",
    "duplicated",
    "gaps_between_acknowledgements",
    "lost",
    "moved",
    "packed",
    "phantoms",
    "reads_below_committed",
    "reordered",
    "steps_back",
]
