"""Facts about what was observed: metrics, log lines, metadata images and their differences, znodes."""

import json
from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType, StructType

from pytest_kmigrate.analysis import schemas, staging
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from pytest_kmigrate.checkers.metadata.divergence import Taken, divergences
from pytest_kmigrate.model.event import EventKind
from pytest_kmigrate.model.image import FAMILIES, MetadataImage

_LONGEST_VALUE = 200
_NS_PER_MS = 1_000_000
_DIVERGENCE = StructType(CONSISTENCY["metadata_divergences"].fields[1:])

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


def metadata_images(images: DataFrame) -> DataFrame:
    """One row per image that could be read."""
    return images


def executions(staged: DataFrame) -> DataFrame:
    """One row per run and class file: the places of it that any node executed, by JaCoCo's number."""
    places = F.array_sort(F.array_distinct(F.flatten(F.collect_list("executed")))).alias("executed")
    return staged.groupBy("folder", "class_name", "class_id").agg(places)


def log_lines(staged: DataFrame) -> DataFrame:
    """One row per run, node, level and shape of line, with its first sighting; below WARN there is no shape."""
    shaped = {"node": F.split_part("file", F.lit("/"), F.lit(2)), "shape": staging.harmless(F.col("normal_form"))}
    per_shape = (
        staged.withColumns(shaped)
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


def metadata_divergences(images: DataFrame, events: DataFrame) -> DataFrame:
    """One row per difference between two sides of the metadata, as long as it lasted; see ``checkers.divergence``.

    ``images`` are files, whole (``FILES``), ``events`` those of ``facts.phases``. An image that cannot be read, or that
    no event has the time of, is left out; the former is set aside elsewhere. Values that no side has, which cannot be
    compared, cost their run's differences.
    """
    taken = events.where(F.col("kind") == EventKind.SNAPSHOT.value).groupBy(
        "folder", F.col("data.label").alias("label")
    )
    # A label that was used again names the newer image, whose file took the place of the older.
    times = taken.agg(F.max(F.struct("at_ns", F.coalesce("data.began_ns", F.lit(0)).alias("began_ns"))).alias("_at"))
    label = F.regexp_extract("file", r"([^/]+)\.json$", 1).alias("label")
    timed = images.select("folder", label, "text").join(times, ["folder", "label"])
    of_run = timed.groupBy("folder").agg(
        F.collect_list(F.struct("label", "text", "_at.began_ns", "_at.at_ns")).alias("_images")
    )
    found = F.udf(_divergences, ArrayType(_DIVERGENCE), useArrow=False)
    return of_run.select("folder", F.inline(found("_images")))


def _divergences(images: Sequence[tuple[str, str, int, int]]) -> list[tuple[object, ...]]:
    taken = [
        Taken(label.rpartition("-")[0] or label, image, began_ns, at_ns)
        for label, text, began_ns, at_ns in images
        if (image := _image(text)) is not None
    ]
    try:
        return _lasting(taken)
    except (TypeError, RecursionError):
        return []


def _lasting(taken: Sequence[Taken]) -> list[tuple[object, ...]]:
    return [
        (
            each.left,
            each.right,
            each.first.family,
            each.first.subject,
            _value(each.first.left),
            _value(each.first.right),
            each.moments,
            each.first_moment,
            each.first_ns,
            each.last_ns,
            each.at_least_ns / _NS_PER_MS,
            None if each.at_most_ns is None else each.at_most_ns / _NS_PER_MS,
        )
        for each in divergences(taken)
    ]


def _image(text: str) -> MetadataImage | None:
    try:
        image = MetadataImage(**json.loads(text))
    except (ValueError, TypeError, RecursionError):
        return None
    is_told = isinstance(image.source, str) and isinstance(image.known, list | tuple)
    is_named = is_told and all(isinstance(each, str) for each in image.known)
    return image if is_named and all(isinstance(getattr(image, each), dict) for each in FAMILIES) else None


def _value(value: object) -> str | None:
    return None if value is None else json.dumps(value, sort_keys=True)[:_LONGEST_VALUE]


def znode_changes(znodes: DataFrame) -> DataFrame:
    """One row per change of a znode that the run's document watches."""
    return znodes.select(*schemas.OBSERVATIONS["znode_changes"].names)


def figures(in_phases: DataFrame) -> DataFrame:
    """One row per figure that a test measured at a size."""
    columns = [F.col(f"data.{name}") for name in schemas.TABLES["figures"].names[1:]]
    return in_phases.where(F.col("kind") == EventKind.FIGURE.value).select("folder", *columns)
