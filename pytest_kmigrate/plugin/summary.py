"""The end of a pytest run: each run's verdict, where its evidence is, and how to reach clusters that were kept."""

import pytest

from pytest_kmigrate.plugin.options import options_of

_COLOURS = {"CONFORMS": "green", "VIOLATES": "red", "INCONCLUSIVE": "yellow"}


def summarize(reporter: pytest.TerminalReporter) -> None:
    """Print one line per judged test and per kept cluster; nothing when there was none."""
    _verdicts(reporter)
    if options_of(reporter.config).keep:
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


def _verdicts(reporter: pytest.TerminalReporter) -> None:
    rows: dict[str, tuple[str, str]] = {}
    for reports in reporter.stats.values():
        for report in reports:
            reported = dict(getattr(report, "user_properties", ()))
            if "kmigrate_outcome" in reported:
                rows[report.nodeid] = (reported["kmigrate_run"], reported["kmigrate_outcome"])
    if not rows:
        return
    reporter.section("kmigrate verdicts")
    for nodeid, (folder, outcome) in sorted(rows.items(), key=lambda row: row[1]):
        line = f"{outcome:13} {nodeid.rpartition('::')[2]}  {folder}"
        reporter.write_line(line, **{_COLOURS.get(outcome, "white"): True})
