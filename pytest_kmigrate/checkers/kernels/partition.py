"""Checks of one topic-partition: which kernel looks at which columns of its operations.

Each gives pairs (row contradicted, anomalous row), as positions within the group. Checkers and Spark both call these.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.grouping import joined
from pytest_kmigrate.checkers.kernels import places, positions, presence, transactions
from pytest_kmigrate.checkers.kernels.identity import Positions, packed
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations

Pairs = tuple[Positions, Positions]
"""What a kernel finds: the rows contradicted, and the anomalous rows."""


@dataclass(frozen=True)
class PollsBack:
    """Reads that start lower than they may, each with the lowest offset that was admissible."""

    rows: Positions
    before: Positions
    """The read before each, of the same client (the row itself where there is none)."""
    floors: npt.NDArray[np.int64]
    steps: int
    """Steps back, admissible or not."""
    unjudged: int
    """Steps back in groups that committed nothing: nothing to hold them against."""


def lost_writes(group: Operations) -> Pairs:
    """Acknowledged sends that were not finally read; of a transaction, only if it was committed."""
    outcome = group.outcome
    is_open = (group.transaction >= 0) & (group.transaction_outcome != OperationOutcome.OK)
    if is_open.any():
        # An acknowledged write of an aborted transaction must not be read; of an indefinite one nobody knows.
        is_unsure = is_open & (group.kind == OperationKind.PRODUCE)
        outcome = np.where(is_unsure, OperationOutcome.INDEFINITE, outcome).astype(np.int8)
    rows = presence.lost(group.kind, outcome, group.producer, group.sequence)
    return rows, rows


def with_unplaced(group: Operations, unplaced: Operations) -> Operations:
    """The partition's operations, and sends of its topic that may have ended there."""
    return joined(group, unplaced) if len(unplaced) else group


def phantom_reads(group: Operations) -> tuple[Pairs, Pairs]:
    """Reads of records nobody sent, and of records whose send was refused; sends without a partition belong in."""
    found = presence.phantoms(group.kind, group.outcome, group.producer, group.sequence, group.error)
    unknown, refused = found
    return (unknown, unknown), (refused, refused)


def reorderings(group: Operations) -> Pairs:
    """Records of one idempotent producer that lie in another order than they were sent in."""
    columns = (group.kind, group.outcome, group.offset, group.producer, group.sequence, group.idempotent)
    return places.reordered(*columns)


def duplicates(group: Operations) -> Pairs:
    """Records of an idempotent producer that were finally read at two offsets."""
    columns = (group.kind, group.outcome, group.offset, group.producer, group.sequence, group.idempotent)
    return places.duplicated(*columns)


def offsets_given_twice(group: Operations) -> Pairs:
    """Offsets at which two different records were seen."""
    return places.contested_offsets(group.kind, group.outcome, group.offset, group.producer, group.sequence)


def moves(group: Operations) -> Pairs:
    """Records that were acknowledged or consumed at one offset and finally lie at another."""
    claims, finals = places.moved(group.kind, group.outcome, group.offset, group.producer, group.sequence)
    return finals, claims


def commits_back(group: Operations) -> Pairs:
    """Commits of a consumer group below one that was acknowledged before they began."""
    found = [
        (rows[earlier], rows[later])
        for rows in _commits_by_group(group).values()
        for earlier, later in [
            positions.commits_run_back(
                group.outcome[rows], group.offset[rows], group.began_ns[rows], group.ended_ns[rows]
            )
        ]
    ]
    return _joined([earlier for earlier, _ in found]), _joined([later for _, later in found])


def polls_back(group: Operations) -> PollsBack:
    """Reads of each client below its own reading so far or, in a consumer group, below what that had committed."""
    reads = np.flatnonzero((group.kind == OperationKind.CONSUME) & (group.outcome == OperationOutcome.OK))
    reads = reads[np.argsort(group.client[reads], kind="stable")]
    ends = np.flatnonzero(np.diff(group.client[reads], append=-1))
    commits = _commits_by_group(group) if len(reads) else {}
    rows, before, floors, steps, unjudged = [], [], [], 0, 0
    for mine in np.split(reads, ends[:-1] + 1) if len(reads) else ():
        back = positions.steps_back(group.offset[mine])
        steps += len(back)
        too_low, lowest = back, group.offset[mine[back - 1]] + 1
        name = str(group.group[mine[0]])
        if name:
            of_group = commits.get(name, mine[:0])
            if not (group.outcome[of_group] == OperationOutcome.OK).any():
                unjudged += len(back)
                continue
            too_low, lowest = _below_committed(group, mine, of_group)
        rows.append(mine[too_low])
        before.append(mine[np.maximum(too_low - 1, 0)])
        floors.append(lowest)
    return PollsBack(_joined(rows), _joined(before), np.concatenate([np.empty(0, np.int64), *floors]), steps, unjudged)


def aborted_reads(group: Operations) -> Pairs:
    """Reads of records whose transaction was aborted (G1a)."""
    keys = packed(group.producer, group.sequence)
    return transactions.aborted_reads(group.kind, group.outcome, keys, group.transaction, group.transaction_outcome)


def transactions_overtaken(group: Operations) -> Pairs:
    """Transactions that began after others were over, and yet lie before them."""
    columns = (group.kind, group.outcome, group.offset, group.transaction, group.began_ns, group.ended_ns)
    return transactions.transactions_overtaken(*columns)


def _commits_by_group(group: Operations) -> dict[str, Positions]:
    commits = np.flatnonzero(group.kind == OperationKind.COMMIT)
    names = group.group[commits]
    return {str(name): commits[names == name] for name in sorted(set(names.tolist()))}


def _below_committed(
    group: Operations, reads: Positions, commits: Positions
) -> tuple[Positions, npt.NDArray[np.int64]]:
    return positions.reads_below_committed(
        group.offset[reads],
        group.began_ns[reads],
        group.outcome[commits],
        group.offset[commits],
        group.began_ns[commits],
        group.ended_ns[commits],
    )


def _joined(parts: list[Positions]) -> Positions:
    return np.concatenate([np.empty(0, np.intp), *parts])
