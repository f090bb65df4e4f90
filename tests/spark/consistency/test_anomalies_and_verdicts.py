"""Anomalies and verdicts: what clients saw makes a run's outcome, what controllers did is reported beside it."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from tests.spark.commands import counted
from tests.spark.run_folders import Line, verdict, write_operations, write_run
from tests.unit.checkers.histories import read_back, sent

LOST = "record 1 of producer 1 was acknowledged at orders-0 offset 1"
TEST = "suites/test_changes.py::test_partitions_are_added"
CLAIMED = ["K866-DW-partitions-add", "K866-RPC-umr-on-change"]
TWO_CONTROLLERS = "two controllers in one epoch"
EPOCHS, TWO_IN_ONE = "one_active_controller_per_epoch", "epoch 4 had 2 active controllers: 3000 and 3001"
_STEP_FAILED = verdict("steps_completed", "VIOLATES", "LIVENESS", requirements=CLAIMED[:1])


def _run(runs: Path, name: str, day: int, *verdicts: Line, is_lossy: bool = False, **more: Any) -> Path:
    """A run of one test that wrote two records; of a lossy one the second is gone in the final read."""
    header = {"test_id": TEST, "requirements": CLAIMED, "started_at": f"2026-03-0{day}T10:00:00Z", **more}
    folder = write_run(runs, name, verdicts, **header)
    kept = (0,) if is_lossy else (0, 1)
    write_operations(folder / "operations" / "clients-1.parquet", sent(0), sent(1), *(read_back(at) for at in kept))
    return folder


@pytest.fixture(scope="module")
def night(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[AnalysisResult, dict[str, Any]]:
    """Three runs under equal conditions, the second of which failed on its way and never asked what was lost.

    Beside them a run that reported what it lost, and two of another test, one with two active controllers in one epoch.
    """
    runs = tmp_path_factory.mktemp("runs")
    _run(runs, "green-1", 1, verdict())
    _run(runs, "untold", 2, _STEP_FAILED, is_lossy=True)
    _run(runs, "green-2", 3, verdict())
    said = verdict(outcome="VIOLATES", kind="SAFETY", known_bugs=["kmigrate-4"], summary="1 of 2 records lost")
    _run(runs, "told", 4, said, is_lossy=True, test_id="suites/test_changes.py::test_told")
    seen = {"expected": "one", "observed": "two", "at_ns": 9_000_000_000, "evidence": ["event 4", "event 7"]}
    two = verdict(EPOCHS, "VIOLATES", "SAFETY", summary=TWO_IN_ONE, violations=[seen], anomaly=TWO_CONTROLLERS)
    _run(runs, "two", 5, two, test_id=f"{TEST}_again")
    _run(runs, "one", 6, verdict(EPOCHS), test_id=f"{TEST}_again")
    out = tmp_path_factory.mktemp("out")
    result = analyze(str(runs), out)
    return result, json.loads((out / "report.json").read_text())


def test_a_lost_write_that_no_check_judged_is_the_outcome_of_its_run(
    night: tuple[AnalysisResult, dict[str, Any]],
) -> None:
    """The run that failed on its way is a SAFETY violation in every count, and the sentence says what was lost."""
    result, report = night
    assert result.outcome is Outcome.VIOLATES
    known = "1 more met known defects of Kafka"
    assert report["headline"] == f"2 of 6 runs broke a safety requirement; {known}"
    (untold,) = [each for each in report["attempts"] if each["folder"] == "untold"]
    assert [untold[name] for name in ("outcome", "kind", "check")] == ["VIOLATES", "SAFETY", "operations: lost write"]
    assert untold["summary"].startswith(LOST)


def test_a_lost_write_is_never_called_flaky(night: tuple[AnalysisResult, dict[str, Any]]) -> None:
    """Two green runs and one that lost a record, under equal conditions: SAFETY, for the test and all it claims."""
    _, report = night
    of_test = [row for table in ("tests", "flakiness") for row in report[table] if row["test_id"] == TEST]
    assert [row["standing"] for row in of_test] == ["SAFETY", "SAFETY"]
    of_claims = {row["requirement"]: row["standing"] for row in report["requirements"]}
    assert [of_claims[name] for name in CLAIMED] == ["SAFETY", "SAFETY"]
    first = report["attention"][0]
    assert (first["level"], first["test_id"], first["check"]) == ("SAFETY", TEST, "operations: lost write")


def test_what_a_verdict_of_the_run_says_already_is_not_said_again(
    night: tuple[AnalysisResult, dict[str, Any]],
) -> None:
    """A lost record that its run judged is reported once, in the run's words, and with the bug that explains it."""
    _, report = night
    (reported,) = [each for each in report["attempts"] if each["folder"] == "told"]
    assert (reported["check"], reported["known_bugs"]) == ("no_acked_record_lost", ["kmigrate-4"])
    assert [row["violating"] for row in report["consistency"] if row["check"] == "operations: lost write"] == [1]


def test_runs_that_are_not_counted_make_no_outcome(spark: SparkSession, tmp_path: Path) -> None:
    """A lossy run whose header is damaged is set aside, and a copy counts once, whenever it is read."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    lossy = _run(runs, "lossy", 1, verdict(), is_lossy=True)
    damaged = _run(runs, "damaged", 1, verdict(), is_lossy=True)
    (damaged / "run.json").write_text("{")
    counted(runs, out)
    _run(runs, "other", 2, verdict())
    _run(runs, "same-as-lossy", 1, verdict(), is_lossy=True, run_id=lossy.name)

    again = analyze(str(runs), out)

    report = json.loads((out / "report.json").read_text())
    ends = {each["folder"]: (each["outcome"], each["kind"]) for each in report["attempts"]}
    assert again.read == 2
    assert ends == {"lossy": ("VIOLATES", "SAFETY"), "other": ("CONFORMS", None)}
    assert report["totals"]["safety_violations"] == 1
    assert [each["failures"] for each in report["failure_clusters"]] == [1]
    assert "damaged" not in pq.read_table(out / "tables" / "verdicts")["folder"].to_pylist()


def test_what_a_controller_did_is_a_class_beside_those_of_operations(
    night: tuple[AnalysisResult, dict[str, Any]],
) -> None:
    """Two active controllers in one epoch, as a check of the run found them: counted, listed and placed in time."""
    _, report = night
    classes = {row["class"]: row for row in report["anomaly_classes"]}
    assert classes.keys() == {"lost write", TWO_CONTROLLERS}
    row = classes[TWO_CONTROLLERS]
    assert [row[name] for name in ("kind", "runs", "anomalies")] == ["SAFETY", 1, 1]
    (example,) = row["examples"]
    reported = ("folder", "counterexample", "at_ns", "evidence")
    assert [example[name] for name in reported] == ["two", TWO_IN_ONE, 9_000_000_000, "event 4, event 7"]
