"""Kernels: what makes client operations wrong, as NumPy functions over the columns of one group.

A group is the operations of one topic-partition, the commits of one consumer group in a partition, the reads of one
client in a partition, or the transactions of a run. A kernel returns row positions within the group it was given, so it
neither knows nor needs a History: the checkers call it on a run's columns, Spark on those of a group of rows.

The modules, from below: kernels over columns (``presence``, ``places``, ``positions``, ``transactions``, ``cycles``,
``gaps``); ``partition``, ``waits`` and ``transactional``, which give them the right columns of a group; ``anomalies``,
which runs all of them and returns what they found; and ``coverage``, which returns what they could have found.
"""

from pytest_kmigrate.checkers.kernels.anomalies import ALL_ASPECTS, Aspect, anomalies_in, anomalies_of
from pytest_kmigrate.checkers.kernels.anomaly import Anomaly, AnomalyClass
from pytest_kmigrate.checkers.kernels.coverage import could_show
from pytest_kmigrate.checkers.kernels.gaps import Gaps, gaps_between_acknowledgements
from pytest_kmigrate.checkers.kernels.identity import Positions, different, packed
from pytest_kmigrate.checkers.kernels.partition import (
    Pairs,
    PollsBack,
    PollsOver,
    commits_back,
    duplicates,
    lost_writes,
    moves,
    must_be_there,
    offsets_given_twice,
    phantom_reads,
    polls_back,
    polls_over,
    reorderings,
    with_unplaced,
)
from pytest_kmigrate.checkers.kernels.places import contested_offsets, duplicated, moved, reordered
from pytest_kmigrate.checkers.kernels.positions import commits_run_back, reads_below_committed, steps_back, steps_over
from pytest_kmigrate.checkers.kernels.presence import definitely_refused, lost, phantoms, vanished
from pytest_kmigrate.checkers.kernels.sentences import identity, who_read
from pytest_kmigrate.checkers.kernels.surroundings import (
    WHOLE_TOPIC,
    Surroundings,
    absent_partitions,
    surroundings,
    unread_partitions,
)
from pytest_kmigrate.checkers.kernels.waits import NEVER, Closings, Waits, closings, waits

__all__ = [
    "ALL_ASPECTS",
    "NEVER",
    "WHOLE_TOPIC",
    "Anomaly",
    "AnomalyClass",
    "Aspect",
    "Closings",
    "Gaps",
    "Pairs",
    "PollsBack",
    "PollsOver",
    "Positions",
    "Surroundings",
    "Waits",
    "absent_partitions",
    "anomalies_in",
    "anomalies_of",
    "closings",
    "commits_back",
    "commits_run_back",
    "contested_offsets",
    "could_show",
    "definitely_refused",
    "different",
    "duplicated",
    "duplicates",
    "gaps_between_acknowledgements",
    "identity",
    "lost",
    "lost_writes",
    "moved",
    "moves",
    "must_be_there",
    "offsets_given_twice",
    "packed",
    "phantom_reads",
    "phantoms",
    "polls_back",
    "polls_over",
    "reads_below_committed",
    "reordered",
    "reorderings",
    "steps_back",
    "steps_over",
    "surroundings",
    "unread_partitions",
    "vanished",
    "waits",
    "who_read",
    "with_unplaced",
]
