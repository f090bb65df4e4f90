"""Checks of one topic-partition: which kernel looks at which columns of its operations.

Each gives pairs (row contradicted, anomalous row), as positions within the group. Checkers and Spark both call these.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.evidence.grouping import joined
from pytest_kmigrate.checkers.kernels import places, positions, presence, transactions
from pytest_kmigrate.checkers.kernels.identity import Positions, is_among, packed
from pytest_kmigrate.checkers.kernels.surroundings import Surroundings
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


@dataclass(frozen=True)
class PollsOver:
    """Records that a client, or all clients of a group, never read though one of them read on from below to above."""

    skipped: Positions
    """The acknowledged send of each."""
    before: Positions
    """The read below it, after which that client read on above it."""
    rows: Positions
    """The read above it."""


def must_be_there(sends: Operations) -> npt.NDArray[np.bool_]:
    """Which rows are sends whose record must be there: acknowledged, and if in a transaction, that was committed."""
    is_kept: npt.NDArray[np.bool_] = (sends.transaction < 0) | (sends.transaction_outcome == OperationOutcome.OK)
    is_kept &= (sends.kind == OperationKind.PRODUCE) & (sends.outcome == OperationOutcome.OK)
    return is_kept


def lost_writes(group: Operations, around: Surroundings) -> Pairs:
    """What must have been finally read, and was not: acknowledged sends, and reads of what no broker acknowledged.

    Of a record that a consumer read before the final read began, the first such read is given.
    """
    aborted = around.unplaced_in(str(group.topic[0]))
    whole = with_unplaced(group, aborted.where(aborted.transaction >= 0))
    is_sent = whole.kind == OperationKind.PRODUCE
    # An acknowledged write of an aborted transaction must not be read; of an indefinite one this is unknown.
    is_unsure = is_sent & ~must_be_there(whole)
    outcome = np.where(is_unsure, OperationOutcome.INDEFINITE, whole.outcome).astype(np.int8)
    is_aborted = is_sent & (whole.transaction >= 0) & (whole.transaction_outcome == OperationOutcome.FAILED)
    columns = (whole.kind, outcome, whole.producer, whole.sequence)
    gone = presence.vanished(*columns, whole.ended_ns, must_be_absent=is_aborted, until_ns=around.read_back_ns)
    rows = np.concatenate([presence.lost(*columns), gone])
    return rows, rows


def with_unplaced(group: Operations, unplaced: Operations) -> Operations:
    """The partition's operations, and sends of its topic that may have ended there."""
    return joined(group, unplaced) if len(unplaced) else group


def phantom_reads(group: Operations) -> tuple[Pairs, Pairs]:
    """Reads of records never sent, and of records whose send was refused; sends without a partition belong in."""
    found = presence.phantoms(group.kind, group.outcome, group.producer, group.sequence, group.error)
    unknown, refused = found
    return (unknown, unknown), (refused, refused)


def reorderings(group: Operations) -> Pairs:
    """Records of one idempotent producer that lie in another order than they were sent in."""
    columns = (group.kind, group.outcome, group.offset, group.producer, group.sequence, group.idempotent)
    return places.reordered(*columns)


def duplicates(group: Operations, around: Surroundings) -> Pairs:
    """Records of an idempotent producer that were finally read at two offsets.

    Not those that waited for an answer when the producer gave up on another one, in any partition: it goes on with a
    new epoch then, and sends again what it has, which the broker cannot know from what it has appended without an
    answer (KIP-360). A transaction in which it gave up can only be aborted, so that this explains none that committed.
    """
    columns = (group.kind, group.outcome, group.offset, group.producer, group.sequence, group.idempotent)
    first, again = places.duplicated(*columns)
    is_sure = ~_waited_beside_a_given_up(group, again, around)
    return first[is_sure], again[is_sure]


def _waited_beside_a_given_up(group: Operations, reads: Positions, around: Surroundings) -> npt.NDArray[np.bool_]:
    """Of each read record whether its send had no answer yet when its producer gave up on another send."""
    is_waiting = np.zeros(len(reads), dtype=bool)
    is_sent = group.kind == OperationKind.PRODUCE
    for producer in np.unique(group.producer[reads]):
        mine = np.flatnonzero(is_sent & (group.producer == producer))
        given_up = around.given_up.get(int(producer), np.empty(0, np.int64))
        answered = mine[(group.outcome[mine] == OperationOutcome.OK) & (group.transaction[mine] < 0)]
        next_one = np.append(given_up, np.iinfo(np.int64).max)[np.searchsorted(given_up, group.began_ns[answered])]
        waited = group.sequence[answered[next_one <= group.ended_ns[answered]]]
        is_waiting |= (group.producer[reads] == producer) & np.isin(group.sequence[reads], waited)
    return is_waiting


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
    commits = _commits_by_group(group) if len(reads) else {}
    rows, before, floors, steps, unjudged = [], [], [], 0, 0
    for mine in _by_client(group, reads):
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


