"""Synthetic histories of client operations: seeded, as large as wanted, with anomalies planted one by one.

A run is made as it should be (producers that wait, give up and are refused; consumers that are re-assigned and read
again; a final read), then a few records are chosen and exactly one thing is made wrong with each. What was planted is
counted, so that a judge can be asked whether it found every one and invented none.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pytest_kmigrate.recording.operation_parts import TEXTS, TRANSACTIONAL_SCHEMA
from tests.bench.planting.runs import Planted, Planter, planted, planted_in_log
from tests.bench.planting.synthetic_log import Columns, Shape, assign_offsets, final_reads, reads, sends, written_log

PART_ROWS = 20_000
"""What a client writes in a few seconds."""


@dataclass
class SyntheticRun:
    """One run's operations by the process that recorded them, and what is wrong with them."""

    sources: dict[str, Columns]
    planted: Planted = field(default_factory=Counter)

    @property
    def operations(self) -> int:
        """How many there are."""
        return sum(len(columns["kind"]) for columns in self.sources.values())

    def tables(self) -> Iterator[tuple[str, pa.Table]]:
        """The operations as tables of every column."""
        for name, columns in self.sources.items():
            yield name, pa.table([_array(columns, each) for each in TRANSACTIONAL_SCHEMA], schema=TRANSACTIONAL_SCHEMA)


def synthetic_run(seed: int, operations: int, shape: Shape | None = None, *, is_faulty: bool = True) -> SyntheticRun:
    """About so many operations of one run; with ``is_faulty``, every class of anomaly that its shape allows."""
    rng = np.random.default_rng(seed)
    log = written_log(rng, max(operations // 3, 3_000), shape or Shape())
    planter = Planter(rng, log)
    moved = planted_in_log(planter) if is_faulty else None
    if moved is None:
        assign_offsets(rng, log)
    sources = {"clients": sends(log), "consumers": reads(rng, log), "reader": final_reads(log)}
    if moved is not None:
        planted(planter, sources, moved)
    return SyntheticRun(sources, planter.reported)


def write_parts(run: SyntheticRun, folder: Path) -> None:
    """Write a run's parts as its recorder would; runs without transactions have no columns for them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in run.tables():
        # Only a transactional client writes the columns of transactions.
        is_plain = (table["transaction"].to_numpy() < 0).all()
        rows = table.drop(["transaction", "transaction_outcome"]) if is_plain else table
        for number, begin in enumerate(range(0, len(rows), PART_ROWS), 1):
            part = folder / f"{name}-{number:06d}.parquet"
            pq.write_table(rows.slice(begin, PART_ROWS), part, compression="zstd", use_dictionary=TEXTS)


def _array(columns: Columns, each: pa.Field) -> pa.Array:
    column = columns[each.name]
    if each.name not in TEXTS:
        return pa.array(column, each.type)
    values, codes = np.unique(column.astype(str), return_inverse=True)
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), values.tolist()).cast(each.type)
