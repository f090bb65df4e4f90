"""Comparing: what changed between two versions, requirement by requirement, and how sure that is."""

from collections.abc import Callable, Sequence

from pytest_kmigrate.reports.pages.charts import rate
from pytest_kmigrate.reports.pages.drawing import (
    WORDS,
    Cell,
    amount,
    chance,
    chip,
    cut,
    folded,
    mark,
    measure_name,
    measured,
    text,
)
from pytest_kmigrate.reports.site.views import MOST_ROWS, Site, View, below, empty, section, table_of
from pytest_kmigrate.reports.summary.comparison import ALONE, REAL, Comparison, changed
from pytest_kmigrate.reports.summary.rows import Row, worse_since

_LEAD = (
    "Shares are of runs with an answer that violate. q: the share of false alarms if all down to here were called "
    "changes (Fisher's exact test for counts, rank sums for times, corrected for their number). Changes are those of "
    "the tests that both versions ran, each compared with itself, though shares are of all. A first safety violation "
    "is worse without any test, and what is red and only the second one ran is new."
)


def comparing(site: Site) -> View:
    """The comparison that was asked for, or how to ask for one."""
    found = site.summary["comparison"]
    if found is None:
        reported = "Nothing was compared: <code>kmigrate analyze RUNS --out DIR --compare 3.6.0 3.9.1</code> does it."
        return View("compare", "Compare", "What changed between two versions.", empty(reported))
    a, b = found["a"], found["b"]
    lead = f"{amount(found['runs_a'])} runs of {a}, {amount(found['runs_b'])} of {b}."
    content = "".join(
        [
            f'<p class="soft">{_LEAD}</p>',
            section(
                "Requirements", _parted(found["requirements"], lambda rows: _rates(site, rows, found, "requirement"))
            ),
            section("Tests", _parted(found["tests"], lambda rows: _rates(site, rows, found, "test"))),
            section("Durations", _parted(found["durations"], lambda rows: _durations(site, rows, found))),
            section("Failures", _parted(found["clusters"], lambda rows: _clusters(site, rows, found))),
        ]
    )
    return View("compare", found["headline"], lead, content)


def _parted(rows: Sequence[Row], drawn: Callable[[Sequence[Row]], str]) -> str:
    """What changed for all to see; what may be chance, and what only one of them has, folded away; the same counted."""
    if not rows:
        return empty("There is nothing that both versions were asked.")
    real, unsure, alone = changed(rows, *REAL), changed(rows, "UNSURE"), changed(rows, *ALONE)
    same = len(changed(rows, "SAME"))
    reported = drawn(real) if real else empty("No change that is more than chance.")
    reported += folded(f"{amount(len(unsure))} different, but that may be chance", drawn(unsure)) if unsure else ""
    reported += folded(f"{amount(len(alone))} only in one of the two versions", drawn(alone)) if alone else ""
    return reported + (f'<p class="soft small">{amount(same)} the same.</p>' if same else "")


def _change(row: Row, found: Comparison, place: int) -> Cell:
    only = {"ONLY_A": f"only {found['a']}", "ONLY_B": f"only {found['b']}"}
    return Cell(chip(row["change"], only.get(str(row["change"]))), place)


def _rates(site: Site, rows: Sequence[Row], found: Comparison, kind: str) -> str:
    heads = (kind.capitalize(), "Change", f"Worst, {found['a']}", f"Worst, {found['b']}", found["a"], found["b"], "q")
    drawn = [
        [
            Cell(_name(site, row, kind, found["b"]), str(row.get("requirement") or row["test_id"]), "name"),
            _change(row, found, place),
            *[Cell(_worst(row[f"worst_{side}"]), row[f"worst_{side}"]) for side in "ab"],
            *[_rate(row, side) for side in "ab"],
            _q(row),
        ]
        for place, row in enumerate(rows[:MOST_ROWS])
    ]
    return table_of(heads, drawn, len(rows) - len(drawn), "tests" if kind == "test" else "requirements")


def _name(site: Site, row: Row, kind: str, version: str) -> str:
    if kind == "test":
        return site.test(row) + below(*map(worse_since, site.changes_with(row, version)))
    name = site.about("requirement", row["requirement"], f"<code>{text(row['requirement'])}</code>")
    return name + below(site.cluster(row))


def _worst(level: object) -> str:
    return '<span class="soft">no run</span>' if level is None else mark(str(level), WORDS[str(level)])


def _rate(row: Row, side: str) -> Cell:
    counted = f'<br><span class="soft small">{row[f"violating_{side}"]} of {row[f"answers_{side}"]}</span>'
    drawn = rate(row[f"rate_{side}"], row[f"rate_low_{side}"], row[f"rate_high_{side}"], "VIOLATES")
    return Cell(drawn + (counted if row[f"answers_{side}"] else ""), row[f"rate_{side}"], "rate")


def _q(row: Row) -> Cell:
    return Cell(chance(row["q_value"]), row["q_value"], "number")


def _durations(site: Site, rows: Sequence[Row], found: Comparison) -> str:
    heads = ("What", "Change", f"Median {found['a']}", f"Median {found['b']}", "Ratio", "q")
    drawn = [
        [
            Cell(
                f"<b>{text(row['name'])}</b>{below(measure_name(row['measure']), site.cluster(row))}",
                row["name"],
                "name",
            ),
            _change(row, found, place),
            *[Cell(_median(row, side), row[f"median_{side}"], "number") for side in "ab"],
            Cell("" if row["ratio"] is None else f"{row['ratio']:.2f}x", row["ratio"], "number"),
            _q(row),
        ]
        for place, row in enumerate(rows[:MOST_ROWS])
    ]
    return table_of(heads, drawn, len(rows) - len(drawn), "trends")


def _median(row: Row, side: str) -> str:
    median, low, high = (measured(row["measure"], row[f"{name}_{side}"]) for name in ("median", "low", "high"))
    interval = f"{low} to {high}" if low else "too few runs for an interval"
    return f'<span>{median}<br><span class="soft small">{interval}</span></span>'


def _clusters(site: Site, rows: Sequence[Row], found: Comparison) -> str:
    heads = ("Failure", "Change", f"Runs of {found['a']}", f"Runs of {found['b']}", "q")
    drawn = [
        [
            Cell(
                site.about("cluster", row["cluster"], text(cut(row["representative"]))), row["representative"], "name"
            ),
            _change(row, found, place),
            *[
                Cell(
                    f'{row[f"runs_{side}"]} <span class="soft small">of {row[f"of_{side}"]}</span>',
                    row[f"runs_{side}"],
                    "number",
                )
                for side in "ab"
            ],
            _q(row),
        ]
        for place, row in enumerate(rows[:MOST_ROWS])
    ]
    return table_of(heads, drawn, len(rows) - len(drawn), "failure_clusters")
