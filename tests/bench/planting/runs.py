"""Planting: makes exactly one thing wrong with each of a few records, and counts it."""

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.kernels import AnomalyClass
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from tests.bench.planting.synthetic_log import (
    ACKED,
    COMMIT_EVERY,
    GROUP,
    READER,
    REFUSED,
    UNSURE_GONE,
    Columns,
    Log,
    assign_offsets,
    columns_of,
    in_log_order,
)

Place = tuple[AnomalyClass, str | None, int | None]
Planted = Counter[Place]
"""How many anomalies of a class there are in a topic-partition (or, without one, among a run's transactions)."""

Rows = npt.NDArray[np.intp]

FIRST_STRANGER = 1000
_OK = OperationOutcome.OK.value


class Planter:
    """Chooses records that nothing is wrong with yet, and keeps count."""

    def __init__(self, rng: np.random.Generator, log: Log) -> None:
        self.rng = rng
        self.log = log
        self.reported: Planted = Counter()
        self._used = np.zeros(len(log), np.bool_)
        self.is_whole = log.is_visible & (log.fate == ACKED) & (log.transaction_outcome == _OK)
        """Records that are there and must be."""

    def chosen(self, candidates: npt.NDArray[np.bool_] | Rows) -> Rows:
        """One to three of the candidates, none of them used before."""
        rows = np.flatnonzero(candidates) if candidates.dtype == np.bool_ else candidates
        free = rows[~self._used[rows]]
        picked = np.sort(self.rng.choice(free, min(len(free), int(self.rng.integers(1, 4))), replace=False))
        self.use(picked)
        return picked

    def use(self, rows: Rows) -> None:
        """Leave these alone from now on."""
        self._used[rows] = True

    def is_free(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Whether nothing is wrong with each yet."""
        free: npt.NDArray[np.bool_] = ~self._used[rows]
        return free

    def notify(self, name: AnomalyClass, rows: Rows, *, is_placed: bool = True) -> None:
        """Count one anomaly per row, where it is."""
        topics, partitions = self.log.topic(rows).tolist(), self.log.partition(rows).tolist()
        self.reported.update(
            (name, t, p) if is_placed else (name, None, None) for t, p in zip(topics, partitions, strict=True)
        )


def planted_in_log(planter: Planter) -> Rows:
    """Change the log itself, before anybody reads it; the records that will claim the offset before their own."""
    log = planter.log
    refused = planter.chosen(log.fate == REFUSED)
    log.is_there[refused] = log.is_visible[refused] = True
    planter.notify(AnomalyClass.REFUSED_BUT_FOUND, refused)
    moved = planter.chosen(planter.is_whole)
    planter.notify(AnomalyClass.MOVED, moved)
    assign_offsets(planter.rng, log, moved)
    _swap_in_order(planter)
    _swap_transactions(planter)
    return moved


def planted(planter: Planter, sources: dict[str, Columns], moved: Rows) -> None:
    """Change what was recorded of a log."""
    log = planter.log
    sent = sources["clients"]
    is_moved = np.isin(_keys(sent["producer"], sent["sequence"]), _keys(log.producer[moved], log.sequence[moved]))
    sent["offset"][is_moved] -= 1
    lost = _one_per_transaction(log, planter.chosen(planter.is_whole))
    planter.notify(AnomalyClass.LOST_WRITE, lost)
    gone = lost
    if log.shape.is_transactional:
        planter.notify(AnomalyClass.TORN_TRANSACTION, lost, is_placed=False)
        unsure = log.is_visible & (log.transaction_outcome == OperationOutcome.INDEFINITE)
        torn = _one_per_transaction(log, planter.chosen(unsure & ~np.isin(log.transaction, _lonely(log))))
        planter.notify(AnomalyClass.TORN_TRANSACTION, torn, is_placed=False)
        planter.notify(AnomalyClass.LOST_WRITE, torn)  # consumers read it, so its transaction was committed
        gone = np.append(lost, torn)
    final = sources["reader"]
    is_gone = np.isin(_keys(final["producer"], final["sequence"]), _keys(log.producer[gone], log.sequence[gone]))
    strange = _strange_final_reads(planter)
    sources["reader"] = _joined([{name: column[~is_gone] for name, column in final.items()}, *strange])
    strangers = [*_strange_consumers(planter), *_strange_group(planter, sources["consumers"])]
    strangers += _strange_transactions(planter) if log.shape.is_transactional else []
    for number, rows in enumerate(strangers):
        rows["client"][:] = FIRST_STRANGER + number
    sources["strangers"] = _joined(strangers)


def _swap_in_order(planter: Planter) -> None:
    """Two neighbouring records of a producer change places; in even partitions, so that nothing else is disturbed."""
    log = planter.log
    rows = np.flatnonzero(log.is_there & (log.place % 2 == 0))
    rows = rows[np.lexsort((log.sequence[rows], log.producer[rows], log.place[rows]))]
    before, after = rows[:-1], rows[1:]
    fits = (log.producer[before] == log.producer[after]) & (log.place[before] == log.place[after])
    fits &= planter.is_whole[before] & planter.is_whole[after] & planter.is_free(before) & planter.is_free(after)
    fits &= log.transaction[before] == log.transaction[after]
    following = dict(zip(before[fits].tolist(), after[fits].tolist(), strict=True))
    for row in planter.chosen(before[fits]).tolist():
        if not planter.is_free(np.array([following[row]]))[0]:
            continue
        _swap(planter, row, following[row])
        planter.notify(AnomalyClass.REORDERING, np.array([following[row]]))


def _swap_transactions(planter: Planter) -> None:
    """The last record of a transaction and the first of a later one, neighbours in an odd partition, change places."""
    log = planter.log
    if not log.shape.is_transactional:
        return
    rows = np.flatnonzero(log.is_there & (log.place % 2 == 1))
    rows = rows[np.lexsort((log.offset[rows], log.place[rows]))]
    _, number = np.unique(log.transaction[rows] * 2**16 + log.place[rows], return_inverse=True)
    began, ended = np.full(number.max() + 1, 2**62), np.zeros(number.max() + 1, np.int64)
    np.minimum.at(began, number, log.began_ns[rows])
    np.maximum.at(ended, number, log.ended_ns[rows])
    before, after = rows[:-1], rows[1:]
    fits = (log.place[before] == log.place[after]) & (log.producer[before] != log.producer[after])
    fits &= (ended[number[:-1]] < began[number[1:]]) & planter.is_whole[before] & planter.is_whole[after]
    fits &= planter.is_free(before) & planter.is_free(after)
    at = np.flatnonzero(fits)
    if len(at):
        one = int(planter.rng.choice(at))
        _swap(planter, int(before[one]), int(after[one]))
        planter.notify(AnomalyClass.REORDERED_TRANSACTIONS, after[one : one + 1])


def _swap(planter: Planter, one: int, other: int) -> None:
    planter.use(np.array([one, other]))
    planter.log.offset[[one, other]] = planter.log.offset[[other, one]]


def _strange_final_reads(planter: Planter) -> list[Columns]:
    """Records found twice, records never sent, and records of aborted transactions."""
    log = planter.log
    late_ns = int(log.visible_ns.max()) + 90_000_000_000
    twice, model = planter.chosen(planter.is_whole), planter.chosen(planter.is_whole)
    aborted = planter.chosen(
        log.is_there & (log.transaction_outcome == OperationOutcome.FAILED) & (log.transaction >= 0)
    )
    planter.notify(AnomalyClass.DUPLICATE, twice)
    planter.notify(AnomalyClass.PHANTOM, model)
    planter.notify(AnomalyClass.ABORTED_READ, aborted)
    copies, invented, seen = (columns_of(log, rows, OperationKind.FINAL_READ) for rows in (twice, model, aborted))
    copies["offset"] = log.offset.max() + 10 + np.arange(len(twice))
    invented["offset"] = log.offset.max() + 50 + np.arange(len(model))
    invented["sequence"] = 10**9 + np.arange(len(model))
    for each in (copies, invented, seen):
        each["client"][:] = READER
        each["began_ns"], each["ended_ns"] = (np.full(len(each["kind"]), late_ns) for _ in range(2))
    return [copies, invented, seen]


def _strange_consumers(planter: Planter) -> list[Columns]:
    """Clients without a group: some go back, some pass over a record, some see another record where one lies."""
    log, found = planter.log, in_log_order(planter.log)
    strange = []
    is_inside = log.place[found[:-2]] == log.place[found[2:]]
    for row in planter.chosen(found[:-2][is_inside & planter.is_free(found[:-2])]).tolist():
        at = int(np.flatnonzero(found == row)[0])
        strange.append(_consumed(planter, found[[at, at + 1, at + 2, at + 1]], log.visible_ns.max()))
        planter.notify(AnomalyClass.NON_MONOTONIC_POLL, found[at : at + 1])
    is_inside = np.isin(found, found[1:-1][is_inside]) & planter.is_whole[found]
    for row in planter.chosen(found[is_inside & planter.is_free(found)]).tolist():
        at = int(np.flatnonzero(found == row)[0])
        strange.append(_consumed(planter, found[[at - 1, at + 1]], log.visible_ns.max()))
        planter.notify(AnomalyClass.POLL_SKIP, found[at : at + 1])
    for row in planter.chosen((log.fate == UNSURE_GONE) & (log.place % 2 == 1)).tolist():
        behind = np.flatnonzero((log.place[row:] == log.place[row]) & log.is_visible[row:])[:1] + row
        if len(behind) and planter.is_free(behind)[0]:
            read = _consumed(planter, np.array([row]), log.visible_ns.max())
            strange.append({**read, "offset": log.offset[behind]})
            planter.notify(AnomalyClass.INCONSISTENT_OFFSET, behind)
            planter.notify(AnomalyClass.LOST_WRITE, np.array([row]))
    return strange


def _strange_group(planter: Planter, recorded: Columns) -> list[Columns]:
    """Members of the group that commit less than was committed, or begin below it."""
    log = planter.log
    strange = []
    kinds = (AnomalyClass.NON_MONOTONIC_COMMIT, AnomalyClass.READ_BELOW_COMMITTED)
    # Some way from the beginning there are commits to go back behind.
    found = in_log_order(log)
    commits = np.flatnonzero(recorded["kind"] == OperationKind.COMMIT)
    before = recorded["offset"][commits] > 3 * COMMIT_EVERY
    # Each behind another commit: a commit that went back makes beginning there admissible.
    picked = planter.rng.choice(commits[before], min(4, int(before.sum()) // 4), replace=False)
    for name, of_class in zip(kinds, np.array_split(picked, 2), strict=True):
        for commit in of_class.tolist():
            topic, partition = str(recorded["topic"][commit]), int(recorded["partition"][commit])
            mine = found[(log.topic(found) == topic) & (log.partition(found) == partition)]
            earlier = mine[log.offset[mine] < recorded["offset"][commit] - COMMIT_EVERY][-1:]
            reported = columns_of(log, earlier, OperationKind.CONSUME)
            reported["group"] = np.array([GROUP])
            at = int(recorded["ended_ns"][commit]) + 1
            reported["began_ns"], reported["ended_ns"] = np.array([at]), np.array([at + 1])
            if name is AnomalyClass.NON_MONOTONIC_COMMIT:
                none = {"producer": np.array([-1], np.int32), "sequence": np.array([-1])}
                reported |= {"kind": np.array([OperationKind.COMMIT.value], np.int8), **none}
            strange.append(reported)
            planter.reported[name, topic, partition] += 1
    return strange


def _strange_transactions(planter: Planter) -> list[Columns]:
    """A reader that sees a transaction before it is finished, and two transactions that read one another."""
    log = planter.log
    first = np.unique(log.transaction, return_index=True)[1]
    last = len(log) - 1 - np.unique(log.transaction[::-1], return_index=True)[1]
    is_open = (first != last) & planter.is_whole[first] & planter.is_free(first)
    strange = []
    for row in planter.chosen(first[is_open]).tolist():
        end = int(last[first == row][0])
        strange.append(_consumed(planter, np.array([row]), log.began_ns[end] - 2))
        planter.notify(AnomalyClass.INTERMEDIATE_READ, np.array([row]), is_placed=False)
    one, other = planter.rng.choice(first[is_open], 2, replace=False).tolist()
    for reader, read in ((one, other), (other, one)):
        seen = _consumed(planter, np.array([read]), log.visible_ns.max() + 10**9)
        strange.append({**seen, "transaction": log.transaction[[reader]]})
    planter.notify(AnomalyClass.CIRCULAR_READS, np.array([one]), is_placed=False)
    return strange


def _consumed(planter: Planter, rows: Rows, at_ns: Any) -> Columns:
    at = int(at_ns) + np.arange(len(rows))
    return {**columns_of(planter.log, rows, OperationKind.CONSUME), "began_ns": at, "ended_ns": at + 1}


def _one_per_transaction(log: Log, rows: Rows) -> Rows:
    if not log.shape.is_transactional:
        return rows
    return rows[np.unique(log.transaction[rows], return_index=True)[1]]


def _lonely(log: Log) -> npt.NDArray[np.int64]:
    """Transactions of one record: nothing of them can be torn off."""
    numbers, counts = np.unique(log.transaction, return_counts=True)
    lonely: npt.NDArray[np.int64] = numbers[counts < 2]
    return lonely


def _keys(producer: npt.NDArray[Any], sequence: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    keys: npt.NDArray[np.int64] = producer.astype(np.int64) << 40 | sequence
    return keys


def _joined(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
