"""Flakiness: how often tests answer differently under equal conditions, since when, and in which nights not to ask."""

from pyspark.sql.types import DateType, StructType

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, MOMENT, NUMBER, TEXT, struct

FLAKINESS: dict[str, StructType] = {
    "flakiness": struct(
        test_id=TEXT,
        **CONDITION,
        **FAULTS,
        runs=COUNT,
        conforming=COUNT,
        violating=COUNT,
        inconclusive=COUNT,
        infra_runs=COUNT,
        safety_violations=COUNT,
        flips=COUNT,
        flip_rate=NUMBER,
        wilson_low=NUMBER,
        wilson_high=NUMBER,
        rate=NUMBER,
        shrunk_rate=NUMBER,
        shrunk_low=NUMBER,
        shrunk_high=NUMBER,
        clean_runs=COUNT,
        bound_after_clean=NUMBER,
        more_runs_needed=COUNT,
        decision=TEXT,
        standing=TEXT,
        newest_at=MOMENT,
    ),
    "change_points": struct(
        test_id=TEXT,
        **CONDITION,
        **FAULTS,
        since_run=TEXT,
        since_at=MOMENT,
        since_attempt=COUNT,
        since_kafka=TEXT,
        rate_before=NUMBER,
        rate_after=NUMBER,
        runs_before=COUNT,
        runs_after=COUNT,
        p_value=NUMBER,
    ),
    "infra_nights": struct(
        night=DateType(),
        runs=COUNT,
        inconclusive=COUNT,
        tests_touched=COUNT,
        usual_rate=NUMBER,
        p_value=NUMBER,
        reason=TEXT,
    ),
}
"""Table name -> its columns, in order."""
