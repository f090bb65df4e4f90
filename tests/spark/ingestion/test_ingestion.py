"""Ingestion: what is analyzed twice counts once, what changed is replaced, and bad input costs no good run."""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from pytest_kmigrate.model.errors import WrongUseError
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports.analyze import AnalysisResult, analyze
from pytest_kmigrate.reports.ingestion import ingestion, reading
from tests.spark.commands import counted
from tests.spark.run_folders import migration, verdict, write_run

GREEN, RED = verdict(), verdict(outcome="VIOLATES", kind="LIVENESS")


def _report(result: AnalysisResult) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(result.report.read_text())
    return report


def _attempts(result: AnalysisResult) -> dict[str, str]:
    return {each["folder"]: each["outcome"] for each in _report(result)["attempts"]}


def _aside(result: AnalysisResult) -> list[tuple[str, int | None, str]]:
    return [(row["path"], row["line"], row["reason"]) for row in _report(result)["set_aside"]]


def _rows(result: AnalysisResult, table: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(Path(str(result.tables)) / table).to_pylist()
    return rows


def _written(result: AnalysisResult) -> dict[str, int]:
    """Every file of kept facts and when it was written."""
    tables = Path(str(result.tables))
    return {str(part): part.stat().st_mtime_ns for part in tables.glob("*/batch=*/*.parquet")}


def test_runs_are_read_once_replaced_when_they_changed_and_kept_when_they_are_gone(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A night in four analyses: again without news, a run that ends and one that is new, one that is removed.

    The report lies among the run folders, and is no stranger there.
    """
    runs, out = tmp_path, tmp_path / "out"
    write_run(runs, "a", [GREEN])
    being_written = write_run(runs, "b", [], migration()[:4], is_complete=False)
    first = counted(runs, out)
    assert (first.read, _attempts(first)) == (2, {"a": "CONFORMS", "b": "INCONCLUSIVE"})

    again = counted(runs, out)
    assert (again.read, again.runs, again.outcome) == (0, 2, Outcome.INCONCLUSIVE)
    assert _written(again) == _written(first)

    shutil.rmtree(being_written)
    write_run(runs, "b", [RED])
    write_run(runs, "c", [GREEN], started_at="2026-03-02T10:00:00Z")
    later = counted(runs, out)
    assert (later.read, _attempts(later)) == (2, {"a": "CONFORMS", "b": "VIOLATES", "c": "CONFORMS"})
    assert sorted(row["folder"] for row in _rows(later, "verdicts")) == ["a", "b", "c"]
    assert _aside(later) == []

    shutil.rmtree(runs / "a")
    last = counted(runs, out)
    assert (last.read, set(_attempts(last))) == (0, {"a", "b", "c"})
    reported = "folders of runs that earlier analyses read and that stay counted are gone (1): a"
    assert _aside(last) == [(".", None, reported)]


def test_an_interrupted_analysis_leaves_what_was_there(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when the new facts are written but not in the ledger: report and tables stay; the next one ends well."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_run(runs, "a", [GREEN])
    before = counted(runs, out)
    page, tables = before.page.read_text(), _rows(before, "attempts")
    write_run(runs, "b", [RED])

    def killed(*_: object) -> Iterator[None]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ingestion, "write_ledger", killed)
        with pytest.raises(KeyboardInterrupt):
            counted(runs, out)
    assert (before.page.read_text(), _rows(before, "attempts")) == (page, tables)

    after = counted(runs, out)
    assert (after.read, _attempts(after)) == (1, {"a": "CONFORMS", "b": "VIOLATES"})
    assert sorted(row["folder"] for row in _rows(after, "verdicts")) == ["a", "b"]


def _with_manifest(run: Path, **wrong: str) -> None:
    """The manifest the recorder would have written, but for some digests."""
    digests = {
        each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in run.iterdir() if each.suffix != ".parquet"
    }
    (run / "manifest.json").write_text(json.dumps({"schema": 1, "sha256": {**digests, **wrong}}))


@pytest.fixture(scope="module")
def bad_input(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> AnalysisResult:
    """One good run among everything that may be wrong with others, analyzed."""
    runs = tmp_path_factory.mktemp("runs")
    write_run(runs, "good", [GREEN])
    for name, started_at in (("from-1970", "1970-01-01T00:00:03Z"), ("from-the-future", "2999-01-01T00:00:00Z")):
        write_run(runs, name, [GREEN], started_at=started_at)
    backwards = [*migration()[:4], {**migration()[4], "at_ns": 1}, *migration()[5:]]
    write_run(runs, "jumping-clock", [GREEN], backwards)
    _with_manifest(write_run(runs, "altered", [GREEN]), **{"verdicts.jsonl": "0" * 64})
    (write_run(runs, "no-manifest-at-all", [GREEN]) / "manifest.json").write_text('{"schema": 1, "sha')
    lost = write_run(runs, "lost", [GREEN])
    _with_manifest(lost)
    (lost / "history.jsonl").unlink()
    copied = write_run(runs, "copied", [GREEN])
    _with_manifest(copied)
    shutil.copytree(copied, runs / "night" / "copied")
    for name, started_at in (("twin", "2026-03-01T11:00:00Z"), ("twin-before", "2026-03-01T10:00:00Z")):
        _with_manifest(write_run(runs, name, [GREEN], run_id="twin", started_at=started_at))
    torn = write_run(runs, "torn", [GREEN])
    for file in ("metrics/metrics.jsonl", "znodes/znodes.jsonl", "metadata/after-log.json"):
        (torn / file).parent.mkdir()
        (torn / file).write_text('{"at_ns": 1, "no')
    parts = write_run(runs, "corrupt-part", [GREEN]) / "operations"
    parts.mkdir()
    (parts / "clients-000002.parquet").write_bytes(b"PAR1 not really PAR1")
    other_columns = write_run(runs, "other-columns", [GREEN]) / "operations"
    other_columns.mkdir()
    pq.write_table(pa.table({"kind": pa.array([0, 1], pa.int8())}), other_columns / "clients-000001.parquet")
    write_run(runs, "unknown-outcome", [GREEN, verdict(outcome="PERHAPS")])
    (runs / "empty").mkdir()
    return counted(runs, tmp_path_factory.mktemp("out"))


def test_bad_input_is_told_with_path_line_and_reason(bad_input: AnalysisResult) -> None:
    """Each thing that is wrong is one row."""
    torn = 'is not a JSON object of the expected shape; it begins: {"at_ns": 1, "no'
    wrong_clock = "that clock was not set; the run is counted, without a place in time"
    manifest = 'not a manifest (it begins: {"schema": 1, "sha): '
    altered = "it differs from the digest in manifest.json: it was changed after the run ended"
    no_part = "expected a complete Parquet part, got one that is cut, damaged or of other columns"
    corrupt = f"operations/clients-000002.parquet: {no_part}"
    strange = f"operations/clients-000001.parquet: {no_part}"
    jumped = "the clock ran backwards: at_ns is 1, and that of the line before it 9000000000"
    twin = "not counted: its run id, twin, is also that of another run, in twin-before, which is counted"
    reported = [(path, line, re.split(r"; restore| \(of such", reason)[0]) for path, line, reason in _aside(bad_input)]
    assert reported == [
        ("altered/verdicts.jsonl", None, altered),
        ("corrupt-part/operations", None, corrupt),
        ("empty", None, "not a run folder: it holds no run.json"),
        ("from-1970/run.json", None, f"started_at is 1970-01-01T00:00:03Z: {wrong_clock}"),
        ("from-the-future/run.json", None, f"started_at is 2999-01-01T00:00:00Z: {wrong_clock}"),
        ("jumping-clock/history.jsonl", 5, jumped),
        ("lost/history.jsonl", None, "manifest.json names it, but it is not there"),
        ("night/copied/run.json", None, "a copy of run copied, which is counted from copied"),
        ("no-manifest-at-all/manifest.json", None, f"{manifest}nothing in this folder can be verified"),
        ("other-columns/operations", None, strange),
        ("torn/metadata/after-log.json", None, f"the image {torn}"),
        ("torn/metrics/metrics.jsonl", 1, f"the line {torn}"),
        ("torn/znodes/znodes.jsonl", 1, f"the line {torn}"),
        ("twin/run.json", None, twin),
        (
            "unknown-outcome/verdicts.jsonl",
            2,
            "unknown outcome: expected one of NOT_APPLICABLE, CONFORMS, INCONCLUSIVE, VIOLATES; got PERHAPS",
        ),
    ]  # fmt: skip


def test_the_tables_of_another_folder_are_not_touched(bad_input: AnalysisResult, tmp_path: Path) -> None:
    """Another folder of runs into the same place, here a copy of it, is wrong use; nothing is lost by it."""
    out = shutil.copytree(Path(str(bad_input.page)).parent, tmp_path / "out")
    write_run(tmp_path / "two", "r", [GREEN])
    with pytest.raises(WrongUseError, match="choose another --out"):
        analyze(str(tmp_path / "two"), out)
    assert pq.read_table(out / "tables" / "runs").to_pylist() == _rows(bad_input, "runs") != []


def test_every_run_that_can_be_read_is_counted(bad_input: AnalysisResult) -> None:
    """Bad input makes the whole inconclusive; only runs whose own verdicts are damaged or changed are so themselves."""
    attempts = _attempts(bad_input)
    assert bad_input.outcome is Outcome.INCONCLUSIVE
    assert [folder for folder, outcome in attempts.items() if outcome != "CONFORMS"] == ["altered", "unknown-outcome"]
    assert set(attempts) == {
        "altered", "copied", "corrupt-part", "from-1970", "from-the-future", "good", "jumping-clock", "lost",
        "no-manifest-at-all", "other-columns", "torn", "twin-before", "unknown-outcome",
    }  # fmt: skip
    started_at = {each["folder"]: each["started_at"] for each in _report(bad_input)["attempts"]}
    assert [folder for folder, at in started_at.items() if at is None] == ["from-1970", "from-the-future"]


def test_an_odd_clock_torn_observations_or_a_copy_leave_no_verdict_open(spark: SparkSession, tmp_path: Path) -> None:
    """They are reported, and the outcome stays that of the verdicts."""
    torn = write_run(tmp_path / "runs", "torn", [GREEN], started_at="1970-01-01T00:00:00Z")
    (torn / "metrics").mkdir()
    (torn / "metrics" / "metrics.jsonl").write_text('{"at_ns": 1, "no')
    shutil.copytree(torn, tmp_path / "runs" / "copy")
    for name in ("theirs.xml", "their-copy.xml"):
        (tmp_path / "runs" / name).write_text('<testsuite timestamp="2026-03-01"><testcase name="t"/></testsuite>')

    result = counted(tmp_path / "runs", tmp_path / "out")
    assert (result.outcome, result.runs, result.set_aside) == (Outcome.CONFORMS, 1 + 1, 2 + 2 + 1 + 1)


def test_which_of_two_runs_with_one_id_counts_does_not_hang_on_which_was_read_first(
    spark: SparkSession, tmp_path: Path
) -> None:
    """The one that began first takes the other's place or keeps its own; a verdict may hang on what that one showed."""
    runs, out = tmp_path / "runs", tmp_path / "out"
    nights = {
        (("late", "a", 11), ("early", "b", 11)): {"late", "early"},
        (("earlier", "a", 10), ("later", "b", 12)): {"earlier", "early"},
    }
    for night, reported in nights.items():
        for name, run_id, hour in night:
            _with_manifest(write_run(runs, name, [GREEN], run_id=run_id, started_at=f"2026-03-01T{hour}:00:00Z"))
        result = counted(runs, out)
        assert _attempts(result).keys() == reported
    assert (result.outcome, [path for path, *_ in _aside(result)]) == (
        Outcome.INCONCLUSIVE,
        ["late/run.json", "later/run.json"],
    )


def test_a_history_too_long_for_one_text_is_read_line_by_line(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In many blocks, and yet with the same facts and the same line numbers as when it is read whole."""
    events = [*migration()[:-1], *[{**migration()[-1], "kind": "snapshot"}] * 3_000, migration()[-1]]
    run = write_run(tmp_path / "runs", "long", [GREEN], events)
    lines = (run / "history.jsonl").read_text().splitlines(keepends=True)
    lines[2_000] = "torn\n"
    (run / "history.jsonl").write_text("\n" + "".join(lines))
    whole = counted(tmp_path / "runs", tmp_path / "whole")
    monkeypatch.setattr(reading, "MOST_WHOLE_BYTES", 1_000)
    spark.conf.set("spark.sql.files.maxPartitionBytes", "20000")
    spark.conf.set("spark.sql.files.openCostInBytes", "0")
    try:
        in_blocks = counted(tmp_path / "runs", tmp_path / "blocks")
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")
        spark.conf.unset("spark.sql.files.openCostInBytes")

    assert [line for _, line, _ in _aside(in_blocks)] == [2_002]
    assert _aside(in_blocks) == _aside(whole)
    by_name = [sorted(_rows(each, "durations"), key=str) for each in (whole, in_blocks)]
    assert by_name[0] == by_name[1] != []


def test_paths_may_be_uris_of_any_hadoop_file_system(spark: SparkSession, tmp_path: Path) -> None:
    """The same runs give the same answer through ``file:`` and through a scheme that only Hadoop knows."""
    write_run(tmp_path / "runs", "r [1] + 100 %", [RED], has_timeline=True)
    write_run(tmp_path / "runs", "night/green", [GREEN], seed=8)
    (tmp_path / "runs" / "notes").mkdir()
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set("fs.viewfs.mounttable.mounted.link./all", f"file://{tmp_path}")

    plain = counted((tmp_path / "runs").as_uri(), (tmp_path / "plain").as_uri())
    mounted = counted("viewfs://mounted/all/runs", "viewfs://mounted/all/out")
    again = counted("viewfs://mounted/all/runs", "viewfs://mounted/all/out")

    assert (again.read, again.runs, again.outcome) == (0, 2, Outcome.VIOLATES)
    assert _attempts(mounted) == _attempts(plain) == _attempts(again)
    assert _aside(mounted) == _aside(plain) == [("notes", None, "not a run folder: it holds no run.json")]
    assert (str(again.page), again.page.exists()) == ("viewfs://mounted/all/out/index.html", True)
    timelines = [each["timeline"] for each in _report(again)["attempts"]]
    assert "../runs/r [1] + 100 %/timeline.html" in timelines
    assert (tmp_path / "out" / "index.html").is_file()


def test_results_of_other_tools_count_as_attempts(spark: SparkSession, tmp_path: Path) -> None:
    """A JUnit file beside run folders, or alone, gives attempts of its own; a broken one is set aside."""
    runs = tmp_path / "runs"
    write_run(runs, "ours", [GREEN])
    (theirs := runs / "jenkins").mkdir()
    cases = '<testcase classname="org.Acme" name="works"/><testcase classname="org.Acme" name="breaks"><failure/>'
    (theirs / "TEST-acme.xml").write_text(f'<testsuite name="acme">{cases}</testcase></testsuite>')
    (theirs / "TEST-torn.xml").write_text('<testsuite name="torn"><testcase classname="org.Acme" na')
    result = counted(runs, tmp_path / "out")

    reported = {(row["test_id"].rpartition(".")[2], row["outcome"]) for row in _report(result)["attempts"]}
    assert {name for name, _ in reported if "works" in name or "breaks" in name}
    assert sorted(outcome for _, outcome in reported) == ["CONFORMS", "CONFORMS", "VIOLATES"]
    assert [path for path, _, _ in _aside(result)] == ["jenkins/TEST-torn.xml"]
    assert counted(theirs, tmp_path / "alone").runs == 2
