"""Dealing: a run too large for one group is cut into slices, each complete for one aspect of the checks.

Which rows a check compares decides how they may be cut: whether a record is there asks for all rows of that record,
what lies at an offset for all rows of that offset, the order of a producer's records for all rows of that producer.
So a row goes into one slice for each aspect that looks at it, with the columns that it looks at.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pytest_kmigrate.analysis.consistency.columns import Columns
from pytest_kmigrate.checkers.kernels import Aspect
from pytest_kmigrate.model.operations import OperationKind, OperationOutcome
from pytest_kmigrate.model.refusals import GIVEN_UP
from pytest_kmigrate.recording.operation_parts import TRANSACTIONAL_SCHEMA

Chosen = npt.NDArray[np.bool_]
Offsets = npt.NDArray[np.int64]

_RUN_BITS = 12
"""Neighbours stay together: 4096 records in a row, or offsets, go into one slice, so a file goes into few."""

_WRITTEN = ["kind", "outcome", "client", "topic", "partition", "offset", "producer", "sequence", "ended_ns"]
_IN_TRANSACTION = ["transaction", "transaction_outcome"]
_COLUMNS = {
    Aspect.RECORD: [*_WRITTEN, "began_ns", "idempotent", "error", *_IN_TRANSACTION],
    Aspect.OFFSET: [*_WRITTEN, "group", *_IN_TRANSACTION],
    Aspect.PRODUCER: [*_WRITTEN, "began_ns", "idempotent", "error", *_IN_TRANSACTION],
    Aspect.READER: [*_WRITTEN, "began_ns", "group"],
    Aspect.TRANSACTIONS: [*_WRITTEN, "began_ns", *_IN_TRANSACTION],
}


@dataclass(frozen=True)
class Slice:
    """Rows of one file for one slice of one aspect, encoded; of copies, every slice gets the same."""

    aspect: Aspect
    number: int
    is_copy: bool
    content: pa.Buffer


def dealt(table: pa.Table, slices: int) -> Iterator[Slice]:
    """The rows of one file, each in the slices where it is looked at."""
    columns = Columns(table)
    kind, is_ok = columns["kind"], columns["outcome"] == OperationOutcome.OK
    is_commit, is_part = kind == OperationKind.COMMIT, columns["transaction"] >= 0
    in_runs = (columns["sequence"] >> _RUN_BITS) + columns["producer"] * 31
    place = columns.hashes("topic") + columns["partition"]
    at = (columns["offset"] >> _RUN_BITS) + place
    for aspect, chosen, number in (
        (Aspect.RECORD, ~is_commit, in_runs),
        (Aspect.PRODUCER, ~is_commit & (is_ok | columns["idempotent"] | is_part), columns["producer"]),
        (Aspect.READER, is_commit | _reads_around(columns, _steps_back), place),
        (Aspect.TRANSACTIONS, is_part, np.zeros(len(table), np.int64)),
    ):
        rows = np.flatnonzero(chosen)
        yield from _sliced(table, aspect, rows, number[chosen] % slices, rows)
    placed = np.flatnonzero(~is_commit & is_ok & (columns["offset"] >= 0))
    yield from _by_offset(table, placed, at % slices, np.flatnonzero(_reads_around(columns, _leaps)), slices)
    surrounding = _surrounding(table, columns)
    for aspect in (Aspect.RECORD, Aspect.PRODUCER) if len(surrounding) else ():
        copies = _encoded(surrounding, _COLUMNS[aspect])
        yield from (Slice(aspect, each, is_copy=True, content=copies) for each in range(slices))


def decoded(content: pa.Buffer) -> pa.Table:
    """The rows of a slice."""
    with pa.ipc.open_stream(content) as stream:
        return stream.read_all()


def _by_offset(
    table: pa.Table,
    placed: npt.NDArray[np.intp],
    numbers: npt.NDArray[np.int64],
    leaps: npt.NDArray[np.intp],
    slices: int,
) -> Iterator[Slice]:
    """What lies at the offsets of each slice; and in all slices where a client's reads left them and came in again.

    Elsewhere than in its own slice such a read is of no record: it says where its client was, and nothing else.
    """
    echoes = _with(table.take(pa.array(leaps)), producer=-1, sequence=-1)
    place, number = (each.ravel() for each in np.indices((len(leaps), slices)))
    elsewhere = numbers[leaps][place] != number
    place, number = place[elsewhere], number[elsewhere]
    rows = np.concatenate([placed, len(table) + place])
    in_order_of = np.concatenate([placed, leaps[place]])
    both = pa.concat_tables([table, echoes])
    yield from _sliced(both, Aspect.OFFSET, rows, np.concatenate([numbers[placed], number]), in_order_of)


def _sliced(
    table: pa.Table,
    aspect: Aspect,
    rows: npt.NDArray[np.intp],
    numbers: npt.NDArray[np.int64],
    in_order_of: npt.NDArray[np.intp],
) -> Iterator[Slice]:
    order = np.lexsort((in_order_of, numbers))
    found, begins = np.unique(numbers[order], return_index=True)
    of_aspect = table.select(_COLUMNS[aspect])
    for number, mine in zip(found.tolist(), np.split(rows[order], begins[1:]), strict=False):
        yield Slice(aspect, number, is_copy=False, content=_encoded(of_aspect.take(pa.array(mine)), _COLUMNS[aspect]))


def _reads_around(columns: Columns, is_break: Callable[[Offsets, Offsets], Chosen]) -> Chosen:
    """Reads that show how a client read on: the first and last of this file, and those before and after a break."""
    is_read = (columns["kind"] == OperationKind.CONSUME) & (columns["outcome"] == OperationOutcome.OK)
    rows = np.flatnonzero(is_read)
    names = ("client", "topic", "partition")
    rows = rows[np.lexsort([columns[name][rows] for name in names])]
    is_new = np.ones(len(rows) + 1, np.bool_)
    is_new[1:-1] = is_break(columns["offset"][rows[:-1]], columns["offset"][rows[1:]])
    for name in names:
        is_new[1:-1] |= columns[name][rows[1:]] != columns[name][rows[:-1]]
    reported = np.zeros(len(columns["kind"]), np.bool_)
    reported[rows[is_new[:-1] | is_new[1:]]] = True
    return reported


def _steps_back(before: Offsets, after: Offsets) -> Chosen:
    """Between these a client's offsets only rise: without the reads between them it steps back at the same places."""
    return after <= before


