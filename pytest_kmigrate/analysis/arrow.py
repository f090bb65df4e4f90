"""Functions over Arrow arrays as functions of Spark's columns.

Spark's ``applyInArrow`` and ``mapInArrow`` hand over the same arrays, but whole tables of them: a function of one
column stands among others in a ``select`` or an ``agg``. Those two also refuse to be called where pandas is missing,
which is why this project requires it: ``consistency.tables`` calls both.
"""

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import DataType


def over_arrays(function: Callable[..., Any], gives: DataType) -> Callable[..., Column]:
    """The function for columns. By its type hints one from arrays to an array is for each row, any other a sum of all.

    The former is called with a batch of rows, the latter once with all rows of a group.
    """
    # Spark's type stubs do not know that type hints may stand for the kind of function.
    made: Callable[..., Column] = arrow_udf(function, gives)  # type: ignore[call-overload]
    return made
