"""A synthetic log as it should be: what was sent when, what became of it, and who read it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.model.operations import OperationKind, OperationOutcome

Columns = dict[str, npt.NDArray[Any]]

MS = 1_000_000
GROUP = "billing"
FIRST_CONSUMER, READER = 50, 90
COMMIT_EVERY = 100
NO_TRANSACTION = -1

_OK, _FAILED, _INDEFINITE = (each.value for each in OperationOutcome)
_FATES = ["acked", "unsure, there", "unsure, gone", "refused", "unplaced"]
ACKED, UNSURE_THERE, UNSURE_GONE, REFUSED, UNPLACED = range(len(_FATES))
_LIKELY = [0.975, 0.008, 0.010, 0.005, 0.002]
_ERRORS = np.array(["", "REQUEST_TIMED_OUT", "REQUEST_TIMED_OUT", "MESSAGE_TOO_LARGE", "INVALID_RECORD"])
_OUTCOMES = np.array([_OK, _INDEFINITE, _INDEFINITE, _FAILED, _FAILED], np.int8)


@dataclass(frozen=True)
class Shape:
    """What a run's cluster and clients are like."""

    topics: int = 2
    partitions: int = 6
    producers: int = 5
    skew: float = 0.0
    """Which part of all records goes to one partition on top of its share."""
    is_transactional: bool = False
    sends_per_transaction: int = 20


