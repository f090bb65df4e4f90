"""Facts about what was observed: metrics, log lines, metadata images and their differences, znodes."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis import schemas, staging

WATCHED_ZNODES = ("/controller", "/controller_epoch", "/migration")
"""Who was in control, since when, and how far the migration was."""

_ABOUT_METADATA = "metadata"
"""Checks with this in their name compare ZooKeeper, the metadata log and the brokers."""


def metrics(samples: DataFrame) -> DataFrame:
    """One row per run, node and metric; samples in which a node did not have the metric are left out."""
    each = samples.select("folder", "node", "at_ns", F.explode("values").alias("metric", "value"))
    return (
        each.where(F.col("value").isNotNull())
        .groupBy("folder", "node", "metric")
        .agg(
            F.count("value").alias("samples"),
            F.min("at_ns").alias("first_ns"),
            F.max("at_ns").alias("last_ns"),
            F.min("value").alias("smallest"),
            F.percentile_approx("value", 0.5).alias("median"),
            F.max("value").alias("largest"),
            F.max_by("value", "at_ns").alias("last"),
        )
    )


def log_lines(staged: DataFrame) -> DataFrame:
    """One row per run, node, level and shape of line, with its first sighting; below WARN there is no shape."""
    text = F.when(F.col("level").isin(*staging.KEPT_LEVELS), F.col("text")).alias("text")
    # Two steps: the first hashes, and leaves little to the second, which has to sort because its first is a text.
    per_text = staged.groupBy("folder", "file", "level", text).agg(
        F.count("*").alias("lines"), F.min("line").alias("line")
    )
    shape = staging.harmless(staging.shape(F.col("text")))
    per_shape = (
        per_text.withColumns({"node": F.split_part("file", F.lit("/"), F.lit(2)), "shape": shape})
        .groupBy("folder", "node", "level", "shape")
        .agg(F.sum("lines").alias("lines"), F.min(F.struct("line", "text")).alias("_first"))
    )
    return per_shape.select(
        "folder",
        "node",
        "level",
        "shape",
        "lines",
        F.col("_first.line").alias("first_line"),
        staging.moment(F.col("_first.text")).alias("first_at"),
        staging.harmless(F.col("_first.text")).alias("example"),
    )


def metadata_differences(verdicts: DataFrame) -> DataFrame:
    """One row per fact of a verdict that compares the sides of the metadata."""
    about = verdicts.where(F.col("check").contains(_ABOUT_METADATA))
    facts = F.explode_outer(F.from_json("facts", schemas.FACTS_MAP)).alias("fact", "value")
    return about.select("folder", "check", "outcome", F.col("count").alias("differences"), facts)


def znode_changes(znodes: DataFrame) -> DataFrame:
    """One row per change of a znode that tells who is in control and how far the migration is."""
    columns = schemas.OBSERVATIONS["znode_changes"].names
    return znodes.where(F.col("path").isin(*WATCHED_ZNODES)).select(*columns)
