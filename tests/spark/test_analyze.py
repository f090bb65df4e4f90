"""The whole analysis: run folders in, tables, JSON and a page out."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.analysis import schemas
from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from tests.spark.run_folders import fault, migration, verdict, write_run


@pytest.fixture(scope="module")
def night(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[AnalysisResult, list[str]]:
    """Four runs of one test (green, red, green, interrupted), a broken one, a torn line and a stranger, analyzed."""
    runs = tmp_path_factory.mktemp("a night [1] of 100 % + more")
    red = verdict("controller_moves", "VIOLATES", "LIVENESS", known_bugs=["KAFKA-16121"], count=2, summary="<31 s>")
    green = verdict(facts={"acknowledged": 1_000})
    write_run(runs, "run 1", [green], migration(fault(11_000)), seed=1, has_timeline=True)
    write_run(runs, "first/run+2", [green, red], migration(fault(11_000)), seed=2, started_at="2026-03-01T11:00:00Z")
    write_run(runs, "run3", [green], migration(fault(11_000)), seed=3, started_at="2026-03-01T12:00:00Z")
    write_run(runs, "run4", [], migration(fault(11_000))[:8], is_complete=False, started_at="2026-03-01T13:00:00Z")
    with (runs / "run4" / "history.jsonl").open("a") as history:
        history.write('{"seq": 8, "at_')
    broken = write_run(runs, "run5", [green])
    (broken / "run.json").write_text('{"schema": 1, "run_id"')
    (runs / "notes").mkdir()
    said: list[str] = []
    result = analyze(str(runs), tmp_path_factory.mktemp("out") / "my [1] report, 100 %20", progress=said.append)
    return result, said


@pytest.fixture(scope="module")
def report(night: tuple[AnalysisResult, list[str]]) -> dict[str, Any]:
    """What ``report.json`` says."""
    read: dict[str, Any] = json.loads(night[0].report.read_text())
    return read


def test_the_result_says_how_it_ended_and_where_things_lie(night: tuple[AnalysisResult, list[str]]) -> None:
    """A violation makes the outcome VIOLATES; every good run is counted although others are broken."""
    result, said = night
    assert (result.outcome, result.runs, result.set_aside) == (Outcome.VIOLATES, 4, 4)
    assert all(path.exists() for path in (result.page, result.report, result.tables))
    assert said[1] == "reading 5 runs"
    shares = [sentence for sentence in said if sentence.startswith("counting: ") and sentence.endswith(" %")]
    assert 3 <= len(shares) <= 6
    assert said.index(shares[-1]) < said.index("writing the page")
    assert set(result.seconds) == {"spark_start", "facts", "marts", "page"}


def test_every_table_is_written_with_its_schema(night: tuple[AnalysisResult, list[str]]) -> None:
    """All declared tables are there, with the declared columns in order, and nothing unfinished is left beside them.

    Kept facts lie in batches, which a reader sees as one column more.
    """
    result, _ = night
    written = {path.name: pq.read_table(path).column_names for path in result.tables.iterdir()}
    batch = {name: ["batch"] for name in schemas.KEPT}
    declared = {name: schema.names + batch.get(name, []) for name, schema in schemas.TABLES.items()}
    assert written == {**declared, "ingested": schemas.INGESTED.names}
    assert {path.name for path in result.page.parent.iterdir()} <= {
        "tables",
        "report.json",
        "report.md",
        "index.html",
        "spark.log",
        ".lock",
    }


def test_the_flaky_test_is_found(report: dict[str, Any]) -> None:
    """Two green, one red, one interrupted, all under the same fault in the same phase."""
    (test,) = report["tests"]
    counted = [test[name] for name in ("runs", "conforming", "violating", "inconclusive", "standing")]
    assert counted == [4, 2, 1, 1, "FLAKY"]
    assert test["pass_rate"] == pytest.approx(2 / 3)
    assert [(cell["fault"], cell["phase"], cell["runs"], cell["clean_runs"]) for cell in report["cells"]] == [
        ("kill(active-controller)", "HYBRID", 4, 1)
    ]
    assert 0 < report["cells"][0]["shrunk_rate"] < 1


def test_attempts_are_in_order_and_the_interrupted_one_says_so(report: dict[str, Any]) -> None:
    """Attempts are numbered by the time they started; the kind and reason of an interruption are reported."""
    reported = [(each["folder"], each["attempt"], each["outcome"], each["kind"]) for each in report["attempts"]]
    assert reported == [
        ("run 1", 1, "CONFORMS", None),
        ("first/run+2", 2, "VIOLATES", "LIVENESS"),
        ("run3", 3, "CONFORMS", None),
        ("run4", 4, "INCONCLUSIVE", "HARNESS"),
    ]


def test_what_could_not_be_read_is_listed(report: dict[str, Any]) -> None:
    """A broken header, a torn line, a run without an end and a folder that is no run: each with path and line."""
    reported = [(row["path"], row["line"], row["is_run"]) for row in report["set_aside"]]
    assert reported == [
        ("notes", None, False),
        ("run4/history.jsonl", 9, True),
        ("run4/run.json", None, False),
        ("run5/run.json", None, True),
    ]


def test_the_bug_and_the_evidence_are_summed_up(report: dict[str, Any]) -> None:
    """The named Kafka bug is a concern of its own; acknowledged records are added up over all runs."""
    assert (report["attention"][0]["level"], report["attention"][0]["title"]) == ("DEFECT", "KAFKA-16121")
    (lost,) = [row for row in report["consistency"] if row["check"] == "no_acked_record_lost"]
    assert lost["facts"] == {"acknowledged": {"total": 3_000.0, "largest": 1_000.0}}


def test_the_page_is_self_contained_and_escapes_what_it_shows(night: tuple[AnalysisResult, list[str]]) -> None:
    """No address is loaded, text from runs is no markup, and the timeline is linked relative to the page."""
    page = night[0].page.read_text()
    assert "src=" not in page
    assert "http" not in page
    assert "&lt;31 s&gt;" in page
    assert "<31 s>" not in page
    assert "run%201/timeline.html" in page


def test_a_version_that_no_run_has_is_told_before_the_counting(spark: SparkSession, tmp_path: Path) -> None:
    """Facts are read, for only they know the versions; what takes long is not begun."""
    write_run(tmp_path, "r1", [verdict()])
    said: list[str] = []

    with pytest.raises(WrongUseError, match=r"--compare 3\.9\.1 9\.9\.9: .* which are: 3\.9\.1"):
        analyze(str(tmp_path), tmp_path / "out", progress=said.append, compare=("3.9.1", "9.9.9"))

    assert not [line for line in said if line.startswith("count")]
