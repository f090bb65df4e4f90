"""``kmigrate analyze``: both versions of ``--compare`` reach the analysis, and the terminal shows what matters."""

import sys
from pathlib import Path

import pytest

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.cli import main
from pytest_kmigrate.cli import runs as runs_commands
from pytest_kmigrate.model.verdict import Outcome
from pytest_kmigrate.reports import analyze as analysis
from pytest_kmigrate.reports.analyze import AnalysisResult
from pytest_kmigrate.reports.pages.publication import files
from pytest_kmigrate.reports.summary.summary import summary_of
from tests.unit.reports.fabricated_tables import ABOUT, season


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """What the analysis was asked to compare; instead of Spark's, its tables are those of an invented season."""
    compared: list[object] = []

    def analyzed(*given: object) -> AnalysisResult:
        *_, versions, labels = given
        compared.append(versions)
        compared.extend(labels)
        summary = summary_of(season(runs=600), ABOUT, ("3.6.0", "3.10.0") if versions else None)
        for name, text in files(summary).items():
            (tmp_path / name).write_text(text)
        report, page = tmp_path / "report.json", tmp_path / "index.html"
        return AnalysisResult(Outcome.CONFORMS, (Word.CONFORMS,), (), 600, 0, page, report, tmp_path, {}, 600)

    monkeypatch.setattr(analysis, "analyze", analyzed)
    return compared


def _analyze(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["kmigrate", "analyze", "runs", "--out", "out", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.slow
def test_both_versions_are_compared(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What changed is listed by kind, with the sentence to take away; what may be chance is not."""
    assert (
        _analyze(monkeypatch, "--compare", "3.6.0", "3.10.0", "--label", "os=hostname", "--label", "jdk=hostname") == 0
    )
    said = capsys.readouterr().out
    assert asked == [("3.6.0", "3.10.0"), "os=hostname", "jdk=hostname"]
    assert "From Kafka 3.6.0 to 3.10.0" in said
    assert "Kafka 3.6.0 to 3.10.0: 4 requirements worse" in said
    assert "WORSE" in said
    assert "UNSURE" not in said


def test_what_failed_is_told_whole(capsys: pytest.CaptureFixture[str]) -> None:
    """An address in it may have the colons that stand between a file and its test."""
    rows: dict[str, list[dict[str, object]]] = {"requirements": [], "durations": []}
    rows["tests"] = [{"change": "WORSE", "test_id": "suites/a.py::test_b"}]
    rows["clusters"] = [{"change": "WORSE", "representative": "connect([::1]:9092) failed"}]

    runs_commands._show_comparison({"a": "1", "b": "2", "headline": "", **rows})  # type: ignore[typeddict-item]

    said = capsys.readouterr().out
    assert "connect([::1]:9092) failed" in said
    assert "test_b" in said
    assert "suites" not in said


@pytest.mark.slow
def test_nothing_is_compared_unless_asked(
    asked: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the option there is no comparison; with one version it is wrong use."""
    assert _analyze(monkeypatch) == 0
    assert asked == [None]
    assert "From Kafka" not in capsys.readouterr().out
    assert _analyze(monkeypatch, "--compare", "3.6.0") == 2


@pytest.mark.usefixtures("asked")
@pytest.mark.slow
def test_the_terminal_tells_the_worst_tests_and_how_many_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten thousand rows would hide the sentence below them."""
    monkeypatch.setattr(runs_commands, "_MOST_TESTS", 2)
    assert _analyze(monkeypatch) == 0
    said = capsys.readouterr().out
    tests = len(summary_of(season(runs=600), ABOUT)["tests"])
    assert sum("-controller3" in line and "│" in line for line in said.splitlines()) == 2
    assert f"{tests - 2} more tests, none of them worse, are in the report" in said


def test_the_terminal_shows_what_is_set_aside(capsys: pytest.CaptureFixture[str]) -> None:
    """A broken file, or an option that would part the runs: no page has to be opened for a few of them."""
    rows: list[dict[str, object]] = [{"path": f"night-{each}.xml", "reason": "empty"} for each in range(7)]

    runs_commands._show_set_aside(rows)
    assert capsys.readouterr().out.splitlines()[4:] == ["  night-4.xml: empty", "  2 more are in the report"]
    runs_commands._show_set_aside(rows[:1])
    assert capsys.readouterr().out.splitlines() == ["  night-0.xml: empty"]


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize("runs", ["here", "s3a://nights/runs"])
@pytest.mark.slow
def test_allure_is_told_of_only_where_its_results_are(
    runs: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Not for a bucket, whatever folder is called like one here, and not for runs that have none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kmigrate", "analyze", runs, "--out", "out"])
    with pytest.raises(SystemExit):
        main()
    assert "Allure" not in capsys.readouterr().out
    (tmp_path / runs / "run" / "allure-results").mkdir(parents=True)
    with pytest.raises(SystemExit):
        main()
    assert ("Allure" in capsys.readouterr().out) is (runs == "here")
