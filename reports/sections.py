"""Sections of the page, one function each: from the summary to HTML."""

from collections.abc import Sequence

from pytest_kmigrate.reports.drawing import (
    Cell,
    Row,
    amount,
    chip,
    dots,
    duration,
    legend,
    link,
    pass_rate,
    table,
    text,
)
from pytest_kmigrate.reports.summary import Summary, latest_attempts

_UNITS_OF_TIME = ("_ms", "_s", "_ns")
"""A fact so named is a span or a moment: its largest value tells something, its total nothing."""


def attention(summary: Summary) -> str:
    """What needs a human, most urgent first."""
    concerns = summary["attention"]
    if not concerns:
        return '<h2>Needs a human</h2><p class="fine">Nothing. Every test that gave an answer conforms.</p>'
    return _section("Needs a human", "Most urgent first.", "".join(_concern(each) for each in concerns))


def tests(summary: Summary) -> str:
    """One row per test and cluster shape."""
    heads = (
        "Test",
        "Kafka",
        "Standing",
        "Runs, oldest first",
        "Pass rate, 95 % interval",
        "Inconclusive",
        "Took: median, 90 %",
    )
    rows = [
        [
            Cell(_test_name(test["test_id"], test["topology"]), test["test_id"], "name"),
            Cell(text(test["kafka"])),
            Cell(chip(test["standing"]), number),
            Cell(dots(latest_attempts(test, summary["attempts"])), test["runs"], "dots"),
            *_counted(test),
        ]
        for number, test in enumerate(summary["tests"])
    ]
    lead = (
        "Flaky means both answers under equal conditions: profile, provider, version, topology, fault and phase. "
        "A safety violation is never called flaky, and inconclusive runs are not part of the pass rate."
    )
    return _section("Tests", lead, legend() + table(heads, rows) + _cells(summary["cells"]))


def requirements(summary: Summary) -> str:
    """One row per requirement, profile and version."""
    heads = (
        "Requirement",
        "Profile",
        "Kafka",
        "Standing",
        "Runs",
        "Pass rate, 95 % interval",
        "Inconclusive",
        "Took: median, 90 %",
    )
    rows = [
        [
            Cell(f"<code>{text(row['requirement'])}</code>", row["requirement"], "name"),
            Cell(text(row["profile"])),
            Cell(text(row["kafka"])),
            Cell(chip(row["standing"]), number),
            Cell(amount(row["runs"]), row["runs"], "number"),
            *_counted(row),
        ]
        for number, row in enumerate(summary["requirements"])
    ]
    return _section("Requirements", "Over all tests that speak about one.", table(heads, rows))


def consistency(summary: Summary) -> str:
    """One row per check, version and topology: its verdicts merged, what it found and over how much evidence."""
    heads = ("Check", "Kafka", "Topology", "Merged verdict", "Anomalies", "Verdicts", "Inconclusive", "Evidence")
    rows = [
        [
            Cell(_check_name(row), row["check"], "name"),
            Cell(text(row["kafka"])),
            Cell(text(row["topology"])),
            Cell(chip("SAFETY" if row["kind"] == "SAFETY" else row["outcome"]), number),
            Cell(amount(row["anomalies"]), row["anomalies"], "number"),
            Cell(amount(row["verdicts"]), row["verdicts"], "number"),
            Cell(amount(row["inconclusive"]), row["inconclusive"], "number"),
            Cell(_evidence(row["facts"])),
        ]
        for number, row in enumerate(summary["consistency"])
    ]
    return _section(
        "Consistency", "What each check found in all runs together; the worst verdict wins.", table(heads, rows)
    )


def faults(summary: Summary) -> str:
    """One row per fault, phase and version."""
    if not summary["fault_effects"]:
        return ""
    heads = ("Fault", "Phase", "Kafka", "Injected", "Seen to bite", "Conforming runs", "Violating runs")
    counts = ("injected", "witnessed", "conforming", "violating")
    rows = [
        [
            Cell(f"<code>{text(row['fault'])}</code>", row["fault"], "name"),
            Cell(text(row["phase"])),
            Cell(text(row["kafka"])),
            *[Cell(amount(row[name]), row[name], "number") for name in counts],
        ]
        for row in summary["fault_effects"]
    ]
    return _section("Faults", "A fault that nobody saw bite proves nothing.", table(heads, rows))


def durations(summary: Summary) -> str:
    """Whole runs, phases and steps, folded away."""
    heads = ("What", "Kind", "Kafka", "Topology", "Times", "Median", "90 %", "Longest")
    rows = [
        [
            Cell(text(row["name"]), row["name"], "name"),
            Cell(text(row["what"])),
            Cell(text(row["kafka"])),
            Cell(text(row["topology"])),
            Cell(amount(row["times"]), row["times"], "number"),
            *[_time(row[name]) for name in ("median_ms", "p90_ms", "largest_ms")],
        ]
        for row in summary["duration_statistics"]
    ]
    return _section("Durations", "", _folded(f"{len(rows)} runs, phases and steps", table(heads, rows))) if rows else ""


def set_aside(summary: Summary) -> str:
    """What could not be read, and why."""
    rows = [
        [
            Cell(f"<code>{text(row['path'])}</code>", row["path"], "name"),
            Cell(amount(row["line"]), row["line"] or 0, "number"),
            Cell(text(row["reason"])),
        ]
        for row in summary["set_aside"]
    ]
    lead = "Not counted, because it could not be read. Everything else was."
    return _section("Set aside", lead, table(("Path", "Line", "Reason"), rows)) if rows else ""