@dataclass
class Log:
    """One row per send, in the order of the sends."""

    shape: Shape
    producer: npt.NDArray[np.int32]
    sequence: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]
    """Topic and partition in one number."""
    fate: npt.NDArray[np.int8]
    began_ns: npt.NDArray[np.int64]
    ended_ns: npt.NDArray[np.int64]
    transaction: npt.NDArray[np.int64]
    transaction_outcome: npt.NDArray[np.int8]
    is_there: npt.NDArray[np.bool_]
    """Whether it is in the log."""
    is_visible: npt.NDArray[np.bool_]
    """Whether a reader of committed records finds it there."""
    offset: npt.NDArray[np.int64]
    visible_ns: npt.NDArray[np.int64]
    """From when on."""

    def __len__(self) -> int:
        return len(self.producer)

    def topic(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        """Topic names."""
        names = np.array([f"topic-{number}" for number in range(self.shape.topics)])
        chosen: npt.NDArray[Any] = names[self.place[rows] // self.shape.partitions]
        return chosen

    def partition(self, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.int32]:
        """Partition numbers."""
        return (self.place[rows] % self.shape.partitions).astype(np.int32)


def written_log(rng: np.random.Generator, records: int, shape: Shape) -> Log:
    """Sends by several producers, each record in a partition, most of them acknowledged, without offsets yet."""
    places = shape.topics * shape.partitions
    likely = np.full(places, (1 - shape.skew) / places)
    likely[0] += shape.skew
    producer = rng.integers(1, shape.producers + 1, records).astype(np.int32)
    began = np.cumsum(rng.integers(1, 40_000, records))
    transaction, outcome = _transactions(rng, producer, shape)
    fate = rng.choice(len(_FATES), records, p=_LIKELY).astype(np.int8)
    fate[transaction >= 0] = ACKED
    log = Log(
        shape,
        producer,
        _counted(producer),
        rng.choice(places, records, p=likely),
        fate,
        began,
        began + rng.integers(MS, 30 * MS, records),
        transaction,
        outcome,
        np.isin(fate, [ACKED, UNSURE_THERE]),
        np.ones(records, np.bool_),
        np.full(records, -1, np.int64),
        began,
    )
    log.is_visible = log.is_there & ((transaction < 0) | (outcome != _FAILED))
    gone = np.unique(transaction[outcome == _INDEFINITE])
    log.is_visible &= ~np.isin(transaction, gone[gone % 2 == 1])
    return log


def assign_offsets(rng: np.random.Generator, log: Log, gaps: npt.NDArray[np.intp] | None = None) -> None:
    """Give every record in the log its offset; here and there one is skipped, and before each of ``gaps``."""
    step = np.where(rng.random(len(log)) < 0.01, 2, 1)
    step[[] if gaps is None else gaps] += 1
    log.offset[:] = -1
    rows = np.flatnonzero(log.is_there)
    order = rows[np.argsort(log.place[rows], kind="stable")]
    total = np.cumsum(step[order])
    is_new = np.diff(log.place[order], prepend=-1) != 0
    starts = np.flatnonzero(is_new)
    before = np.repeat(total[starts] - step[order[starts]], np.diff(np.append(starts, len(order))))
    log.offset[order] = total - before
    log.visible_ns = _visible(log)


def sends(log: Log) -> Columns:
    """What the producers recorded, in the order in which the sends ended."""
    rows = np.argsort(log.ended_ns, kind="stable")
    is_acked = log.fate[rows] == ACKED
    return {
        **columns_of(log, rows, OperationKind.PRODUCE),
        "outcome": _OUTCOMES[log.fate[rows]],
        "client": log.producer[rows],
        "partition": np.where(log.fate[rows] == UNPLACED, -1, log.partition(rows)).astype(np.int32),
        "offset": np.where(is_acked, log.offset[rows], -1),
        "began_ns": log.began_ns[rows],
        "ended_ns": log.ended_ns[rows],
        "idempotent": np.ones(len(rows), np.bool_),
        "error": _ERRORS[log.fate[rows]],
        "transaction": log.transaction[rows],
        "transaction_outcome": log.transaction_outcome[rows],
    }


def reads(rng: np.random.Generator, log: Log) -> Columns:
    """What a consumer group read and committed; half-way each partition goes to another member, which reads again."""
    found = in_log_order(log)
    parts: list[Columns] = []
    for mine in np.split(found, np.flatnonzero(np.diff(log.place[found])) + 1):
        client = FIRST_CONSUMER + int(log.place[mine[0]]) % 3
        half = len(mine) // 2 // COMMIT_EVERY * COMMIT_EVERY
        again = min(int(rng.integers(0, COMMIT_EVERY)), len(mine) - half)
        before, after = mine[: half + again], mine[half:]
        at = np.maximum.accumulate(log.visible_ns[mine]) + 2 * MS + np.arange(len(mine))
        parts.append(_read(log, before, client, at[: half + again]))
        parts.append(_read(log, after, client + 3, at[half:] + 500 * MS))
        parts.append(_committed(log, mine, client, at))
    every = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    in_time = np.argsort(every["ended_ns"], kind="stable")
    return {name: column[in_time] for name, column in every.items()}


def final_reads(log: Log) -> Columns:
    """What the final reader found."""
    rows = in_log_order(log)
    at = np.full(len(rows), int(log.visible_ns.max()) + 60_000 * MS) + np.arange(len(rows))
    return {**columns_of(log, rows, OperationKind.FINAL_READ), "client": _same(rows, READER), **_at(at)}


def in_log_order(log: Log) -> npt.NDArray[np.intp]:
    """What can be read, partition by partition, by offset."""
    rows = np.flatnonzero(log.is_visible)
    return rows[np.lexsort((log.offset[rows], log.place[rows]))]


def columns_of(log: Log, rows: npt.NDArray[np.intp], kind: OperationKind) -> Columns:
    """Rows of one kind about some records, all columns there."""
    return {
        "kind": np.full(len(rows), kind.value, np.int8),
        "outcome": np.full(len(rows), _OK, np.int8),
        "client": _same(rows, 0),
        "topic": log.topic(rows),
        "partition": log.partition(rows),
        "offset": log.offset[rows].copy(),
        "producer": log.producer[rows],
        "sequence": log.sequence[rows],
        **_at(np.zeros(len(rows), np.int64)),
        "group": np.full(len(rows), ""),
        "idempotent": np.zeros(len(rows), np.bool_),
        "error": np.full(len(rows), ""),
        "transaction": np.full(len(rows), NO_TRANSACTION, np.int64),
        "transaction_outcome": np.full(len(rows), _OK, np.int8),
    }


def _read(log: Log, rows: npt.NDArray[np.intp], client: int, at_ns: npt.NDArray[np.int64]) -> Columns:
    read = columns_of(log, rows, OperationKind.CONSUME)
    return {**read, "client": _same(rows, client), "group": np.full(len(rows), GROUP), **_at(at_ns)}


def _committed(log: Log, rows: npt.NDArray[np.intp], client: int, at_ns: npt.NDArray[np.int64]) -> Columns:
    """A commit after every so many reads: the offset of the next record to read."""
    last = np.arange(COMMIT_EVERY - 1, len(rows), COMMIT_EVERY)
    half = len(rows) // 2 // COMMIT_EVERY
    commits = columns_of(log, rows[last], OperationKind.COMMIT)
    late = np.where(np.arange(len(last)) >= half, 500 * MS, 0)
    commits["offset"] += 1
    commits["producer"][:] = -1
    commits["sequence"][:] = -1
    return {
        **commits,
        "client": np.where(late > 0, client + 3, client).astype(np.int32),
        "group": np.full(len(last), GROUP),
        "began_ns": at_ns[last] + late + 1,
        "ended_ns": at_ns[last] + late + 2,
    }


def _transactions(
    rng: np.random.Generator, producer: npt.NDArray[np.int32], shape: Shape
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int8]]:
    if not shape.is_transactional:
        return np.full(len(producer), NO_TRANSACTION, np.int64), np.full(len(producer), _OK, np.int8)
    number = (_counted(producer) // shape.sends_per_transaction) * (shape.producers + 1) + producer
    outcomes = rng.choice([_OK, _FAILED, _INDEFINITE], int(number.max()) + 1, p=[0.95, 0.03, 0.02]).astype(np.int8)
    return number, outcomes[number]


def _counted(producer: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """How many each producer had sent before."""
    order = np.argsort(producer, kind="stable")
    starts = np.flatnonzero(np.diff(producer[order], prepend=-1))
    counts = np.arange(len(producer)) - np.repeat(starts, np.diff(np.append(starts, len(producer))))
    sequence = np.empty(len(producer), np.int64)
    sequence[order] = counts
    return sequence


def _visible(log: Log) -> npt.NDArray[np.int64]:
    """Acknowledged, or in a transaction all of whose sends were acknowledged."""
    if not log.shape.is_transactional:
        return log.ended_ns
    last = np.zeros(int(log.transaction.max()) + 1, np.int64)
    np.maximum.at(last, log.transaction, log.ended_ns)
    return last[log.transaction] + MS


def _same(rows: npt.NDArray[np.intp], client: int) -> npt.NDArray[np.int32]:
    return np.full(len(rows), client, np.int32)


def _at(at_ns: npt.NDArray[np.int64]) -> Columns:
    return {"began_ns": at_ns, "ended_ns": at_ns}
