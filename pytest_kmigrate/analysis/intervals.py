"""Intervals: how sure a counted share is."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.statistics.bounds import DOUBT, wilson_ends


def interval_95(successes: Column, trials: Column) -> tuple[Column, Column]:
    """Lower and upper end of the 95 % interval of a share, of columns, as in ``bounds``; null without a trial."""
    n = F.when(trials > 0, trials.cast("double"))
    low, high = wilson_ends(successes / n, n, F.sqrt)
    none, every = successes == 0, successes == trials
    # The bound after as many clean runs, from the other end.
    rest = F.pow(F.lit(DOUBT), 1 / n)
    low = F.when(none, F.lit(0.0)).when(every, rest).otherwise(low)
    high = F.when(every, F.lit(1.0)).when(none, 1 - rest).otherwise(high)
    return F.when(trials > 0, low), F.when(trials > 0, high)
