"""Builds frames of a declared schema from the few columns a test is about."""

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from pytest_kmigrate.analysis import schemas

CELL: dict[str, object] = {
    "test_id": "t",
    "requirement": "R1",
    "profile": "kip-866",
    "provider": "process",
    "kafka": "3.9.1",
    "topology": "small",
    "fault": "kill(active-controller)",
    "phase": "HYBRID",
    "role": "controller",
}


def frame(spark: SparkSession, schema: StructType, rows: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows of ``schema``; columns a row does not name are null."""
    return spark.createDataFrame([tuple(row.get(name) for name in schema.names) for row in rows], schema)


def table(spark: SparkSession, name: str, rows: Sequence[Mapping[str, object]]) -> DataFrame:
    """Rows of one of the declared tables."""
    return frame(spark, schemas.TABLES[name], rows)


def ended(outcome: str, kind: str | None = None, duration_ms: float = 1_000.0, **more: object) -> dict[str, object]:
    """One row of ``requirement_attempts`` or ``attempts`` in the usual cell."""
    return {**CELL, "outcome": outcome, "kind": kind, "duration_ms": duration_ms, **more}
