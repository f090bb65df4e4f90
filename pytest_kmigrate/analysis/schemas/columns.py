"""What every schema is made of, and how rows get the shape of one."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
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

FAULTS: dict[str, DataType] = {"fault": TEXT, "phase": TEXT, "role": TEXT}
"""What was done to it, in which phase, and to nodes of which roles."""

UNKNOWN = "unknown"
"""The value of an unknown condition, a phase or a role."""


def struct(**columns: DataType) -> StructType:
    """Columns by name, in order, each nullable."""
    return StructType([StructField(name, kind) for name, kind in columns.items()])


def no_texts() -> Column:
    """An empty list of texts."""
    return F.array().cast(TEXTS.simpleString())


def shaped(rows: DataFrame, schema: StructType, values: Mapping[str, Column]) -> DataFrame:
    """The rows as rows of a table: each column from ``values``, else the one of its name that they have already."""
    # A type as text: given as an object, PySpark looks for the session that reads it, in ten calls to the JVM.
    return rows.select(
        *[
            values.get(each.name, F.col(each.name)).cast(each.dataType.simpleString()).alias(each.name)
            for each in schema
        ]
    )
