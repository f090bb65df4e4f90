"""The end of a pytest run: each run's verdict, where its evidence is, and how to reach clusters that were kept."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.plugin.identity import has_begun_runs, runs_of_session
from pytest_kmigrate.plugin.options import is_kept, options_of

_WORST_LAST = ("NOT_APPLICABLE", "CONFORMS", "INCONCLUSIVE", "VIOLATES")
_COLOURS = {"CONFORMS": "green", "VIOLATES": "red", "INCONCLUSIVE": "yellow"}


@dataclass(frozen=True)
class _Row:
    nodeid: str
    folder: str
    outcome: str
    reason: str


def summarize(reporter: pytest.TerminalReporter, *, is_interrupted: bool) -> None:
    """Print one line per judged test, run that was interrupted and kept cluster; nothing when there was none."""
    rows = _reported(reporter)
    _verdicts(reporter, rows)
    if is_interrupted and has_begun_runs(reporter.config):
        _interrupted(reporter, {Path(row.folder).name for row in rows})
    if is_kept(reporter.config):
        _kept(reporter)


def _kept(reporter: pytest.TerminalReporter) -> None:
    from pytest_kmigrate.providers.standing import standing

    runs = options_of(reporter.config).runs.resolve()
    clusters = [cluster for cluster in standing() if cluster.logs.is_relative_to(runs)]
    if not clusters:
        return
    reporter.section("kmigrate clusters kept")
    for cluster in clusters:
        reporter.write_line(f"block {cluster.block}: {cluster.topology}, Kafka {cluster.kafka}")
        for title, text in cluster.reached_by:
            reporter.write_line(f"  {title + ':':18} {text}")
        reporter.write_line(f"  logs:              {cluster.logs}")
        reporter.write_line(f"  to end it:         kmigrate down {cluster.block}")
    reporter.write_line("`kmigrate ps` lists them, `kmigrate logs NODE` shows a log")


def _reported(reporter: pytest.TerminalReporter) -> list[_Row]:
    """What became of each judged run, by its folder; a test that was run again has several."""
    rows = dict[tuple[str, str], _Row]()
    for reports in reporter.stats.values():
        for report in reports:
            reported = dict(getattr(report, "user_properties", ()))
            if "kmigrate_outcome" in reported:
                folder, outcome = reported["kmigrate_run"], reported["kmigrate_outcome"]
                rows[report.nodeid, folder] = _Row(report.nodeid, folder, outcome, reported.get("kmigrate_reason", ""))
    return sorted(rows.values(), key=lambda row: (row.folder, row.outcome))


def _verdicts(reporter: pytest.TerminalReporter, rows: Sequence[_Row]) -> None:
    if not rows:
        return
    reporter.section("kmigrate verdicts")
    for row in rows:
        line = f"{row.outcome:13} {row.nodeid.rpartition('::')[2]}  {row.folder}"
        reporter.write_line(line, **{_COLOURS.get(row.outcome, "white"): True})
        if row.reason:
            reporter.write_line(f"{'':13} {row.reason}")
    worst = max(rows, key=lambda row: _WORST_LAST.index(row.outcome) if row.outcome in _WORST_LAST else 0)
    reporter.write_line(f"what happened, on one clock: {worst.folder}/timeline.html")


def _interrupted(reporter: pytest.TerminalReporter, judged: Container[str]) -> None:
    """A test that was ended by Ctrl-C has evidence and no report."""
    runs = runs_of_session(reporter.config, options_of(reporter.config).runs)
    folders = [folder for folder in runs if folder.name not in judged]
    if not folders:
        return
    reporter.ensure_newline()
    reporter.section("kmigrate runs interrupted")
    for folder in folders:
        reporter.write_line(str(folder))
    reporter.write_line("`kmigrate judge FOLDER` judges what there is of one")
