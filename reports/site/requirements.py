"""Requirements: a matrix of profiles and versions, and a page about each."""

from collections.abc import Sequence

from pytest_kmigrate.checkers.tally import Word
from pytest_kmigrate.reports.pages.charts import rate, strip
from pytest_kmigrate.reports.pages.drawing import (
    Cell,
    amount,
    breakable,
    chip,
    folded,
    short,
    table,
    text,
)
from pytest_kmigrate.reports.site.flakes import RATE_HEADS, at_most, rate_cells, since
from pytest_kmigrate.reports.site.runs import unconforming_runs
from pytest_kmigrate.reports.site.views import (
    EVERY_RUN,
    MOST_ROWS,
    Site,
    View,
    address,
    below,
    bug_chip,
    cell_key,
    condition,
    empty,
    number_cell,
    rest,
    section,
    table_of,
)
from pytest_kmigrate.reports.summary.rows import (
    Row,
    answers,
    count,
    grouped,
    kafka_of,
    listed,
    plural,
    release,
    silent_beside,
)

_MOST_CELLS = 40
_MOST_TICKS = 40
_MOST_CHECKS = 3
_MOST_CHANGES = 12


def requirements(site: Site) -> View:
    """Every requirement against every profile and version: the worst outcome in each cell."""
    rows = site.summary["requirements"]
    content = _matrix(site, rows) if rows else empty("No run said anything about a requirement.")
    lead = (
        "Each cell shows where the requirement stands on that version, in how many of the runs that could have "
        "violated it and gave an answer, by which known defect or departure, and which checks judged it. The worst "
        "come first."
    )
    return View("requirements", "Requirements", lead, content + _uncovered(site))


def requirement_pages(site: Site) -> list[View]:
    """A page about each requirement that runs spoke about."""
    statistics = grouped(site.summary["requirements"], "requirement")
    cells = grouped(site.summary["cells"], "requirement")
    known = {row["id"]: row for row in site.summary["ledger"]}
    return [
        _page(site, name, statistics[(name,)], cells.get((name,), []), known.get(name)) for name in site.requirements
    ]


def _matrix(site: Site, rows: Sequence[Row]) -> str:
    columns = sorted({(str(row["profile"]), str(row["kafka"])) for row in rows}, key=lambda at: (at[0], release(at[1])))
    profiles = {profile for profile, _ in columns}
    heads = ["Requirement", *(kafka if len(profiles) == 1 else f"{profile} {kafka}" for profile, kafka in columns)]
    known = {row["id"]: row for row in site.summary["ledger"]}
    drawn = []
    for (name,), mine in list(grouped(rows, "requirement").items())[:MOST_ROWS]:
        of = {(row["profile"], row["kafka"]): row for row in mine}
        cells = [_outcome(site, of.get(column)) for column in columns]
        drawn.append([Cell(_name(site, name, known.get(name)), name, "name"), *cells])
    left_out = len({row["requirement"] for row in rows}) - len(drawn)
    return f'<div class="matrix">{table_of(heads, drawn, left_out, "requirements")}</div>'


def _name(site: Site, name: object, known: Row | None) -> str:
    said = f'<br><span class="soft small">{text(known["level"])} · {text(known["statement"])}</span>' if known else ""
    return f"{site.about('requirement', name, f'<code>{text(name)}</code>')}{said}"


def _outcome(site: Site, row: Row | None) -> Cell:
    if row is None:
        return Cell('<span class="soft small">no run</span>', 9)
    word = Word[str(row["word"])]
    runs = f"{amount(row['k'])} of {plural(amount(row['n']), 'run')}" if count(row["k"]) else _runs(row)
    said = f'{chip(word.name, word)} <span class="small">{runs}</span>'
    named = [f"{name} in {runs}" for name, runs in _pairs(row["by"])]
    named += [f"hit by {name} in {runs}" for name, runs in _pairs(row["hit_by"])]
    beside = below(silent_beside(row)) + below(", ".join(named))
    linked = site.about("requirement", row["requirement"], said) + beside + _checks(row)
    return Cell(linked, list(Word).index(word), f"outcome {word.name}")


def _runs(row: Row) -> str:
    return plural(amount(row["n"] or row["runs"]), "run")


def _pairs(value: object) -> list[tuple[object, object]]:
    return [(each[0], each[1]) for each in listed(value) if isinstance(each, list | tuple)]


def _checks(row: Row) -> str:
    """The checks that violated a requirement; of one that holds, those that could have."""
    red = listed(row["violated_by"])
    checks = red or listed(row["judged_by"])
    named = ", ".join(f"<code>{breakable(check)}</code>" for check in checks[:_MOST_CHECKS])
    more = f" and {len(checks) - _MOST_CHECKS} more" if len(checks) > _MOST_CHECKS else ""
    return f'<br><span class="soft small">by {named}{more}</span>' if named else ""


