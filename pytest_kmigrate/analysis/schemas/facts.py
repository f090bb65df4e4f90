"""Facts: the tables of what happened, below ``tables/``."""

from pyspark.sql.types import IntegerType, StructField, StructType

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, FLAG, MOMENT, NUMBER, TEXT, TEXTS, struct
from pytest_kmigrate.analysis.schemas.sources import VERDICT_JSON

ATTEMPTS = struct(
    folder=TEXT,
    run_id=TEXT,
    test_id=TEXT,
    attempt=IntegerType(),
    **CONDITION,
    **FAULTS,
    outcome=TEXT,
    kind=TEXT,
    check=TEXT,
    summary=TEXT,
    known_bugs=TEXTS,
    duration_ms=NUMBER,
    started_at=MOMENT,
    commit=TEXT,
    seed=TEXT,
    reproduce=TEXT,
    timeline=TEXT,
)
"""What is known of attempts before nights are compared."""

REQUIREMENT_ATTEMPTS = struct(
    folder=TEXT,
    run_id=TEXT,
    test_id=TEXT,
    requirement=TEXT,
    attempt=IntegerType(),
    **CONDITION,
    **FAULTS,
    outcome=TEXT,
    kind=TEXT,
    known_bugs=TEXTS,
    judged_by=TEXTS,
    violated_by=TEXTS,
    duration_ms=NUMBER,
    started_at=MOMENT,
    commit=TEXT,
    seed=TEXT,
)
"""The same of what they say of each requirement."""

_IS_ASIDE = StructField("is_aside", FLAG)
"""Whether an infra night keeps the attempt from counting: see ``nights``."""

FACTS: dict[str, StructType] = {
    "set_aside": struct(path=TEXT, line=COUNT, reason=TEXT, is_run=FLAG),
    "runs": struct(
        folder=TEXT,
        run_id=TEXT,
        test_id=TEXT,
        seed=TEXT,
        **CONDITION,
        requirements=TEXTS,
        started_at=MOMENT,
        commit=TEXT,
        reproduce=TEXT,
        watched=TEXTS,
        software=TEXTS,
        is_complete=FLAG,
        timeline=TEXT,
        digest=TEXT,
    ),
    "verdicts": struct(
        folder=TEXT,
        check=TEXT,
        outcome=TEXT,
        kind=TEXT,
        summary=TEXT,
        count=COUNT,
        requirements=TEXTS,
        violations=VERDICT_JSON["violations"].dataType,
        facts=TEXT,
        known_bugs=TEXTS,
        anomaly=TEXT,
        counts=FLAG,
        standing=FLAG,
        about=VERDICT_JSON["about"].dataType,
    ),
    "attempts": StructType([*ATTEMPTS, _IS_ASIDE]),
    "requirement_attempts": StructType([*REQUIREMENT_ATTEMPTS, _IS_ASIDE]),
    "faults": struct(
        folder=TEXT,
        fault_id=TEXT,
        fault=TEXT,
        effect=TEXT,
        targets=TEXTS,
        trigger=TEXT,
        phase=TEXT,
        began_ns=COUNT,
        healed_ns=COUNT,
        is_witnessed=FLAG,
        witness=TEXT,
        seq=COUNT,
    ),
    "durations": struct(folder=TEXT, what=TEXT, name=TEXT, began_ns=COUNT, took_ms=NUMBER),
    "figures": struct(folder=TEXT, measure=TEXT, measured=NUMBER, unit=TEXT, size=NUMBER, of=TEXT),
}
"""Table name -> its columns, in order."""
