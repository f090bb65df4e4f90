"""Logs: the lines that nodes logged, alike ones as one, and which of them go with failures."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.drawing import Cell, amount, chip, cut, folded, link, text
from pytest_kmigrate.reports.site.causes import LIFT_HEADS, apartness, lift_cells
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    below,
    empty,
    number_cell,
    section,
    table_of,
)
from pytest_kmigrate.reports.summary.estimates import is_raising, is_sure
from pytest_kmigrate.reports.summary.rows import Row, day, grouped, kafka_of, listed, plural

_MOST_SIGNS = 12
_MOST_ALIKE = 12
_ANY_VIOLATION = "run"
_NOTHING_SURE = "No line is sure to go with it: among so many lines some must by chance."
_LEAD = (
    "Warnings, errors and exceptions of all nodes. Lines that differ only in times, ids, ports, paths and numbers, or "
    "in a few words, count as one, however often a run has them. What goes with a failure may lead to it or follow it."
)


def logs(site: Site) -> View:
    """The lines that go with violations, surest first, then all of them."""
    templates = site.summary["log_templates"]
    if not templates:
        return View("logs", "Log lines", _LEAD, empty("No run logged a warning or an error."))
    signs = [row for row in site.summary["log_signs"] if row["what"] == _ANY_VIOLATION]
    going = section("Go with runs that violate", signs_of(site, signs), "Surest first.") if signs else ""
    every = section("All of them", _every(templates), "Those of most runs first.")
    return View("logs", "Log lines", _LEAD, going + every)


def signs_of(site: Site, signs: Sequence[Row]) -> str:
    """The lines that go with one failure, surest first; what may be chance is folded away."""
    rising = [row for row in signs if is_raising(row) and row["template"] in site.templates]
    # Lines of one accident are in the same runs, so that all counts are the same: they take one row.
    accidents = list(grouped(rising, "rank", "with_failures", "with_runs").values())
    sure, unsure = ([rows for rows in accidents if is_sure(rows[0]) is wanted] for wanted in (True, False))
    drawn = _table(site, sure) if sure else empty(_NOTHING_SURE)
    title = f"{amount(len(unsure))}{' more' * bool(sure)} that may be chance"
    return drawn + (folded(title, _table(site, unsure)) if unsure else "")


def _table(site: Site, accidents: Sequence[Sequence[Row]]) -> str:
    drawn = [
        [Cell("".join((*_told(site, rows), apartness(rows[0]))), rows[0]["rank"], "name"), *lift_cells(rows[0])]
        for rows in accidents[:_MOST_SIGNS]
    ]
    return table_of(("Line", *LIFT_HEADS), drawn, len(accidents) - len(drawn), "log_signs")


def _told(site: Site, signs: Sequence[Row]) -> list[str]:
    """The first of some lines, and the others when asked for."""
    first, *others = [_line(site.templates[row["template"]]) for row in signs]
    more = [f"and {amount(len(others) - _MOST_ALIKE)} more"] if len(others) > _MOST_ALIKE else []
    listing = "".join(f"<li>{other}</li>" for other in (*others[:_MOST_ALIKE], *more))
    return [first, folded(f"{plural(len(others), 'line')} as surely", f"<ul>{listing}</ul>") if others else ""]


def _line(row: Row) -> str:
    """A line, how loud it was, who said it, and where it was seen."""
    beside = [
        ", ".join(map(str, listed(row["roles"]))),
        f"{plural(amount(row['runs']), 'run')} of {plural(amount(len(listed(row['tests']))), 'test')}",
        kafka_of(*listed(row["kafka"])),
        _between(row),
    ]
    return _words(row) + below(*beside)


def _words(row: Row) -> str:
    """What the line says: its beginning, and the whole of it when asked for."""
    levels = " ".join(chip(level, str(level).lower()) for level in listed(row["levels"]))
    said = str(row["representative"])
    beginning = cut(said)
    whole = folded("all of it", f"<pre>{text(said)}</pre>") if beginning != said else ""
    return f"{levels} <code>{text(beginning)}</code>{whole}"


def _between(row: Row) -> str:
    first, last = day(row["first_at"]), day(row["last_at"])
    return first if first == last else f"{first} to {last}"


def _every(templates: Sequence[Row]) -> str:
    heads = ("Line", "Logged by", "Lines", "Runs", "Tests", "Kafka", "First seen", "Last seen", "Example")
    drawn = [
        [
            Cell(_words(row), row["representative"], "name"),
            Cell(text(", ".join(map(str, listed(row["roles"]))))),
            number_cell(row["lines"]),
            number_cell(row["runs"]),
            number_cell(len(listed(row["tests"]))),
            Cell(text(", ".join(map(str, listed(row["kafka"]))))),
            Cell(day(row["first_at"]), row["first_at"], "word"),
            Cell(day(row["last_at"]), row["last_at"], "word"),
            Cell(_example(row)),
        ]
        for row in templates[:MOST_ROWS]
    ]
    return table_of(heads, drawn, len(templates) - len(drawn), "log_templates", most_first="Runs")


def _example(row: Row) -> str:
    """The run whose line is shown, by its timeline, and where in its logs that stands."""
    timeline = row["example_timeline"]
    place = below(f"{row['example_node']}, line {row['example_line']}")
    return (link(timeline, "timeline") if timeline else text(row["example_folder"])) + place
