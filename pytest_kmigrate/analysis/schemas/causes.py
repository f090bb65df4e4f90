"""Causes and clusters: which failures are one, and what they go together with."""

from pyspark.sql.types import StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, MOMENT, NUMBER, TEXT, TEXTS, struct

MESSAGES = struct(folder=TEXT, check=TEXT, outcome=TEXT, text=TEXT)
"""What is clustered: one row per failure message or log slice of a run."""

CAUSES: dict[str, StructType] = {
    "failure_clusters": struct(
        cluster=TEXT,
        representative=TEXT,
        normal_form=TEXT,
        outcome=TEXT,
        failures=COUNT,
        runs=COUNT,
        tests=TEXTS,
        kafka=TEXTS,
        first_at=MOMENT,
        last_at=MOMENT,
        checks=TEXTS,
        example_folder=TEXT,
        example_timeline=TEXT,
    ),
    "failure_members": struct(cluster=TEXT, folder=TEXT, check=TEXT, outcome=TEXT, text=TEXT, normal_form=TEXT),
    "causes": struct(
        what=TEXT,
        failure=TEXT,
        factor=TEXT,
        level=TEXT,
        with_failures=COUNT,
        with_runs=COUNT,
        without_failures=COUNT,
        without_runs=COUNT,
        lift=NUMBER,
        lift_low=NUMBER,
        lift_high=NUMBER,
        p_value=NUMBER,
        q_value=NUMBER,
        rank=COUNT,
        inseparable=TEXTS,
    ),
}
"""Table name -> its columns, in order."""
