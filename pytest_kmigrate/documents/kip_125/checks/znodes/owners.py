"""Check that a partition is read under its owner node: created before the first record, deleted after the last."""

from itertools import pairwise

import numpy as np

from pytest_kmigrate.checkers.evidence.by_requirement import ByRequirement
from pytest_kmigrate.checkers.evidence.findings import timed_violation
from pytest_kmigrate.checkers.evidence.grouping import place
from pytest_kmigrate.checkers.evidence.spans import spans
from pytest_kmigrate.checkers.evidence.wording import counted
from pytest_kmigrate.documents.kip_125.evidence.held import owner_nodes
from pytest_kmigrate.documents.kip_125.evidence.lives import Life, horizon_ns, lives
from pytest_kmigrate.documents.kip_125.evidence.modes import AGREED_NS, ZOOKEEPER, changes
from pytest_kmigrate.documents.kip_125.evidence.writes import EVIDENCE, has_writes
from pytest_kmigrate.model.capabilities import Capability
from pytest_kmigrate.model.checks import checker
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind
from pytest_kmigrate.model.verdict import Verdict

_OWNERS = "K125-ZN-owners-layout"
_CREATED_NS = 100_000_000
"""ZooKeeper logs milliseconds."""
_DELETED_NS = 1_000_000_000
"""An old consumer prints later what it has in hand, and a member learns late that a test ended its session."""


@checker(_OWNERS, in_every_run=has_writes, needs=[Capability.ZOOKEEPER_LOG])
def partitions_are_read_under_owner_nodes(history: History) -> Verdict:
    """While ZooKeeper decides, a member reads a partition only while one of its sessions has the owner node.

    Members without migration always; those with it once they must have followed ZooKeeper.
    """
    rows = ByRequirement(_OWNERS)
    reads = history.operations.of(OperationKind.CONSUME)
    nodes = owner_nodes(history)
    count = 0
    for partition in spans(history):
        mine = reads.where((reads.topic == partition[0]) & (reads.partition == partition[1]))
        for life in (each for each in lives(history).values() if each.is_of_zookeeper):
            theirs = mine.where((mine.client == life.client) & _within(mine.ended_ns, _by_zookeeper(history, life)))
            if not len(theirs):
                continue
            count += 1
            rows.looked_at(_OWNERS)
            held = nodes.get((partition, life.client), ())
            is_held = _within(theirs.ended_ns, [(e.began_ns - _CREATED_NS, e.ended_ns + _DELETED_NS) for e in held])
            if not is_held.all():
                outside = theirs.where(~is_held)
                expected = f"{life.member} reads {place(*partition)} while it has the owner node"
                observed = f"it read {counted(len(outside), 'record')} without it, from offset {outside.offset[0]} on"
                at_ns = int(outside.ended_ns[0])
                rows.violated(_OWNERS, timed_violation(history, expected, observed, at_ns, EVIDENCE))
    text = f"{counted(count, 'partition')} read by members while they had the owner node"
    return rows.verdict(text, "no member read anything while ZooKeeper decided")


def _within(at_ns: np.ndarray, stretches: list[tuple[int, int]]) -> np.ndarray:
    found = np.zeros(len(at_ns), bool)
    for began_ns, ended_ns in stretches:
        found |= (at_ns >= began_ns) & (at_ns <= ended_ns)
    return found


def _by_zookeeper(history: History, life: Life) -> list[tuple[int, int]]:
    """The times at which a member had to follow ZooKeeper, until the members end."""
    end_ns = horizon_ns(history)
    if not life.is_migrating:
        return [(life.began_ns, end_ns)]
    found = changes(history)
    first = [(life.began_ns, found[0].at_ns if found else end_ns)]
    later = [(each.at_ns + AGREED_NS, each.until_ns) for each in found if each.must_be == ZOOKEEPER]
    # Between two changes that both mean ZooKeeper nothing has to be agreed upon.
    pairs = [pair for pair in pairwise(found) if pair[0].must_be == pair[1].must_be == ZOOKEEPER]
    held_on = [(each.at_ns, each.until_ns) for _, each in pairs]
    return [each for each in (*first, *later, *held_on) if each[0] < each[1]]
