"""Flakiness: how often tests answer differently under equal conditions, since when, and in which nights not to ask."""

from pyspark.sql.types import DataType, DateType, StructType

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, MOMENT, NUMBER, TEXT, struct

_CELL: dict[str, DataType] = {"test_id": TEXT, **CONDITION, **FAULTS}

_HOW_FLAKY: dict[str, DataType] = {
    **dict.fromkeys(
        ("runs", "conforming", "violating", "inconclusive", "infra_runs", "safety_violations", "flips"), COUNT
    ),
    **dict.fromkeys(("conforming_now", "violating_now", "undecided_now"), COUNT),
    **dict.fromkeys(
        ("flip_rate", "wilson_low", "wilson_high", "rate", "shrunk_rate", "shrunk_low", "shrunk_high"), NUMBER
    ),
    "clean_runs": COUNT,
    "bound_after_clean": NUMBER,
    "more_runs_needed": COUNT,
    "decision": TEXT,
    "standing": TEXT,
    "newest_at": MOMENT,
}

_SINCE_WHEN: dict[str, DataType] = {
    "since_run": TEXT,
    "since_at": MOMENT,
    "since_attempt": COUNT,
    "since_kafka": TEXT,
    "since_commit": TEXT,
    "rate_before": NUMBER,
    "rate_after": NUMBER,
    "runs_before": COUNT,
    "runs_after": COUNT,
    "p_value": NUMBER,
}

FLAKINESS: dict[str, StructType] = {
    "flakiness": struct(**_CELL, **_HOW_FLAKY),
    "change_points": struct(**_CELL, **_SINCE_WHEN),
    "requirement_flakiness": struct(requirement=TEXT, **_CELL, **_HOW_FLAKY),
    "requirement_changes": struct(requirement=TEXT, **_CELL, **_SINCE_WHEN),
    "infra_nights": struct(
        night=DateType(),
        runs=COUNT,
        inconclusive=COUNT,
        violating=COUNT,
        wrong=TEXT,
        wrong_runs=COUNT,
        judged_runs=COUNT,
        tests_touched=COUNT,
        usual_rate=NUMBER,
        p_value=NUMBER,
        reason=TEXT,
    ),
}
"""Table name -> its columns, in order."""
