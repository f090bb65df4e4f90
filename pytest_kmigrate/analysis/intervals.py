"""Intervals: how sure a counted share is."""

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.statistics.bounds import Z_95


def wilson_95(successes: Column, trials: Column) -> tuple[Column, Column]:
    """Lower and upper end of Wilson's score interval; null without a trial.

    Chosen over "rate plus or minus" because it stays honest where tests live: few runs, and rates near 0 or 1.
    """
    n = F.when(trials > 0, trials.cast("double"))
    rate = successes / n
    square = Z_95 * Z_95
    middle = (rate + square / (2 * n)) / (1 + square / n)
    half = (Z_95 / (1 + square / n)) * F.sqrt(rate * (1 - rate) / n + square / (4 * n * n))
    # Rounding could carry an end just past the possible; greatest and least would turn "no trial" into 0 and 1.
    low, high = F.greatest(middle - half, F.lit(0.0)), F.least(middle + half, F.lit(1.0))
    return F.when(trials > 0, low), F.when(trials > 0, high)