def _leaps(before: Offsets, after: Offsets) -> Chosen:
    """Gaps that leave the slice: of all others both ends are in it."""
    leaves: Chosen = after >> _RUN_BITS != before >> _RUN_BITS
    return leaves & (after > before + 1)


def _surrounding(table: pa.Table, columns: Columns) -> pa.Table:
    """Rows by which every slice must be judged: see ``kernels.surroundings``, and who is idempotent where."""
    is_final, is_ok = columns["kind"] == OperationKind.FINAL_READ, columns["outcome"] == OperationOutcome.OK
    is_sent = columns["kind"] == OperationKind.PRODUCE
    reported = np.flatnonzero((is_final & ~is_ok) | (is_sent & (columns["partition"] < 0)))
    read = np.flatnonzero(is_final & is_ok)
    witness = read[np.argsort(columns["began_ns"][read], kind="stable")][:1]
    sent = np.flatnonzero(is_sent & columns["idempotent"] & (columns["partition"] >= 0))
    who = np.stack([columns[name][sent] for name in ("topic", "partition", "producer")])
    markers = sent[np.unique(who, axis=1, return_index=True)[1]]
    given_up = np.flatnonzero(is_sent & columns.says("error", GIVEN_UP))
    when = np.stack([columns[name][given_up] for name in ("producer", "ended_ns")])
    given_up = given_up[np.unique(when, axis=1, return_index=True)[1]]
    # A witness is of no partition, and a marker of no record: they say something and are nothing.
    witnesses = _with(table.take(pa.array(witness)), partition=-1)
    written = _with(table.take(pa.array(markers)), outcome=OperationOutcome.INDEFINITE, sequence=-1, offset=-1)
    written = _with(written, transaction=-1)
    epochs = _with(table.take(pa.array(given_up)), partition=-1, sequence=-1, offset=-1, transaction=-1)
    return pa.concat_tables([table.take(pa.array(reported)), witnesses, written, epochs])


def _with(table: pa.Table, **constants: int) -> pa.Table:
    for name, value in constants.items():
        at = table.column_names.index(name)
        field = TRANSACTIONAL_SCHEMA.field(name)
        table = table.set_column(at, field, pa.array([int(value)] * len(table), field.type))
    return table


def _encoded(table: pa.Table, names: list[str]) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    table = table.select(names).unify_dictionaries().combine_chunks()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    return sink.getvalue()
