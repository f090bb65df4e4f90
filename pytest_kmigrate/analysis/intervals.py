"""Intervals: how sure a counted share is."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.statistics.bounds import wilson_ends


def wilson_95(successes: Column, trials: Column) -> tuple[Column, Column]:
    """Lower and upper end of Wilson's score interval, of columns; null without a trial."""
    n = F.when(trials > 0, trials.cast("double"))
    low, high = wilson_ends(successes / n, n, F.sqrt)
    # Rounding could carry an end just past the possible; greatest and least would turn "no trial" into 0 and 1.
    return F.when(trials > 0, F.greatest(low, F.lit(0.0))), F.when(trials > 0, F.least(high, F.lit(1.0)))
