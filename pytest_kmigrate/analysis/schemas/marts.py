"""Marts: the tables people look at, below ``tables/``."""

from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis.schemas.columns import CONDITION, COUNT, FAULTS, NUMBER, TEXT, TEXTS, struct

_STATISTICS = {
    "runs": COUNT,
    "conforming": COUNT,
    "violating": COUNT,
    "inconclusive": COUNT,
    "not_applicable": COUNT,
    "safety_violations": COUNT,
    "pass_rate": NUMBER,
    "pass_rate_low": NUMBER,
    "pass_rate_high": NUMBER,
    "duration_median_ms": NUMBER,
    "duration_p90_ms": NUMBER,
}

MARTS: dict[str, StructType] = {
    "cells": struct(test_id=TEXT, requirement=TEXT, **CONDITION, **FAULTS, **_STATISTICS, standing=TEXT),
    "tests": struct(test_id=TEXT, **CONDITION, **_STATISTICS, standing=TEXT),
    "requirements": struct(
        requirement=TEXT,
        profile=TEXT,
        kafka=TEXT,
        **_STATISTICS,
        standing=TEXT,
        judged_by=TEXTS,
        violated_by=TEXTS,
    ),
    "requirement_outcomes": struct(
        requirement=TEXT, profile=TEXT, kafka=TEXT, outcome=TEXT, known_bugs=TEXTS, runs=COUNT
    ),
    "fault_effects": struct(
        fault=TEXT, phase=TEXT, kafka=TEXT, injected=COUNT, witnessed=COUNT, conforming=COUNT, violating=COUNT
    ),
    "bugs": struct(
        bug=TEXT, kafka=TEXT, runs=COUNT, kinds=TEXTS, checks=TEXTS, requirements=TEXTS, tests=TEXTS, example=TEXT
    ),
    "consistency": struct(
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
        anomaly=TEXT,
        example=TEXT,
    ),
    "consistency_facts": struct(
        kafka=TEXT, topology=TEXT, check=TEXT, fact=TEXT, verdicts=COUNT, total=NUMBER, largest=NUMBER
    ),
    "duration_statistics": struct(
        **CONDITION,
        what=TEXT,
        name=TEXT,
        times=COUNT,
        median_ms=NUMBER,
        p90_ms=NUMBER,
        largest_ms=NUMBER,
    ),
    "growth": struct(
        **CONDITION,
        measure=TEXT,
        unit=TEXT,
        of=TEXT,
        points=ArrayType(struct(size=NUMBER, median=NUMBER, times=COUNT)),
        at_zero=NUMBER,
        per_one=NUMBER,
        r_squared=NUMBER,
        beyond=NUMBER,
        extrapolated=NUMBER,
    ),
}
"""Table name -> its columns, in order."""
