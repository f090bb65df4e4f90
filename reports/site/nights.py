"""Infra nights and what was set aside: runs that say something about our machines, or nothing at all."""

from pytest_kmigrate.reports.pages.charts import rate
from pytest_kmigrate.reports.pages.drawing import Cell, amount, chance, text
from pytest_kmigrate.reports.site.views import MOST_ROWS, Site, View, empty, fine, number_cell, table_of
from pytest_kmigrate.reports.summary.estimates import interval
from pytest_kmigrate.reports.summary.rows import count, day, number, plural, went_wrong

_LEAD = (
    "Far more runs than usual ended without an answer, or violated in most tests for this one night only. Such runs "
    "are not held against any test, unless they broke SAFETY."
)


def nights(site: Site) -> View:
    """Nights on which so much went wrong everywhere that the machines are to blame."""
    rows = site.summary["infra_nights"]
    counted = ("Without an answer", "Violating", "Runs", "Tests touched")
    heads = ("Night", "Went wrong, 95 % interval", "Usually", *counted, "p")
    drawn = []
    for row in rows[:MOST_ROWS]:
        bad, judged = count(row["wrong_runs"]), count(row["judged_runs"])
        low, high = interval(bad, judged)
        share = bad / judged if judged else None
        reported = f'<br><span class="soft small">{text(went_wrong(row))}</span>'
        level = "VIOLATES" if row["wrong"] == "violating" else "INCONCLUSIVE"
        drawn.append(
            [
                Cell(f"<b>{day(row['night'])}</b>", day(row["night"]), "name"),
                Cell(rate(share, low, high, level) + reported, share, "rate"),
                Cell(f"{number(row['usual_rate']) or 0:.1%}", row["usual_rate"], "number"),
                *[number_cell(row[name]) for name in ("inconclusive", "violating", "runs", "tests_touched")],
                Cell(chance(row["p_value"]), row["p_value"], "number"),
            ]
        )
    reported = (
        "None: on no night did far more runs than usual end without an answer, nor tests violate everywhere at once."
    )
    silent, runs = site.summary["totals"]["outcomes"]["INCONCLUSIVE"], site.summary["totals"]["runs"]
    # Green would contradict a report whose runs gave no answer: what is usual is then not known either.
    none = empty(f"{reported} {plural(silent, 'run')} of {runs} ended without an answer.") if silent else fine(reported)
    content = table_of(heads, drawn, len(rows) - len(drawn), "infra_nights") if rows else none
    return View("nights", "Infra nights", _LEAD, content)


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
    reported = "Nothing: every file was read whole."
    heads = ("Path", "Leaves a verdict open", "Line", "Reason")
    content = table_of(heads, drawn, len(rows) - len(drawn), "set_aside") if rows else fine(reported)
    return View(
        "aside", "Set aside", "What could not be read, or is odd, and why. Everything else was counted.", content
    )
