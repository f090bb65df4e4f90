"""Failures: messages that say the same, gathered over tests and runs, and a page about each such cluster."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, cut, link, short, table, text
from pytest_kmigrate.reports.site.causes import causes_table
from pytest_kmigrate.reports.site.logs import signs_of
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    address,
    condition,
    empty,
    number_cell,
    section,
    shown,
    table_of,
)
from pytest_kmigrate.reports.summary.estimates import telling
from pytest_kmigrate.reports.summary.rows import Row, day, grouped, known, listed, newest_first, plural, release

_MOST_MEMBERS = 25
_MOST_TESTS = 12
_LEAD = "Messages that differ only in times, ids, ports, paths and numbers count as one. Most frequent first."


def failures(site: Site) -> View:
    """Every cluster, largest first."""
    rows = site.summary["failure_clusters"]
    heads = ("Failure", "Failures", "Runs", "Tests", "Kafka", "First seen", "Last seen", "Timeline")
    drawn = [
        [
            Cell(_name(site, row), row["representative"], "name"),
            number_cell(row["failures"]),
            number_cell(row["runs"]),
            number_cell(len(listed(row["tests"]))),
            Cell(_versions(row)),
            Cell(day(row["first_at"]), row["first_at"], "word"),
            Cell(day(row["last_at"]), row["last_at"], "word"),
            Cell(link(row["example_timeline"], "example") if row["example_timeline"] else ""),
        ]
        for row in rows[:MOST_ROWS]
    ]
    content = table_of(heads, drawn, len(rows) - len(drawn), "failure_clusters") if rows else empty("Nothing failed.")
    return View("failures", "Failures", _LEAD, content)


def cluster_pages(site: Site) -> list[View]:
    """A page about each cluster."""
    members = grouped(site.summary["failure_members"], "cluster")
    causes = grouped(telling(site.summary["causes"]), "failure")
    known = {row["cluster"]: row for row in site.summary["failure_clusters"]}
    signs = grouped(site.summary["log_signs"], "failure")
    return [
        _page(site, known[name], *(of.get((name,), []) for of in (members, causes, signs))) for name in site.clusters
    ]


def _name(site: Site, row: Row) -> str:
    checks = ", ".join(str(check) for check in listed(row["checks"]))
    said = site.about("cluster", row["cluster"], text(cut(row["representative"])))
    return f'{said}<br><span class="soft small"><code>{text(checks)}</code></span>'


def _versions(row: Row) -> str:
    return text(", ".join(sorted(known(*listed(row["kafka"])), key=release)))


def _page(site: Site, row: Row, members: Sequence[Row], causes: Sequence[Row], signs: Sequence[Row]) -> View:
    tests = listed(row["tests"])
    facts = [
        ("Seen", f"{plural(amount(row['failures']), 'time')} in {plural(amount(row['runs']), 'run')}"),
        ("First, last", f"{day(row['first_at'])}, {day(row['last_at'])}"),
        ("Kafka", _versions(row)),
        ("Checks", "".join(f"<code>{text(check)}</code> " for check in listed(row["checks"]))),
        ("Tests", ", ".join(site.about("test", each, short(each)) for each in tests[:_MOST_TESTS]) + _more(tests)),
    ]
    listing = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts)
    why = section("Goes along with", causes_table(causes)) if causes else ""
    lines = section("Log lines that go with it", signs_of(site, signs)) if signs else ""
    lead = cut(row["representative"], 120)
    whole = f"<pre>{text(row['representative'])}</pre>" if lead != row["representative"] else ""
    content = f"{whole}<dl>{listing}</dl>{why}{lines}{_members(site, members)}"
    return View(
        address("cluster", row["cluster"]),
        f"Failure {row['cluster']}",
        lead,
        content,
        "failures",
    )


def _more(tests: Sequence[object]) -> str:
    return f" and {amount(len(tests) - _MOST_TESTS)} more" if len(tests) > _MOST_TESTS else ""


def _members(site: Site, members: Sequence[Row]) -> str:
    """The latest runs in which it was seen, each with its own words and its timeline."""
    seen = [{**member, **_run(site.attempt_of_folder.get(member["folder"]))} for member in members]
    latest = newest_first(seen, "started_at")[:_MOST_MEMBERS]
    rows = [
        [
            Cell(text(cut(each["text"])), each["text"], "name"),
            Cell(site.about("test", each["test_id"], short(each["test_id"])), each["test_id"]),
            Cell(shown(each["kafka"])),
            Cell(condition(each), each["fault"], "fault"),
            Cell(day(each["started_at"]), each["started_at"]),
            Cell(link(each["timeline"], "timeline") if each["timeline"] else chip("NOT_APPLICABLE", "none")),
        ]
        for each in latest
    ]
    heads = ("Its words", "Test", "Kafka", "Fault, phase", "When", "Timeline")
    lead = f"The latest {len(rows)} of {amount(len(members))}."
    return (
        section("Runs", table(heads, rows), lead)
        if rows
        else section("Runs", empty("Its runs are not in these tables."))
    )


def _run(attempt: Row | None) -> Row:
    """What is known of a member's run; nothing, if it was set aside."""
    names = ("test_id", "kafka", "fault", "phase", "role", "started_at", "timeline")
    return {name: attempt[name] if attempt else None for name in names}
