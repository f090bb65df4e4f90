"""Verdicts: SAFETY anomalies of client operations that no check of their own run reports."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.columns import shaped
from pytest_kmigrate.analysis.schemas.facts import FACTS
from pytest_kmigrate.checkers.clients.judged_by import JUDGED_BY
from pytest_kmigrate.model.verdict import Kind, Outcome

_CHECK_OF = {each.value: by.name for each, by in JUDGED_BY.items()}


def verdicts(anomalies: DataFrame, of_runs: DataFrame) -> DataFrame:
    """One verdict per run and class of SAFETY anomaly, save where a verdict ``of_runs`` says the same already.

    A test that fails on its way never asks what it would have asked at its end, and what its clients saw stays seen.
    """
    check_of = F.create_map(*[F.lit(text) for pair in _CHECK_OF.items() for text in pair])
    in_run = (
        anomalies.where(F.col("kind") == Kind.SAFETY.value)
        .groupBy("folder", "class")
        .agg(F.sum("count").alias("count"), F.min(F.struct("at_ns", "counterexample", "evidence")).alias("_first"))
        .withColumn("check", check_of[F.col("class")])
    )
    reported = of_runs.where(F.col("outcome") == Outcome.VIOLATES.name).select("folder", "check")
    sentence = F.col("_first.counterexample")
    values = {
        "check": F.concat(F.lit("operations: "), "class"),
        "outcome": F.lit(Outcome.VIOLATES.name),
        "kind": F.lit(Kind.SAFETY.value),
        "summary": sentence,
        # It names no requirement: operations speak for all that their run claims.
        "requirements": F.array(),
        "violations": F.array(
            F.struct(F.concat(F.lit("no "), "class"), sentence, "_first.at_ns", F.array("_first.evidence"))
        ),
        "facts": F.lit(None),
        "known_bugs": F.array(),
        "anomaly": F.lit(None),
        "counts": F.lit(col=True),
        "standing": F.lit(col=False),
        "about": F.lit(None),
    }
    return shaped(in_run.join(reported, ["folder", "check"], "left_anti"), FACTS["verdicts"], values)
