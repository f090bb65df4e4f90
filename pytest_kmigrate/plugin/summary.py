"""The end of a pytest run: each run's verdict, where its evidence is, and how to reach clusters that were kept."""

from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_kmigrate.plugin.handing_over import OUTCOME
from pytest_kmigrate.plugin.identity import has_begun_runs, runs_of_session
from pytest_kmigrate.plugin.options import is_kept, options_of

_KNOWN = "KNOWN"
"""What a run is shown as whose violations are all known: its test is an xfail."""
_WORST_LAST = ("NOT_APPLICABLE", "CONFORMS", _KNOWN, "INCONCLUSIVE", "VIOLATES")
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
            if OUTCOME in reported:
                folder, outcome = reported["kmigrate_run"], reported[OUTCOME]
                reason = reported.get("kmigrate_reason", "")
                if known := reported.get("kmigrate_known"):
                    outcome, reason = _KNOWN, known
                rows[report.nodeid, folder] = _Row(report.nodeid, folder, outcome, reason)
    return sorted(rows.values(), key=lambda row: (row.folder, row.outcome))


def _verdicts(reporter: pytest.TerminalReporter, rows: Sequence[_Row]) -> None:
    if not rows:
        return
    reporter.section("kmigrate verdicts")
    for row in rows:
        name, folder = row.nodeid.rpartition("::")[2], _near(row.folder)
        # A folder that would be broken in the middle has a line of its own, so that it can be copied.
        beside = f"  {folder}" if len(name) + len(folder) + 16 <= reporter._tw.fullwidth else ""  # noqa: SLF001
        reporter.write_line(f"{row.outcome:13} {name}{beside}", **{_COLOURS.get(row.outcome, "white"): True})
        if not beside:
            reporter.write_line(f"  {folder}")
        if row.reason:
            reporter.write_line(f"{'':13} {row.reason}")
    worst = max(rows, key=lambda row: _WORST_LAST.index(row.outcome) if row.outcome in _WORST_LAST else 0)
    reporter.write_line("what happened, on one clock:")
    reporter.write_line(f"  {_near(worst.folder)}/timeline.html")
    if any(row.outcome in (_KNOWN, _WORST_LAST[-1]) for row in rows):
        _hidden(reporter, rows)


def _near(folder: str) -> str:
    """A folder as it is called from here, if that is shorter."""
    here = Path.cwd()
    path = Path(folder)
    return str(path.relative_to(here)) if path.is_absolute() and path.is_relative_to(here) else folder


def _hidden(reporter: pytest.TerminalReporter, rows: Sequence[_Row]) -> None:
    """Say of how many requirements nothing is shown, though a test asked: pytest ends with 0 for known bugs."""
    from pytest_kmigrate.judging.coverage import coverage, hidden_by_bugs

    judged = [Path(row.folder) for row in rows if (Path(row.folder) / "run.json").is_file()]
    if judged and (hidden := hidden_by_bugs(coverage(options_of(reporter.config).profile, *judged))):
        reporter.write_line(hidden, yellow=True)


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
