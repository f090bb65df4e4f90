"""How many generated mutants were noticed, and by which requirements."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.analysis.intervals import interval_95
from pytest_kmigrate.model.mutants import UNCOUNTED, Fate

_SAMPLE = ("profile", "kafka", "seed")
_FATES = [each.value for each in Fate]


def mutation_scores(mutation: DataFrame) -> DataFrame:
    """One row per sample: how many mutants were drawn, tried and noticed, and the share with its interval.

    Of several tests of a mutant the best counts; equivalent mutants, and those that no JVM takes, count for nothing.
    """
    places = [F.when(F.col("fate") == fate, F.lit(place)) for place, fate in enumerate(_FATES)]
    of_mutant = mutation.groupBy(*_SAMPLE, "mutant").agg(F.min(F.coalesce(*places)).alias("place"))
    fates = [F.when(F.col("place") == place, F.lit(fate)) for place, fate in enumerate(_FATES)]
    fate = of_mutant.withColumn("fate", F.coalesce(*fates))
    is_counted = F.col("fate").isNotNull() & ~F.col("fate").isin([each.value for each in UNCOUNTED])
    counted = fate.groupBy(*_SAMPLE).agg(
        F.count("*").alias("drawn"),
        F.count("fate").alias("tried"),
        F.count_if(is_counted).alias("counted"),
        F.count_if(F.col("fate") == Fate.KILLED.value).alias("noticed"),
        F.count_if(F.col("fate") == Fate.NOT_EXECUTED.value).alias("never_executed"),
    )
    low, high = interval_95(F.col("noticed"), F.col("counted"))
    share = F.when(F.col("counted") > 0, F.col("noticed") / F.col("counted"))
    shares = {"share": share, "share_low": low, "share_high": high}
    return counted.withColumns(shares).select(*schemas.TABLES["mutation_scores"].names)


def mutation_requirements(mutation: DataFrame) -> DataFrame:
    """One row per requirement that noticed a mutant: how many, and how many of them no other requirement noticed.

    A mutant that two samples drew counts once.
    """
    killed = mutation.where(F.col("fate") == Fate.KILLED.value)
    of_mutant = killed.groupBy("profile", "kafka", "mutant").agg(
        F.array_distinct(F.flatten(F.collect_list("requirements"))).alias("requirements")
    )
    each = of_mutant.select(
        "profile",
        "kafka",
        (F.size("requirements") == 1).alias("is_alone"),
        F.explode("requirements").alias("requirement"),
    )
    counted = each.groupBy("profile", "kafka", "requirement").agg(
        F.count("*").alias("mutants"), F.count_if("is_alone").alias("alone")
    )
    return counted.select(*schemas.TABLES["mutation_requirements"].names)
