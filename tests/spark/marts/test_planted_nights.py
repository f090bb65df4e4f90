"""Nights in which everything is planted at once: one analysis, by the command, finds all of it and nothing else."""

import datetime as dt
import json
import sys
from typing import Any

import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.cli import main
from tests.bench.planting.night_folders import Truth, write_nights
from tests.bench.planting.nights import Cause, Change, Plan, nights

SURE_Q = 0.05
FLAKY_RATE = 0.4
PLAN = Plan(
    tests=3,
    nights=18,
    faults=2,
    phases=2,
    kafkas=("3.8.1", "3.9.1"),
    rates=(FLAKY_RATE,) * 4 + (0.0,) * 8,
    cause=Cause(fault=0, phase=1, added_rate=0.5),
    changes=(Change(cell=6, night=9, rate=1.0),),
    outages=(4,),
    sound_histories_every=25,
    broken_histories=(35, 118),
)
"""The first test flakes; the second breaks in one cell with the last version; the cause makes all three flake."""

Planted = tuple[Truth, dict[str, Any]]


@pytest.fixture(scope="module")
def planted(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """What was planted, and what ``report.json`` says of it."""
    runs, out = tmp_path_factory.mktemp("runs"), tmp_path_factory.mktemp("out")
    truth = write_nights(nights(1, PLAN), runs)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "argv", ["kmigrate", "analyze", str(runs), "--out", str(out)])
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 1
    return truth, json.loads((out / "report.json").read_text())


def _cell(row: dict[str, Any]) -> tuple[str, str, str]:
    return (row["test_id"], row["fault"], row["phase"])


def test_every_run_is_counted(planted: Planted) -> None:
    """The generator writes folders as the recorder does: nothing of them is set aside."""
    _, report = planted
    assert report["set_aside"] == []
    assert report["totals"]["runs"] == PLAN.cells * PLAN.nights


def test_what_flakes_is_called_flaky(planted: Planted) -> None:
    """Exactly the cells in which chance decides; what broke for good, or lost a record, is called by its own name."""
    truth, report = planted
    cells = {standing: {_cell(row) for row in report["flakiness"] if row["standing"] == standing}
             for standing in ("FLAKY", "VIOLATES", "SAFETY")}  # fmt: skip
    of_broken = {_cell(row) for row in report["attempts"] if row["folder"] in truth.broken_histories}

    assert cells == {"FLAKY": truth.flaky, "VIOLATES": truth.changes.keys(), "SAFETY": of_broken}


def test_what_changed_is_found_with_version_and_commit(planted: Planted) -> None:
    """One change, from the first commit of the version that brought it; nothing takes longer than before."""
    truth, report = planted
    assert {_cell(row): (row["since_kafka"], row["since_commit"]) for row in report["change_points"]} == truth.changes
    assert {_cell(row) for row in report["requirement_changes"]} == truth.changes.keys()
    assert report["trend_changes"] == []


def test_the_outage_is_set_aside_and_no_other_night(planted: Planted) -> None:
    """By its date."""
    truth, report = planted
    assert {dt.date.fromisoformat(row["night"]) for row in report["infra_nights"]} == truth.outages


def test_every_anomaly_is_counted_with_a_counterexample(planted: Planted) -> None:
    """Class by class as many as were planted, in the runs whose histories are broken; sound ones show none."""
    truth, report = planted
    classes = [row for row in report["anomaly_classes"] if row["kind"] is not None]
    counted = dict.fromkeys(truth.anomalies, 0)
    for row in classes:
        counted[row["class"]] = counted.get(row["class"], 0) + row["anomalies"]
    examples = [each for row in classes for each in row["examples"]]

    assert counted == dict(truth.anomalies)
    assert {each["folder"] for each in examples} == truth.broken_histories
    assert all(each["counterexample"] for each in examples)
    assert report["totals"]["safety_violations"] == len(truth.broken_histories)


def test_every_failure_is_one_cluster(planted: Planted) -> None:
    """Of as many runs as said it, in whatever numbers; the others have broken histories."""
    truth, report = planted
    clusters: dict[str, list[set[str]]] = {}
    for cluster in report["failure_clusters"]:
        members = [row for row in report["failure_members"] if row["cluster"] == cluster["cluster"]]
        for check in {row["check"] for row in members}:
            clusters.setdefault(check, []).append({row["folder"] for row in members})
    of_operations = {check: clusters.pop(check) for check in list(clusters) if check.startswith("operations: ")}

    assert clusters == {check: [folders] for check, folders in truth.failures.items()}
    assert {folder for found in of_operations.values() for folder in set.union(*found)} == truth.broken_histories


def test_every_cause_is_ranked_first_and_none_invented(planted: Planted) -> None:
    """Failures that were caused have their cause first, and surely; of the others none is surely first."""
    truth, report = planted
    check_of = {row["cluster"]: row["check"] for row in report["failure_members"]}
    first: dict[str, set[str]] = {}
    for row in report["causes"]:
        is_raised = row["lift"] is None or row["lift"] > 1
        if row["what"] == "cluster" and row["rank"] == 1 and row["q_value"] <= SURE_Q and is_raised:
            first.setdefault(check_of[row["failure"]], set()).add(row["level"])

    assert first.keys() == truth.causes.keys()
    assert first["check_of_cause"] == truth.causes["check_of_cause"]
    assert first["check_of_change"] <= truth.causes["check_of_change"]