def environment(summary: Summary) -> str:
    """With what, and how to do it again."""
    totals, about = summary["totals"], summary["about"]
    seconds = about["seconds"]
    facts = [
        ("Kafka", ", ".join(totals["kafka"])),
        ("Topologies", ", ".join(totals["topologies"])),
        ("Profiles", ", ".join(totals["profiles"])),
        ("Providers", ", ".join(totals["providers"])),
        ("Runs from", about["runs_folder"]),
        ("Made", f"{about['made_at']} with Spark {about['spark']}, Python {about['python']}, {about['platform']}"),
        ("Took", ", ".join(f"{stage.replace('_', ' ')} {taken:.1f} s" for stage, taken in seconds.items())),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts)
    again = (
        f"<p>This report again:</p><pre>{text(about['command'])}</pre>"
        "<p>The same as data: <a href='report.json'>report.json</a>, and Parquet below <code>tables/</code>.</p>"
    )
    return f"<h2>Environment, and how to reproduce</h2><dl>{listed}</dl>{again}{_commands(summary['attempts'])}"


def _section(title: str, lead: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{f'<p>{lead}</p>' if lead else ''}{content}</section>"


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{title}</summary>{content}</details>"


def _concern(row: Row) -> str:
    check = f"<code>{text(row['check'])}</code>: " if row["check"] else ""
    example = f"<p>{check}{text(row['example'])}</p>"
    timeline = f"<p>{link(row['timeline'], 'Timeline of the latest such run')}</p>" if row["timeline"] else ""
    again = _folded("Run it again", f"<pre>{text(row['reproduce'])}</pre>") if row["reproduce"] else ""
    return (
        f'<article class="concern" style="--colour: var(--{row["level"]})"><header>{chip(row["level"])}'
        f'<h3>{_short(row["title"])}</h3><span class="soft small">{text(row["condition"])}</span></header>'
        f'<p class="soft">{text(row["detail"])}</p>{example}{timeline}{again}</article>'
    )


def _counted(row: Row) -> list[Cell]:
    """The cells that every table of statistics ends with."""
    rate = row["pass_rate"]
    return [
        Cell(pass_rate(row), -1 if rate is None else rate, "rate"),
        Cell(amount(row["inconclusive"]), row["inconclusive"], "number"),
        Cell(_median_and_p90(row), -1 if row["duration_median_ms"] is None else row["duration_median_ms"], "number"),
    ]


def _cells(cells: Sequence[Row]) -> str:
    heads = (
        "Test",
        "Requirement",
        "Kafka",
        "Fault, phase",
        "Standing",
        "Runs",
        "Pass rate, 95 % interval",
        "Inconclusive",
        "Took: median, 90 %",
    )
    rows = [
        [
            Cell(_test_name(cell["test_id"], cell["topology"]), cell["test_id"], "name"),
            Cell(f"<code>{text(cell['requirement'])}</code>"),
            Cell(text(cell["kafka"])),
            Cell(_condition(cell), cell["fault"], "fault"),
            Cell(chip(cell["standing"]), number),
            Cell(amount(cell["runs"]), cell["runs"], "number"),
            *_counted(cell),
        ]
        for number, cell in enumerate(cells)
    ]
    return _folded(f"By requirement and condition ({len(rows)})", table(heads, rows))


def _commands(attempts: Sequence[Row]) -> str:
    rows = [
        [
            Cell(_short(each["test_id"]), each["test_id"], "name"),
            Cell(amount(each["attempt"]), each["attempt"], "number"),
            Cell(text(each["seed"])),
            Cell(chip(each["outcome"])),
            Cell(link(each["timeline"], "timeline") if each["timeline"] else ""),
            Cell(f"<code>{text(each['reproduce'])}</code>"),
        ]
        for each in attempts
    ]
    heads = ("Test", "Run", "Seed", "Outcome", "Timeline", "Command")
    return _folded(f"Every run and its command ({len(rows)})", table(heads, rows))


def _test_name(test_id: object, topology: object) -> str:
    file = str(test_id).partition("::")[0]
    return f'{_short(test_id)}<br><span class="soft small">{text(file)} · {text(topology)}</span>'


def _short(test_id: object) -> str:
    """The part of a test's id that tells it apart, with room to break."""
    return text(str(test_id).rpartition("::")[2]).replace("_", "_<wbr>")


def _condition(cell: Row) -> str:
    return f'<span><code>{text(cell["fault"])}</code><br><span class="soft small">{text(cell["phase"])}</span></span>'


def _check_name(row: Row) -> str:
    return f'<code>{text(row["check"])}</code><br><span class="soft small">{text(row["example"])}</span>'


def _evidence(facts: object) -> str:
    told = []
    for name, values in facts.items() if isinstance(facts, dict) else ():
        of_all, value = ("largest ", "largest") if name.endswith(_UNITS_OF_TIME) else ("", "total")
        told.append(f"{of_all}{name.replace('_', ' ')} {amount(values[value])}")
    return f'<span class="small">{text(" · ".join(told))}</span>'


def _median_and_p90(row: Row) -> str:
    if row["duration_median_ms"] is None:
        return ""
    median, p90 = duration(row["duration_median_ms"]), duration(row["duration_p90_ms"])
    return f'<span>{median}<br><span class="soft small">{p90}</span></span>'


def _time(ms: object) -> Cell:
    return Cell(duration(ms), -1 if ms is None else ms, "number")
