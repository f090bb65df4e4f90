"""Code of Kafka: which of its lines were executed, in which tests."""

from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis.schemas.columns import COUNT, TEXT, TEXTS, struct

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
}
"""Table name -> its columns, in order."""
