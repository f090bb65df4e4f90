"""Uploads: a run folder may be there in part, and what is missing is no evidence of anything."""

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from tests.bench.operations import synthetic_run, write_parts
from tests.spark.commands import counted
from tests.spark.run_folders import verdict, write_run


def test_a_run_whose_manifest_came_before_its_operations_is_judged_when_they_are_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Without the final reads everything would be lost: nothing is judged until they have come; this is reported."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    parts = write_run(runs, "uploaded", [verdict()]) / "operations"
    write_parts(synthetic_run(7, 2_000, is_faulty=False), parts)
    sha256 = {f"operations/{part.name}": hashlib.sha256(part.read_bytes()).hexdigest() for part in parts.iterdir()}
    (runs / "uploaded" / "manifest.json").write_text(json.dumps({"schema": 1, "sha256": sha256}))
    last = max(parts.glob("reader-*"))
    late = last.rename(tmp_path / last.name)

    first = counted(runs, out)

    report = json.loads((out / "report.json").read_text())
    reported = "manifest.json names it, but it is not there; no operation of this run is judged"
    rows = [(row["path"], row["reason"]) for row in report["set_aside"]]
    assert rows == [(f"uploaded/operations/{last.name}", reported)]
    assert [each["outcome"] for each in report["attempts"]] == ["CONFORMS"]
    assert (first.outcome, report["headline"]) == (
        Outcome.INCONCLUSIVE,
        "No violation in 1 run; 1 path set aside may change that",
    )
    for table in ("anomalies", "operation_counts", "checked_classes"):
        assert pq.read_table(out / "tables" / table).num_rows == 0

    late.rename(last)
    then = counted(runs, out)

    assert (then.read, then.outcome, then.set_aside) == (1, Outcome.CONFORMS, 0)
    assert pq.read_table(out / "tables" / "operation_counts").num_rows > 0
