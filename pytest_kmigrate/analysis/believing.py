"""Believing: up to which p-value changes are reported, given all series of a table: some look changed by chance."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.schemas.columns import NUMBER
from pytest_kmigrate.analysis.statistics.arrays import Integers
from pytest_kmigrate.analysis.statistics.change_points import believable

Lines = Callable[..., Sequence[tuple[Integers, Any]]]
"""Makes of the columns of one series its lines of releases: the places of each, and what is looked at there."""


def with_limit(
    series: DataFrame, columns: Sequence[Column], lines: Lines, first_p_value: Callable[[Any], float | None]
) -> DataFrame:
    """The series with ``_limit``, the p-value up to which changes are believed; it is the same for all of them.

    ``first_p_value`` is that of the first change of a line; None if it cannot have changed, and then it is not counted.
    """

    def first_p_values(*values: Sequence[Any]) -> list[float]:
        found = (first_p_value(line) for _, line in lines(*values))
        return [each for each in found if each is not None]

    first = F.udf(first_p_values, ArrayType(NUMBER), useArrow=False)(*columns)
    limit = F.udf(_believable, NUMBER, useArrow=False)(F.flatten(F.collect_list("_first")))
    of_all = series.select(first.alias("_first")).agg(limit.alias("_limit"))
    return series.crossJoin(F.broadcast(of_all))


def _believable(p_values: Sequence[float]) -> float:
    return believable(np.array(p_values, np.float64))
