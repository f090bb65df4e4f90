"""Ingestion: what is known of run folders that were read before, and what was observed beside their verdicts."""

from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis.schemas.chaos import SCHEDULES
from pytest_kmigrate.analysis.schemas.columns import COUNT, FLAG, MOMENT, NUMBER, TEXT, TEXTS, struct
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY

INGESTED = struct(folder=TEXT, digest=TEXT, stamp=TEXT, batch=COUNT, is_complete=FLAG, root=TEXT, format=COUNT)
"""The ledger: one row per run folder whose facts are in a batch. Written by itself, last, in one move."""

OBSERVATIONS: dict[str, StructType] = {
    "bad_rows": struct(folder=TEXT, path=TEXT, line=COUNT, reason=TEXT, is_run=FLAG),
    "metrics": struct(
        folder=TEXT,
        node=TEXT,
        metric=TEXT,
        samples=COUNT,
        first_ns=COUNT,
        last_ns=COUNT,
        smallest=NUMBER,
        median=NUMBER,
        largest=NUMBER,
        last=NUMBER,
    ),
    "executions": struct(folder=TEXT, class_name=TEXT, class_id=TEXT, executed=ArrayType(COUNT)),
    "log_lines": struct(
        folder=TEXT, node=TEXT, level=TEXT, shape=TEXT, lines=COUNT, first_line=COUNT, first_at=MOMENT, example=TEXT
    ),
    "metadata_images": struct(folder=TEXT, label=TEXT, source=TEXT, known=TEXTS, topics=COUNT, partitions=COUNT),
    "metadata_differences": struct(folder=TEXT, check=TEXT, outcome=TEXT, differences=COUNT, fact=TEXT, value=TEXT),
    "znode_changes": struct(folder=TEXT, at_ns=COUNT, path=TEXT, data=TEXT, version=COUNT, mzxid=COUNT),
}
"""Table name -> its columns, in order."""

KEPT = ("runs", "verdicts", "faults", "durations", "figures", *SCHEDULES, *OBSERVATIONS, *CONSISTENCY)
"""The tables that are kept in batches from one analysis to the next; all others are computed anew from them."""
