"""The end of a pytest run: each run's verdict, where its evidence is, and how to reach clusters that were kept."""

from collections.abc import Container, Mapping
from pathlib import Path

import pytest

from pytest_kmigrate.plugin.identity import has_begun_runs, runs_of_session
from pytest_kmigrate.plugin.options import is_kept, options_of

_COLOURS = {"CONFORMS": "green", "VIOLATES": "red", "INCONCLUSIVE": "yellow"}


def summarize(reporter: pytest.TerminalReporter, *, is_interrupted: bool) -> None:
    """Print one line per judged test, run that was interrupted and kept cluster; nothing when there was none."""
    rows = _reported(reporter)
    _verdicts(reporter, rows)
    if is_interrupted and has_begun_runs(reporter.config):
        _interrupted(reporter, {Path(folder).name for folder, _ in rows.values()})
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


def _reported(reporter: pytest.TerminalReporter) -> dict[str, tuple[str, str]]:
    """Folder and outcome of each judged test."""
    rows: dict[str, tuple[str, str]] = {}
    for reports in reporter.stats.values():
        for report in reports:
            reported = dict(getattr(report, "user_properties", ()))
            if "kmigrate_outcome" in reported:
                rows[report.nodeid] = (reported["kmigrate_run"], reported["kmigrate_outcome"])
    return rows


def _verdicts(reporter: pytest.TerminalReporter, rows: Mapping[str, tuple[str, str]]) -> None:
    if not rows:
        return
    reporter.section("kmigrate verdicts")
    for nodeid, (folder, outcome) in sorted(rows.items(), key=lambda row: row[1]):
        line = f"{outcome:13} {nodeid.rpartition('::')[2]}  {folder}"
        reporter.write_line(line, **{_COLOURS.get(outcome, "white"): True})


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
