"""Every schema of the analysis: what is read from a run folder, and what each written table looks like."""

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

RUN_SCHEMA_VERSION = 1
"""The newest ``schema`` of a run folder that this version reads."""

TEXT = StringType()
TEXTS = ArrayType(TEXT)
COUNT = LongType()


def _struct(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


# --- What lies in a run folder -------------------------------------------------------------------------------------

FOLDERS = _struct(folder=TEXT, is_complete=BooleanType(), timeline=TEXT)
"""One row per run folder: its path below the analyzed one, whether its manifest is there, its timeline's path."""

FILES = _struct(folder=TEXT, file=TEXT, text=TEXT)
"""One row per file that was read, whole: ``run.json``, ``verdicts.jsonl``, ``history.jsonl``."""

RUN_JSON = _struct(
    schema=IntegerType(),
    run_id=TEXT,
    test_id=TEXT,
    # An identity, never calculated with: as text it may have any size.
    seed=TEXT,
    kafka=TEXT,
    topology=TEXT,
    provider=TEXT,
    profile=TEXT,
    requirements=TEXTS,
    started_at=TEXT,
    reproduce=TEXT,
    extra=_struct(reproduce=TEXT, byteman=TEXT),
)
"""``run.json``. What a header does not define lies under ``extra`` in folders written by the recorder."""

VERDICT_JSON = _struct(
    check=TEXT,
    outcome=TEXT,
    kind=TEXT,
    summary=TEXT,
    count=COUNT,
    requirements=TEXTS,
    violations=ArrayType(_struct(expected=TEXT, observed=TEXT, at_ns=COUNT, evidence=TEXTS)),
    # Each check has its own facts, so they stay JSON until the one mart that reads them.
    facts=TEXT,
    known_bugs=TEXTS,
)
"""One line of ``verdicts.jsonl``."""

EVENT_JSON = _struct(seq=COUNT, at_ns=COUNT, kind=TEXT, node=TEXT, data=TEXT)
"""One line of ``history.jsonl``; ``data`` differs by kind and is read by the fact that needs it."""

EVENT_DATA = _struct(
    fault=TEXT,
    fault_id=TEXT,
    effect=TEXT,
    targets=TEXTS,
    trigger=TEXT,
    witness=TEXT,
    phase=TEXT,
    step=TEXT,
)
"""The keys of ``data`` that facts use (kinds fault-*, phase, step-*)."""

FACTS_MAP = MapType(TEXT, TEXT)
"""A verdict's facts by name."""

# --- What is written -----------------------------------------------------------------------------------------------

_CONDITION = {"profile": TEXT, "provider": TEXT, "kafka": TEXT, "topology": TEXT}
_FAULTS = {"fault": TEXT, "phase": TEXT}
_STATISTICS = {
    "runs": COUNT,
    "conforming": COUNT,
    "violating": COUNT,
    "inconclusive": COUNT,
    "not_applicable": COUNT,
    "safety_violations": COUNT,
    "pass_rate": DoubleType(),
    "pass_rate_low": DoubleType(),
    "pass_rate_high": DoubleType(),
    "duration_median_ms": DoubleType(),
    "duration_p90_ms": DoubleType(),
}

TABLES: dict[str, StructType] = {
    "set_aside": _struct(path=TEXT, line=COUNT, reason=TEXT, is_run=BooleanType()),
    "runs": _struct(
        folder=TEXT,
        run_id=TEXT,
        test_id=TEXT,
        seed=TEXT,
        **_CONDITION,
        requirements=TEXTS,
        started_at=TimestampType(),
        reproduce=TEXT,
        is_complete=BooleanType(),
        timeline=TEXT,
    ),
    "verdicts": _struct(
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
    ),
    "attempts": _struct(
        folder=TEXT,
        run_id=TEXT,
        test_id=TEXT,
        attempt=IntegerType(),
        **_CONDITION,
        **_FAULTS,
        outcome=TEXT,
        kind=TEXT,
        check=TEXT,
        summary=TEXT,
        known_bugs=TEXTS,
        duration_ms=DoubleType(),
        started_at=TimestampType(),
        seed=TEXT,
        reproduce=TEXT,
        timeline=TEXT,
    ),
    "requirement_attempts": _struct(
        folder=TEXT,
        test_id=TEXT,
        requirement=TEXT,
        **_CONDITION,
        **_FAULTS,
        outcome=TEXT,
        kind=TEXT,
        duration_ms=DoubleType(),
    ),
    "faults": _struct(
        folder=TEXT,
        fault_id=TEXT,
        fault=TEXT,
        effect=TEXT,
        targets=TEXTS,
        trigger=TEXT,
        phase=TEXT,
        began_ns=COUNT,
        healed_ns=COUNT,
        is_witnessed=BooleanType(),
        witness=TEXT,
        seq=COUNT,
    ),
    "durations": _struct(folder=TEXT, what=TEXT, name=TEXT, began_ns=COUNT, took_ms=DoubleType()),
    "cells": _struct(
        test_id=TEXT, requirement=TEXT, **_CONDITION, **_FAULTS, **_STATISTICS, is_flaky=BooleanType(), standing=TEXT
    ),
    "tests": _struct(test_id=TEXT, **_CONDITION, **_STATISTICS, is_flaky=BooleanType(), standing=TEXT),
    "requirements": _struct(
        requirement=TEXT, profile=TEXT, kafka=TEXT, **_STATISTICS, is_flaky=BooleanType(), standing=TEXT
    ),
    "fault_effects": _struct(
        fault=TEXT, phase=TEXT, kafka=TEXT, injected=COUNT, witnessed=COUNT, conforming=COUNT, violating=COUNT
    ),
    "bugs": _struct(
        bug=TEXT, kafka=TEXT, runs=COUNT, kinds=TEXTS, checks=TEXTS, requirements=TEXTS, tests=TEXTS, example=TEXT
    ),
    "consistency": _struct(
        kafka=TEXT,
        topology=TEXT,
        check=TEXT,
        outcome=TEXT,
        kind=TEXT,
        verdicts=COUNT,
        conforming=COUNT,
        violating=COUNT,
        inconclusive=COUNT,
        not_applicable=COUNT,
        anomalies=COUNT,
        example=TEXT,
    ),
    "consistency_facts": _struct(
        kafka=TEXT, topology=TEXT, check=TEXT, fact=TEXT, verdicts=COUNT, total=DoubleType(), largest=DoubleType()
    ),
    "duration_statistics": _struct(
        kafka=TEXT,
        topology=TEXT,
        what=TEXT,
        name=TEXT,
        times=COUNT,
        median_ms=DoubleType(),
        p90_ms=DoubleType(),
        largest_ms=DoubleType(),
    ),
}
"""Table name -> its columns, in order: the Parquet folders below ``tables/``."""
