"""Code of Kafka: which of its lines were executed, in which tests, and which generated defects were noticed."""

from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, NUMBER, TEXT, TEXTS, struct

NUMBERS = ArrayType(COUNT)
_CODE = {"profile": TEXT, "kafka": TEXT, "class": TEXT}

EXERCISE: dict[str, StructType] = {
    "code_lines": struct(**_CODE, class_id=TEXT, source=TEXT, method=TEXT, line=COUNT, probes=NUMBERS),
    "exercised": struct(**_CODE, source=TEXT, method=TEXT, line=COUNT, runs=COUNT, tests=TEXTS),
    "exercised_classes": struct(
        **_CODE,
        source=TEXT,
        lines=COUNT,
        executed=COUNT,
        methods=COUNT,
        executed_methods=COUNT,
        never=NUMBERS,
        never_methods=TEXTS,
        tests=COUNT,
        other_files=COUNT,
    ),
    "mutation": struct(
        profile=TEXT,
        kafka=TEXT,
        seed=COUNT,
        mutant=TEXT,
        **{"class": TEXT},
        method=TEXT,
        line=COUNT,
        change=TEXT,
        test_id=TEXT,
        fate=TEXT,
        requirements=TEXTS,
        excused_by=TEXTS,
        seconds=NUMBER,
        seen=TEXT,
    ),
    "mutation_scores": struct(
        profile=TEXT,
        kafka=TEXT,
        seed=COUNT,
        drawn=COUNT,
        tried=COUNT,
        counted=COUNT,
        noticed=COUNT,
        never_executed=COUNT,
        share=NUMBER,
        share_low=NUMBER,
        share_high=NUMBER,
    ),
    "mutation_requirements": struct(profile=TEXT, kafka=TEXT, requirement=TEXT, mutants=COUNT, alone=COUNT),
}
"""Table name -> its columns, in order."""
