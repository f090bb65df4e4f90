"""What every schema is made of."""

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

TEXT = StringType()
TEXTS = ArrayType(TEXT)
COUNT = LongType()
NUMBER = DoubleType()
FLAG = BooleanType()
MOMENT = TimestampType()

CONDITION: dict[str, DataType] = {"profile": TEXT, "provider": TEXT, "kafka": TEXT, "topology": TEXT}
"""What a cluster was: runs that share it ran on the same kind of cluster."""

FAULTS: dict[str, DataType] = {"fault": TEXT, "phase": TEXT}
"""What was done to it, and in which phase."""


def struct(**columns: DataType) -> StructType:
    """Columns by name, in order, each nullable."""
    return StructType([StructField(name, kind) for name, kind in columns.items()])