def _uncovered(site: Site) -> str:
    """What no run spoke about: not a failure, but nothing either that one could claim."""
    spoken = {row["requirement"] for row in site.summary["requirements"]}
    rows = [row for row in site.summary["ledger"] if row["id"] not in spoken and not row["covered_by"]]
    if not rows:
        return ""
    drawn = [
        [
            Cell(f"<code>{text(row['id'])}</code>", row["id"], "name"),
            Cell(text(row["profile"])),
            Cell(text(row["level"])),
            Cell(f'<span class="small">{text(row["statement"])}</span>'),
        ]
        for row in rows[:MOST_ROWS]
    ]
    content = table_of(("Requirement", "Profile", "Level", "Statement"), drawn, len(rows) - len(drawn), "requirements")
    unspoken = plural(amount(len(rows)), "other requirement" if spoken else "requirement")
    return folded(f"No run spoke about {unspoken} of these profiles", content)


def _page(site: Site, name: str, statistics: Sequence[Row], cells: Sequence[Row], known: Row | None) -> View:
    lead = f"{known['level']} · {known['area']} · {known['profile']}: {known['statement']}" if known else ""
    share = ("Pass rate, 95 % interval", "Fails at most, at 95 %")
    heads = ("Kafka", "Profile", "Standing", "Runs", *share, "Inconclusive")
    rows = [
        [
            Cell(f"<b>{text(row['kafka'])}</b>", place, "name"),
            Cell(text(row["profile"]), css="word"),
            Cell(chip(row["standing"]) + _checks(row)),
            number_cell(row["runs"]),
            Cell(rate(row["pass_rate"], row["pass_rate_low"], row["pass_rate_high"]), row["pass_rate"], "rate"),
            Cell(at_most(row), row["bound_after_clean"], "number"),
            number_cell(row["inconclusive"]),
        ]
        for place, row in enumerate(sorted(statistics, key=lambda row: release(row["kafka"]), reverse=True))
    ]
    runs = [attempt for cell in cells for attempt in site.attempts_of_cell.get(cell_key(cell), [])]
    by_condition = section("By test and condition", _cells(site, cells), _CELLS_LEAD)
    content = table(heads, rows) + _changes(site, name) + _bugs(site, name) + by_condition
    # Runs of tests that did not ask say nothing by their own outcome, so that "None" would be no answer.
    content += unconforming_runs(runs) if runs else ""
    return View(address("requirement", name), name, lead, content, "requirements")


def _changes(site: Site, name: str) -> str:
    """Since when it is violated more, or less, often; by test, as several tests together have no order of runs."""
    changes = site.changes_of_requirement.get((name,), [])
    if not changes:
        return ""
    reported = [
        f"<li>{site.about('test', each['test_id'], short(each['test_id']))}: {since(site, each)}</li>"
        for each in changes[:_MOST_CHANGES]
    ]
    more = rest(len(changes) - len(reported), len(reported), "requirement_changes")
    return section("Changed", f"<ul>{''.join(reported)}</ul>{more}", "Found by change point, not by threshold.")


_CELLS_LEAD = "Ticks are runs, oldest first: they show a run's whole verdict, of which this requirement is a part."


def _runs_of(site: Site, cell: Row) -> str:
    """Its runs as ticks; counts, where they are runs of any test, whose own verdicts are about something else."""
    if cell["test_id"] != EVERY_RUN:
        return strip(site.latest_of_cell(cell, _MOST_TICKS))
    counted = f"violated in {amount(cell['violating'])} of {plural(amount(answers(cell)), 'run')}"
    return f"<span>{counted}{below(silent_beside(cell))}</span>"


def _bugs(site: Site, name: str) -> str:
    """The known bugs that explain violations of a requirement, also in runs whose test was about something else."""
    reported = [
        f"<li>{bug_chip(bug['bug'])} in {plural(amount(bug['runs']), 'run')} ({text(kafka_of(bug['kafka']))}), "
        f"by {', '.join(f'<code>{breakable(each)}</code>' for each in listed(bug['checks']))}</li>"
        for bug in site.summary["bugs"]
        if name in listed(bug["requirements"])
    ]
    return section("Known Kafka bugs behind it", f"<ul>{''.join(reported)}</ul>") if reported else ""


def _cells(site: Site, cells: Sequence[Row]) -> str:
    heads = ("Test", "Fault, phase", "Standing", "Runs", *RATE_HEADS)
    # The order of the summary is the worst first.
    rows = [
        [
            Cell(site.test(cell, kafka_of(cell["kafka"])), cell["test_id"], "name"),
            Cell(condition(cell), cell["fault"], "fault"),
            Cell(chip(cell["standing"]), place),
            Cell(_runs_of(site, cell), cell["runs"], "dots"),
            *rate_cells(cell),
        ]
        for place, cell in enumerate(cells[:_MOST_CELLS])
    ]
    return table_of(heads, rows, len(cells) - len(rows), "cells") if rows else empty("No cell was counted.")
