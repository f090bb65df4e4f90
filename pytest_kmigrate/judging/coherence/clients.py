"""What client operations, and the counts that the clients' process kept by itself, say of each other."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from pytest_kmigrate.checkers.evidence.grouping import partitions
from pytest_kmigrate.checkers.kernels import different
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.events.evidence import ChecksRequested, RunEnded
from pytest_kmigrate.model.events.nodes import NodeReady
from pytest_kmigrate.model.events.workloads import ClientsBegan, ClientsEnded
from pytest_kmigrate.model.history import History
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome, Operations
from pytest_kmigrate.recording.disagreement import Disagreement

_Count = tuple[str, Callable[[ClientsEnded], int | None], OperationKind, OperationOutcome]

_COUNTED: tuple[_Count, ...] = (
    ("acked", lambda ended: ended.acked, OperationKind.PRODUCE, OperationOutcome.OK),
    ("failed", lambda ended: ended.failed, OperationKind.PRODUCE, OperationOutcome.FAILED),
    ("indefinite", lambda ended: ended.indefinite, OperationKind.PRODUCE, OperationOutcome.INDEFINITE),
    ("consumed", lambda ended: ended.consumed, OperationKind.CONSUME, OperationOutcome.OK),
    ("committed", lambda ended: ended.committed, OperationKind.COMMIT, OperationOutcome.OK),
    ("final_read", lambda ended: ended.final_read, OperationKind.FINAL_READ, OperationOutcome.OK),
)
"""What the end of a workload counts, and the operations that it counts."""


def counts_are_rows(history: History) -> Iterator[Disagreement]:
    """The clients' process counted as many operations as there are.

    Until seals were recorded it also counted commits that it made when it had written its rows.
    """
    ended, operations = history.of(ClientsEnded), _of_workload(history)
    is_sealed = any(each.what.seals for each in history.of(RunEnded))
    for key, count_of, kind, outcome in _COUNTED:
        counts = [count_of(each.what) for each in ended if is_sealed or kind is not OperationKind.COMMIT]
        known = [each for each in counts if each is not None]
        rows = int(((operations.kind == kind) & (operations.outcome == outcome)).sum())
        if counts and len(known) == len(counts) and sum(known) != rows:
            yield Disagreement(f"event {ended[-1].seq} counts {sum(known)} {key}", f"operations/ has {rows}")


def within_the_workload(history: History) -> Iterator[Disagreement]:
    """Operations began after a broker served, and ended before the workload did."""
    operations, ended = _of_workload(history), history.of(ClientsEnded)
    if not len(operations):
        return
    began, over = int(operations.began_ns.min()), int(operations.ended_ns.max())
    if history.of(ChecksRequested) and not history.of(EventKind.WORKLOAD_BEGAN):
        yield Disagreement(f"operations/ has {len(operations)} operations", "no event has the beginning of a workload")
    served = [event.at_ns for event in history.of(NodeReady) if str(event.node).startswith("broker")]
    if served and began < served[0]:
        yield Disagreement(
            f"the first operation began at {began / 1e9:.3f} s", f"no broker was ready before {served[0] / 1e9:.3f} s"
        )
    if ended and over > ended[-1].at_ns:
        yield Disagreement(
            f"the last operation ended at {over / 1e9:.3f} s",
            f"event {ended[-1].seq} ends the workload at {ended[-1].at_ns / 1e9:.3f} s",
        )
    if bool((operations.ended_ns < operations.began_ns).any()):
        yield Disagreement("an operation has a time at which it began", "it ended before that")


def sends_are_numbered(history: History) -> Iterator[Disagreement]:
    """A producer numbers its sends without a gap, and each becomes one row."""
    sends = history.operations.of(OperationKind.PRODUCE)
    if not history.of(ClientsEnded):
        return
    for producer in different(sends.producer).tolist():
        numbers = np.sort(sends.sequence[sends.producer == producer])
        missing = _first_gap(numbers - numbers[0]) if numbers[0] <= 0 else 0
        if missing is not None:
            yield Disagreement(
                f"producer {producer} has {len(numbers)} sends up to number {int(numbers[-1])}",
                f"there is no send {missing}, or it is there twice",
            )
            return


def offsets_have_no_holes(history: History) -> Iterator[Disagreement]:
    """Up to the last record that was read back, each offset of a partition was acknowledged or read.

    Transactions leave offsets that no client sees, so partitions with any are left out.
    """
    operations = history.operations
    if not bool((operations.kind == OperationKind.FINAL_READ).any()):
        return
    in_transactions = set(operations.topic[operations.transaction >= 0].tolist())
    for place, group in partitions(operations):
        hole = None if str(group.topic[0]) in in_transactions else _hole(group)
        if hole is not None:
            yield Disagreement(f"{place} was read back beyond offset {hole}", "no operation wrote or read that offset")
            return


def _hole(group: Operations) -> int | None:
    read = group.offset[(group.kind == OperationKind.FINAL_READ) & (group.offset >= 0)]
    if not len(read):
        return None
    first = int(read.min())
    is_seen = np.zeros(int(read.max()) - first + 1, np.bool_)
    is_record = (group.kind != OperationKind.COMMIT) & (group.offset >= first) & (group.offset <= read.max())
    is_seen[group.offset[is_record] - first] = True
    return None if is_seen.all() else first + int(is_seen.argmin())


def _first_gap(numbers: npt.NDArray[np.int64]) -> int | None:
    """The first of 0, 1, 2... that sorted numbers lack or have twice; None if there is none."""
    wrong = np.flatnonzero(numbers != np.arange(len(numbers)))
    return int(wrong[0]) if len(wrong) else None


def _of_workload(history: History) -> Operations:
    """The operations without those of members of groups under test, which are processes of their own."""
    groups = {"", *(each.what.group for each in history.of(ClientsBegan))}
    found = set(history.operations.group.tolist())
    others = found - groups
    if not others:
        return history.operations
    return history.operations.where(~np.isin(history.operations.group.astype(str), sorted(others)))
