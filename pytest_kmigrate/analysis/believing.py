"""Believing: up to which p-value changes are told, given all series of a table: of many some look changed by chance."""

from collections.abc import Sequence

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.columns import NUMBER
from pytest_kmigrate.analysis.statistics.change_points import believable


def with_limit(series: DataFrame, first_p_values: Column) -> DataFrame:
    """The series with ``_limit``, the p-value up to which changes are believed; it is the same for all of them.

    ``first_p_values`` is an array per series: that of the first change of each line of releases that can have changed.
    """
    limit = F.udf(_believable, NUMBER, useArrow=False)(F.flatten(F.collect_list("_first")))
    of_all = series.select(first_p_values.alias("_first")).agg(limit.alias("_limit"))
    return series.crossJoin(F.broadcast(of_all))


def _believable(p_values: Sequence[float]) -> float:
    return believable(np.array(p_values, np.float64))
