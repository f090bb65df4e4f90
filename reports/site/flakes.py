"""Flakes: what answers now so, now so under equal conditions; how often, since when, and what to do about it."""

from collections.abc import Sequence

from pytest_kmigrate.reports.pages.charts import rate, strip
from pytest_kmigrate.reports.pages.drawing import Cell, amount, ceiling, chance, chip, folded, percent, text
from pytest_kmigrate.reports.site.views import (
    MOST_ROWS,
    Site,
    View,
    condition,
    empty,
    fine,
    number_cell,
    table_of,
)
from pytest_kmigrate.reports.summary.rows import Row, answers, began, by, count, kafka_of, known, number, plural

MOST_TICKS = 60
RATE_HEADS = ("Fails, shrunk, 95 % interval", "Clean runs since, 95 %", "More to claim 1 %")
_UNDER = {"fault": "under", "phase": "in", "role": "on"}
_HEADS = ("Test", "Fault, phase", "Runs, oldest first", "Decision", *RATE_HEADS)
_LEAD = (
    "Most flaky first. The rate is shrunk towards that of similar cells, the more so the fewer its runs. "
    "The dashed line is where the rate changed, as far as that is sure among so many cells; rate and decision are of "
    "the runs since the last change that the cell by itself shows. "
    "Bad nights of the infrastructure are not counted."
)


def flakes(site: Site) -> View:
    """The ranking, and below it what the steady ones prove."""
    rows = site.summary["flakiness"]
    flaky = [row for row in rows if row["standing"] == "FLAKY"]
    content = _ranking(site, flaky) if flaky else _none(rows)
    safety = sum(1 for row in rows if row["standing"] == "SAFETY")
    if safety:
        content += (
            f'<p class="soft">{amount(safety)} with a safety violation left out, however rare: '
            f'see <a href="#overview">what needs a human</a>.</p>'
        )
    conforming = [row for row in rows if row["standing"] == "CONFORMS"]
    content += _repaired(site, [row for row in conforming if count(row["violating"])])
    content += _steady(site, [row for row in conforming if not count(row["violating"])])
    return View("flakes", "Flakes", _LEAD, content)


def rate_cells(row: Row) -> list[Cell]:
    """How often it fails, what its clean runs prove, and how many more a claim would take."""
    bound, more = number(row["bound_after_clean"]), count(row["more_runs_needed"])
    clean = count(row["clean_runs"])
    proves = f'<span class="soft small">so at most {ceiling(bound)}</span>' if clean and bound else ""
    wanted = amount(more) if more else '<span class="soft small">enough</span>'
    shrunk = row["shrunk_rate"]
    return [
        Cell(rate(shrunk, row["shrunk_low"], row["shrunk_high"], "FLAKY"), shrunk, "rate"),
        Cell(f"{amount(clean)} {proves}", clean, "number"),
        Cell(wanted, more, "number"),
    ]


def since(site: Site, change: Row) -> str:
    """When a rate changed, where, from what to what, and how surely."""
    before, after = number(change["rate_before"]) or 0.0, number(change["rate_after"]) or 0.0
    return (
        f"Since run {text(change['since_attempt'])} ({text(began(change))}) "
        f"{percent(after)} of {amount(change['runs_after'])} runs violate, before {percent(before)} of "
        f'{amount(change["runs_before"])} <span class="soft small">{_where(site, change)}by chance: p '
        f"{chance(change['p_value'])}</span>"
    )


def _where(site: Site, change: Row) -> str:
    under = [f"{word} {each}" for name, word in _UNDER.items() for each in known(change[name])]
    reported = known(site.cluster(change), " ".join(under) if known(change["fault"]) else "")
    return text("".join(f"{each}; " for each in reported))


def _none(rows: Sequence[Row]) -> str:
    if not rows:
        return empty("Flakiness was not computed: there was no run with an answer.")
    return fine("None. No test gave both answers under equal conditions.")


def _ranking(site: Site, rows: Sequence[Row]) -> str:
    drawn = [_row(site, row) for row in rows[:MOST_ROWS]]
    return table_of(_HEADS, drawn, len(rows) - len(drawn), "flakiness")


def _row(site: Site, row: Row) -> list[Cell]:
    runs = site.latest_of_cell(row, MOST_TICKS)
    changes = site.changes(row)
    ticks = strip(runs, changes[0]["since_run"] if changes else None)
    flips = "in no known order" if row["flip_rate"] is None else plural(amount(row["flips"]), "flip")
    counted = f"{amount(row['violating'])} of {amount(answers(row))}, {flips}"
    reported = f'<div class="soft small">{_since_when(changes[0]) if changes else counted}</div>'
    return [
        Cell(site.test(row, kafka_of(row["kafka"])), row["test_id"], "name"),
        Cell(condition(row), row["fault"], "fault"),
        Cell(f"<span>{ticks}{reported}</span>", row["newest_at"], "dots"),
        Cell(chip(row["decision"])),
        *rate_cells(row),
    ]


def _since_when(change: Row) -> str:
    before, after = number(change["rate_before"]) or 0.0, number(change["rate_after"]) or 0.0
    until = f"run {text(change['since_attempt'])} ({text(began(change))})"
    return f"{percent(before)} until {until}, then {percent(after)}"


def _repaired(site: Site, rows: Sequence[Row]) -> str:
    """Failed until they were repaired, for good as it seems: no flakes, but nothing yet that one would bet on."""
    reported = f"{amount(len(rows))} that failed and then no more"
    return folded(reported, _ranking(site, rows)) if rows else ""


def _steady(site: Site, rows: Sequence[Row]) -> str:
    """Never failed: which rate the clean runs exclude, the weakest claim first."""
    if not rows:
        return ""
    weakest = sorted(rows, key=lambda row: (count(row["clean_runs"]), *by("test_id", "kafka")(row)))
    claims = ("Clean runs", "Fails at most, at 95 %", "More to claim 1 %")
    heads = ("Test", "Fault, phase", *claims, "Decision", "Infra runs")
    drawn = [
        [
            Cell(site.test(row, kafka_of(row["kafka"])), row["test_id"], "name"),
            Cell(condition(row), row["fault"], "fault"),
            number_cell(row["clean_runs"]),
            Cell(at_most(row), row["bound_after_clean"], "number"),
            number_cell(row["more_runs_needed"]),
            Cell(chip(row["decision"])),
            number_cell(row["infra_runs"]),
        ]
        for row in weakest[:MOST_ROWS]
    ]
    content = table_of(heads, drawn, len(rows) - len(drawn), "flakiness")
    return folded(f"{amount(len(rows))} that never failed, and what that proves", content)


def at_most(row: Row) -> str:
    """The rate that the clean runs leave possible."""
    bound = number(row["bound_after_clean"])
    return "" if bound is None else ceiling(bound)
