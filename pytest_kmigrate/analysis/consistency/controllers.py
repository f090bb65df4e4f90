"""Controllers: what verdicts say of epochs and migration states, as anomalies beside those of client operations."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  # its name everywhere in PySpark

from pytest_kmigrate.analysis.schemas.columns import shaped
from pytest_kmigrate.analysis.schemas.consistency import CONSISTENCY
from pytest_kmigrate.model.verdict import Outcome


def with_anomaly(verdicts: DataFrame) -> DataFrame:
    """Verdicts with the class of anomaly that reports show if they violate; null where there is none."""
    return verdicts.withColumn("anomaly", F.nullif("anomaly", F.lit("")))


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
