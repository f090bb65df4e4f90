"""Trends: what took how long in which run, and since when it takes longer."""

from pyspark.sql.types import StructType

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, MOMENT, NUMBER, TEXT, struct

TRENDS: dict[str, StructType] = {
    "trends": struct(
        measure=TEXT,
        name=TEXT,
        **CONDITION,
        version_order=COUNT,
        test_id=TEXT,
        run_id=TEXT,
        started_at=MOMENT,
        commit=TEXT,
        value=NUMBER,
    ),
    "trend_changes": struct(
        measure=TEXT,
        name=TEXT,
        profile=TEXT,
        provider=TEXT,
        topology=TEXT,
        since_run=TEXT,
        since_at=MOMENT,
        since_kafka=TEXT,
        since_commit=TEXT,
        median_before=NUMBER,
        median_after=NUMBER,
        ratio=NUMBER,
        p_value=NUMBER,
        direction=TEXT,
    ),
}
"""Table name -> its columns, in order."""
