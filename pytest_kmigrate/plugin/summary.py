"""The table at the end of a pytest run: each run's verdict, and where its evidence is."""

import pytest

_COLOURS = {"CONFORMS": "green", "VIOLATES": "red", "INCONCLUSIVE": "yellow"}


def summarize(reporter: pytest.TerminalReporter) -> None:
    """Print one line per judged test; nothing when there was none."""
    rows = []
    for reports in reporter.stats.values():
        for report in reports:
            told = dict(getattr(report, "user_properties", ()))
            if "kmigrate_outcome" in told:
                rows.append((told["kmigrate_outcome"], report.nodeid, told["kmigrate_run"]))
    if not rows:
        return
    reporter.section("kmigrate verdicts")
    for outcome, nodeid, folder in sorted(rows, key=lambda row: row[2]):
        reporter.write(f"{outcome:13}", **{_COLOURS.get(outcome, "white"): True})
        reporter.write_line(f" {nodeid.rpartition('::')[2]}  {folder}")
