"""Logs: which warnings, errors and exceptions of all runs are one, and which of them go with failures."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.associations import (
    ALL_RUNS,
    answered,
    in_populations,
    named,
    ran,
    seen_associations,
    violated,
)
from pytest_kmigrate.analysis.clusters import clustered
from pytest_kmigrate.analysis.facts import role_of
from pytest_kmigrate.analysis.schemas.causes import CAUSES
from pytest_kmigrate.analysis.staging import message
from pytest_kmigrate.model.verdict import Outcome

_FACTOR = "log line"


def log_forms(log_lines: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per shape of line in counted runs: how many lines have it, and the template of which it is a form.

    Templates are to log lines what clusters are to failures, and are made in the same way.
    """
    of_runs = _told(log_lines).join(attempts, "folder", "left_semi")
    times = of_runs.groupBy(F.col("shape").alias("normal_form")).agg(F.sum("lines").alias("times"))
    return clustered(times).select(
        F.col("cluster").alias("template"), F.col("normal_form").alias("shape"), F.col("times").alias("lines")
    )


def log_templates(log_lines: DataFrame, forms: DataFrame, attempts: DataFrame) -> DataFrame:
    """One row per template: where and when it was seen, and a line of its newest run in its most frequent form."""
    runs = attempts.select("folder", "test_id", "kafka", "started_at", "timeline")
    of_forms = forms.select("template", "shape", F.col("lines").alias("_of_form"))
    place = ("folder", "node", F.col("first_line").alias("line"), "example", "timeline")
    seen = (
        _told(log_lines)
        .join(of_forms, "shape")
        .join(runs, "folder")
        .groupBy("template")
        .agg(
            *[F.array_sort(F.collect_set(column)).alias(name) for name, column in _spread().items()],
            F.sum("lines").alias("lines"),
            F.count_distinct("folder").alias("runs"),
            F.min("started_at").alias("first_at"),
            F.max("started_at").alias("last_at"),
            F.max(F.struct("_of_form", "shape", "started_at", *place)).alias("_shown"),
        )
    )
    shown = {"representative": message(F.col("_shown.example")), "normal_form": F.col("_shown.shape")}
    shown |= {f"example_{name}": F.col(f"_shown.{name}") for name in ("folder", "node", "line", "timeline")}
    return seen.withColumns(shown).select(*CAUSES["log_templates"].names)


def log_signs(log_lines: DataFrame, forms: DataFrame, attempts: DataFrame, members: DataFrame) -> DataFrame:
    """One row per failure and template that runs with the failure have: how much more often than runs without it.

    A failure (``what``) is any violation (``run``), counted over the runs that gave an answer, or a ``cluster`` of
    messages, counted over all that ran. Runs whose logs are not there say nothing.
    """
    failed = [_any_violation(violated(attempts)), named("cluster", F.col("cluster"), members)]
    could = [_any_violation(answered(attempts)), named("cluster", F.lit(ALL_RUNS), ran(attempts))]
    factor = F.lit(_FACTOR).alias("factor")
    of_runs = log_lines.join(attempts, "folder", "left_semi")
    had = _told(of_runs).join(forms, "shape").select("folder", factor, F.col("template").alias("level")).distinct()
    known = of_runs.select("folder", factor)
    signs = seen_associations(in_populations(failed, could), had, known, attempts)
    return signs.withColumnRenamed("level", "template").select(*CAUSES["log_signs"].names)


def _told(log_lines: DataFrame) -> DataFrame:
    """Lines whose words are kept."""
    return log_lines.where(F.col("shape").isNotNull())


def _spread() -> dict[str, Column]:
    return {
        "levels": F.col("level"),
        "roles": role_of(F.col("node")),
        "tests": F.col("test_id"),
        "kafka": F.col("kafka"),
    }


def _any_violation(attempts: DataFrame) -> DataFrame:
    return named("run", F.lit(Outcome.VIOLATES.name), attempts)
