"""Environment: with what a report was made, and how to do it, and every run of it, again."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, link, text
from pytest_kmigrate.reports.site.views import Site, View, empty, section, table_of
from pytest_kmigrate.reports.summary.rows import Row, known, level_of, newest_first
from pytest_kmigrate.reports.summary.summary import About

MOST_COMMANDS = 200
_URGENCY = ("SAFETY", "VIOLATES", "DEFECT", "DEPARTURE", "INCONCLUSIVE", "CONFORMS", "NOT_APPLICABLE")


def environment(site: Site) -> View:
    """Versions, commands, timings, and the command of each run."""
    totals, about = site.summary["totals"], site.summary["about"]
    facts = [
        ("Kafka", ", ".join(known(*totals["kafka"]))),
        ("Topologies", ", ".join(known(*totals["topologies"]))),
        ("Profiles", ", ".join(known(*totals["profiles"]))),
        ("Providers", ", ".join(totals["providers"])),
        ("Runs from", about["runs_folder"]),
        ("Made", f"{about['made_at']} with Spark {about['spark']}, Python {about['python']}, {about['platform']}"),
        ("Took", ", ".join(f"{stage.replace('_', ' ')} {taken:.1f} s" for stage, taken in _done(about))),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts if value)
    again = (
        f"<pre>{text(about['command'])}</pre><p>The same as data: <a href='report.json'>report.json</a>, for a pull "
        "request <a href='report.md'>report.md</a>, and Parquet below <code>tables/</code>.</p>"
    )
    commands = section("Every run again", _commands(site.summary["attempts"]), "What did not conform comes first.")
    content = f"<dl>{listed}</dl>{section('This report again', again)}{commands}"
    return View("environment", "Environment", "With what this was made, and how to do it again.", content)


def _done(about: About) -> list[tuple[str, float]]:
    """The stages that had ended when the page was made; the page's own had not."""
    return [(stage, taken) for stage, taken in about["seconds"].items() if taken]


def _commands(attempts: Sequence[Row]) -> str:
    # Nobody but the tool that wrote a result knows how to get it again.
    ours = [each for each in attempts if each["reproduce"]]
    if not ours:
        return empty("No run recorded its command.")
    latest = newest_first(ours, "started_at")
    chosen = sorted(latest, key=lambda each: _URGENCY.index(level_of(each)))[:MOST_COMMANDS]
    rows = [
        [
            Cell(f"<code>{text(each['reproduce'])}</code>", each["test_id"], "name"),
            Cell(amount(each["attempt"]), each["attempt"], "number"),
            Cell(chip(level_of(each))),
            Cell(link(each["timeline"], "timeline") if each["timeline"] else ""),
        ]
        for each in chosen
    ]
    return table_of(("Command", "Run", "Outcome", "Timeline"), rows, len(ours) - len(rows), "attempts")
