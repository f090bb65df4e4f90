"""Controllers: what verdicts say of epochs and migration states, as anomalies beside those of client operations."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.columns import shaped
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from pytest_kmigrate.model.verdict import Outcome

_CLASS_OF_01 = {
    "one_active_controller_per_epoch": "two controllers in one epoch",
    "controller_epoch_never_falls": "falling controller epoch",
    "migration_state_moves_along_legal_edges": "illegal migration state",
    "migration_znode_never_moves_back": "migration znode moves back",
    "controller_znodes_tell_who_and_how_far": "wrong controller znode",
    "copy_is_one_transaction": "copy outside its transaction",
    "migration_metrics_agree_with_the_log": "metric unlike the log",
}
"""The check of a run -> the class that reports show, in folders of version 0.1; later ones name it in each verdict."""


def with_anomaly(verdicts: DataFrame) -> DataFrame:
    """Verdicts with the class of anomaly that reports show if they violate; null where there is none."""
    class_of = F.create_map(*[F.lit(text) for pair in _CLASS_OF_01.items() for text in pair])
    named = F.when(F.col("anomaly").isNull(), class_of[F.col("check")]).otherwise(F.nullif("anomaly", F.lit("")))
    return verdicts.withColumn("anomaly", named)


def controller_anomalies(of_runs: DataFrame) -> DataFrame:
    """One row (of ``anomalies``) per verdict that a controller did what none may, and that nothing known explains."""
    is_new = (F.col("outcome") == Outcome.VIOLATES.name) & (F.size("known_bugs") == 0)
    violated = of_runs.where(is_new & F.col("anomaly").isNotNull())
    first = F.get("violations", F.lit(0))
    values = {
        "class": F.col("anomaly"),
        "topic": F.lit(None),
        "partition": F.lit(None),
        "counterexample": F.col("summary"),
        "at_ns": first["at_ns"],
        "evidence": F.concat_ws(", ", first["evidence"]),
    }
    return shaped(violated, CONSISTENCY["anomalies"], values)
