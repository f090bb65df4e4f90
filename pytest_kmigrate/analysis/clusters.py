"""Clusters: failures that are one, worded differently by different runs, tests and versions."""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark
from pyspark.sql.types import ArrayType

from pytest_kmigrate.analysis.arrow import over_arrays
from pytest_kmigrate.analysis.messages import normal_form_of
from pytest_kmigrate.analysis.schemas.causes import CAUSES, MESSAGES
from pytest_kmigrate.analysis.schemas.columns import COUNT, TEXT, struct
from pytest_kmigrate.analysis.similarity import similar_groups
from pytest_kmigrate.checkers.run.doubts import SO_NOTHING_IS_PROVED
from pytest_kmigrate.model.verdict import Kind, Outcome

_ID_CHARACTERS = 12
_GROUPED = ArrayType(struct(normal_form=TEXT, times=COUNT, group=COUNT))


def failure_messages(verdicts: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per verdict of a counted run that reports something broken; of a run without verdicts, its summary.

    Violations, and answers that the harness or the machine prevented. VACUOUS ones are left out: nothing broke, a
    fault did not bite, and every check of the run says so in its own words. Of a doubted verdict only the reason is
    reported, which is what broke: what would have held but for that is another sentence for each check.
    """
    is_broken = (F.col("outcome") == Outcome.VIOLATES.name) | (
        (F.col("outcome") == Outcome.INCONCLUSIVE.name) & F.col("kind").isin(Kind.HARNESS.value, Kind.INFRA.value)
    )
    reported = F.trim(F.substring_index(F.coalesce("summary", F.lit("")), SO_NOTHING_IS_PROVED, 1))
    unjudged = attempts.join(verdicts.select("folder"), "folder", "left_anti")
    judged = verdicts.where("counts").join(attempts.select("folder"), "folder", "left_semi")
    every = [
        frame.where(is_broken & (reported != "")).select("folder", "check", "outcome", reported.alias("text"))
        for frame in (judged, unjudged)
    ]
    return every[0].unionByName(every[1])


def normalised(messages: DataFrame) -> DataFrame:
    """Each message (columns of ``MESSAGES``) with its normal form."""
    return messages.select(*MESSAGES.names, normal_form_of(F.col("text")).alias("normal_form"))


def failure_members(normal: DataFrame) -> DataFrame:
    """Each normalised message with the cluster it belongs to; they are looked at twice, so keep them."""
    named = clustered(normal.groupBy("normal_form").agg(F.count("*").alias("times")))
    return normal.join(named.drop("times"), "normal_form").select(*CAUSES["failure_members"].names)


def clustered(forms: DataFrame) -> DataFrame:
    """Distinct normal forms, each with its number of ``times``, and beside them the ``cluster`` they belong to.

    Spark has counted equal ones as one; only distinct ones, of which there are few however many messages there are,
    are compared with each other, in one task.
    """
    with_groups = over_arrays(_with_groups, _GROUPED)
    grouped = forms.agg(with_groups(F.struct("normal_form", "times")).alias("_all")).select(F.inline("_all"))
    in_group = Window.partitionBy("group").orderBy(F.desc("times"), "normal_form")
    named = grouped.select("normal_form", "times", F.first("normal_form").over(in_group).alias("_representative"))
    cluster = F.substring(F.sha2("_representative", 256), 1, _ID_CHARACTERS).alias("cluster")
    return named.select("normal_form", "times", cluster)


def _with_groups(forms: pa.Array) -> list[dict[str, Any]]:
    rows = forms.to_pylist()
    groups = similar_groups([row["normal_form"] for row in rows]).tolist()
    return [{**row, "group": group} for row, group in zip(rows, groups, strict=True)]


def failure_clusters(members: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per cluster: its most frequent text, when and where it was seen, and its newest run as an example."""
    runs = attempts.select("folder", "test_id", "kafka", "started_at", "timeline")
    newest = F.max(F.struct(F.col("started_at"), F.col("folder"), F.col("timeline")))
    seen = (
        members.join(runs, "folder", "left")
        .groupBy("cluster")
        .agg(
            # A violation among the members makes it one of the cluster's: VIOLATES sorts last of all outcomes.
            F.max("outcome").alias("outcome"),
            F.count("*").alias("failures"),
            F.count_distinct("folder").alias("runs"),
            F.array_sort(F.collect_set("test_id")).alias("tests"),
            F.array_sort(F.collect_set("kafka")).alias("kafka"),
            F.min("started_at").alias("first_at"),
            F.max("started_at").alias("last_at"),
            F.array_sort(F.collect_set("check")).alias("checks"),
            newest.alias("_newest"),
        )
    )
    return (
        seen.join(_representatives(members), "cluster")
        .withColumn("example_folder", F.col("_newest.folder"))
        .withColumn("example_timeline", F.col("_newest.timeline"))
        .select(*CAUSES["failure_clusters"].names)
    )


def _representatives(members: DataFrame) -> DataFrame:
    """The most frequent text of each cluster's most frequent normal form, and that form."""
    texts = members.groupBy("cluster", "normal_form", "text").agg(F.count("*").alias("_of_text"))
    of_form = Window.partitionBy("cluster", "normal_form")
    most_frequent = Window.partitionBy("cluster").orderBy(F.desc("_of_form"), "normal_form", F.desc("_of_text"), "text")
    return (
        texts.withColumn("_of_form", F.sum("_of_text").over(of_form))
        .withColumn("_place", F.row_number().over(most_frequent))
        .where(F.col("_place") == 1)
        .select("cluster", F.col("text").alias("representative"), "normal_form")
    )
