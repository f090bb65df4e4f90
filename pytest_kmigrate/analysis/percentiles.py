"""Exact percentiles of groups, from their sorted values.

Spark's own ``percentile`` keeps a hash map of every value of a group, another one for each share that is asked for, and
sends them row by row. A list is smaller, travels as plain numbers, and serves any number of shares.
"""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark


def ascending(values: Column) -> Column:
    """All values of a group but null, smallest first: an aggregate, for ``percentile``."""
    return F.sort_array(F.collect_list(values))


def percentile(ordered: Column, share: float) -> Column:
    """The value so far up the ordered ones, in proportion between two of them; null where there are none."""
    place = (F.size(ordered) - 1) * F.lit(share)
    below = F.floor(place).cast("int")
    low, high = F.get(ordered, below), F.get(ordered, F.ceil(place).cast("int"))
    return low + (place - below) * (high - low)