def polls_over(group: Operations) -> PollsOver:
    """Records passed over by a reader: acknowledged before its next read, finally there, and never read.

    A reader is a client without a group, or a whole group: what one of its members went over after a re-assignment,
    another one may have read. So that what looks like it is not taken for a skip, these are none: offsets without a
    record of ours (markers of transactions, what was compacted or deleted: the final read has them not); records of
    transactions that were not surely committed; what was acknowledged only after the read above it (a log that was cut
    off and written anew); what lies before a reader's first read or behind its last one. Our consumers neither seek nor
    begin at the end; of others, a group configured so (``auto.offset.reset`` "latest") may skip by its own will.
    """
    reads = np.flatnonzero((group.kind == OperationKind.CONSUME) & (group.outcome == OperationOutcome.OK))
    is_kept = (group.transaction < 0) | (group.transaction_outcome == OperationOutcome.OK)
    is_sent = (group.kind == OperationKind.PRODUCE) & (group.outcome == OperationOutcome.OK) & (group.offset >= 0)
    sent = np.flatnonzero(is_sent & is_kept)
    found = [
        found
        for mine in _by_reader(group, reads)
        for found in _gone_over(group, mine, _unread_by(group, sent, np.concatenate(mine)))
    ]
    return PollsOver(*(_joined([each[place] for each in found]) for place in range(3)))


def aborted_reads(group: Operations) -> Pairs:
    """Reads of records whose transaction was aborted (G1a)."""
    keys = packed(group.producer, group.sequence)
    return transactions.aborted_reads(group.kind, group.outcome, keys, group.transaction, group.transaction_outcome)


def transactions_overtaken(group: Operations) -> Pairs:
    """Transactions that began after others were over, and yet lie before them."""
    columns = (group.kind, group.outcome, group.offset, group.transaction, group.began_ns, group.ended_ns)
    return transactions.transactions_overtaken(*columns)


def _by_reader(group: Operations, reads: Positions) -> list[list[Positions]]:
    """The reads of every reader, of each of its clients apart, in the order in which that client read."""
    readers: dict[object, list[Positions]] = {}
    for mine in _by_client(group, reads):
        readers.setdefault(str(group.group[mine[0]]) or int(group.client[mine[0]]), []).append(mine)
    return list(readers.values())


def _by_client(group: Operations, reads: Positions) -> list[Positions]:
    reads = reads[np.argsort(group.client[reads], kind="stable")]
    ends = np.flatnonzero(np.diff(group.client[reads], append=-1))
    return np.split(reads, ends[:-1] + 1) if len(reads) else []


def _unread_by(group: Operations, sent: Positions, reads: Positions) -> Positions:
    """The sends between a reader's lowest and highest read that it never read, but the final read did; by offset."""
    offset = group.offset[sent]
    is_between = (offset > group.offset[reads].min()) & (offset < group.offset[reads].max())
    missing: Positions = sent[is_between]
    missing = missing[~is_among(group.offset[missing], group.offset[reads])]
    if len(missing) == 0:
        return missing
    final = np.flatnonzero((group.kind == OperationKind.FINAL_READ) & (group.outcome == OperationOutcome.OK))
    final = final[is_among(group.offset[final], group.offset[missing])]
    columns = (group.offset, group.producer, group.sequence)
    there = set(zip(*(column[final].tolist() for column in columns), strict=True))
    reported = zip(*(column[missing].tolist() for column in columns), strict=True)
    kept: Positions = missing[np.array([each in there for each in reported], np.bool_)]
    in_order: Positions = kept[np.unique(group.offset[kept], return_index=True)[1]]
    return in_order


def _gone_over(
    group: Operations, clients: list[Positions], unread: Positions
) -> Iterator[tuple[Positions, Positions, Positions]]:
    """(sends, the reads below, the reads above): of several clients that went over a record the first one counts."""
    if len(unread) == 0:
        return
    reported: dict[int, tuple[int, int]] = {}
    for mine in clients:
        places, over = positions.steps_over(
            group.offset[mine], group.ended_ns[mine], group.offset[unread], group.ended_ns[unread]
        )
        for place, at in zip(unread[places].tolist(), over.tolist(), strict=True):
            pair = (int(mine[at - 1]), int(mine[at]))
            if place not in reported or group.ended_ns[pair[1]] < group.ended_ns[reported[place][1]]:
                reported[place] = pair
    if reported:
        pairs = np.array(list(reported.values()), np.intp)
        yield np.array(list(reported), np.intp), pairs[:, 0], pairs[:, 1]


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
