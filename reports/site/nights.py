"""Infra nights and what was set aside: runs that say something about our machines, or nothing at all."""

from pytest_kmigrate.reports.charts import rate
from pytest_kmigrate.reports.drawing import Cell, amount, chance, text
from pytest_kmigrate.reports.estimates import wilson
from pytest_kmigrate.reports.rows import count, day, number
from pytest_kmigrate.reports.site.views import MOST_ROWS, Site, View, empty, number_cell, table_of


def nights(site: Site) -> View:
    """Nights on which so much was inconclusive that the machines are to blame."""
    rows = site.summary["infra_nights"]
    heads = ("Night", "Without an answer, 95 % interval", "Usually", "Runs", "Tests touched", "p", "What was said")
    drawn = []
    for row in rows[:MOST_ROWS]:
        runs, bad = count(row["runs"]), count(row["inconclusive"])
        low, high = wilson(bad, runs)
        share = bad / runs if runs else None
        drawn.append(
            [
                Cell(f"<b>{day(row['night'])}</b>", day(row["night"]), "name"),
                Cell(rate(share, low, high, "INCONCLUSIVE"), share, "rate"),
                Cell(f"{number(row['usual_rate']) or 0:.1%}", row["usual_rate"], "number"),
                Cell(f'{amount(bad)} <span class="soft small">of {amount(runs)}</span>', bad, "number"),
                number_cell(row["tests_touched"]),
                Cell(chance(row["p_value"]), row["p_value"], "number"),
                Cell(f'<span class="small">{text(row["reason"])}</span>'),
            ]
        )
    told = "None: on no night did more runs end without an answer than usual."
    content = table_of(heads, drawn, len(rows) - len(drawn), "infra_nights") if rows else empty(told)
    lead = "Far more runs without an answer than usual, over many tests: these runs are not held against any test."
    return View("nights", "Infra nights", lead, content)


def aside(site: Site) -> View:
    """What could not be read, and why."""
    rows = site.summary["set_aside"]
    drawn = [
        [
            Cell(f"<code>{text(row['path'])}</code>", row["path"], "name"),
            Cell("yes" if row["is_run"] else "no"),
            Cell(amount(row["line"]), row["line"] or "", "number"),
            Cell(text(row["reason"])),
        ]
        for row in rows[:MOST_ROWS]
    ]
    told = "Nothing: every file was read whole."
    heads = ("Path", "Leaves a verdict open", "Line", "Reason")
    content = table_of(heads, drawn, len(rows) - len(drawn), "set_aside") if rows else empty(told)
    return View(
        "aside", "Set aside", "What could not be read, or is odd, and why. Everything else was counted.", content
    )
